"""Lesson 1: a classifier breaks under a twist. Find the attack by hand."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_line import trail_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose_object, drag, epoch_of, switch
from app.pages.lessons.formula import Symbol, colour, degrees, word
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import ATTACK_OBJECT, ATTACK_REVEAL, ATTACK_TWIST, number

TITLE = "A classifier breaks under a twist"
KEPT = 400
"""How many tried angles a visitor's trail holds."""


def show() -> None:
    """Twist on the left, the object and the trail of tries on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "A twist turns each slice of the object in proportion to its height. "
            "Drag θ until the classifier is wrong: that is an **attack**. How small can you make it?"
        )
        spec = choose_object(ATTACK_OBJECT, live.fragile(live.NOISE_MODEL))
        stamp = drag("lesson1_drag", [ATTACK_TWIST], Posing.all_of(live.TWIST))
        twist = number(ATTACK_TWIST)
        cloud, truth = live.cloud(spec), str(live.cloud(spec).label).replace("_", " ")
        moved = live.TWIST.apply(cloud.points.double(), live.TWIST.from_edge([twist])).float()
        name = live.class_name(live.NOISE_MODEL, live.answer(live.NOISE_MODEL, moved))
        tried = _remember(spec, twist, name)
        found = sorted((angle for angle, what in tried.items() if what != truth), key=abs)
        if name == truth:
            says(f"The classifier says <b>{name}</b>.", right=True)
        else:
            says(f"The classifier says <b>{name}</b>. It is a {truth}.", right=False)
        if reached(2):
            _formula(twist, float(cloud.points[:, 2].max()), name)
        best = f"Your smallest attack: **{found[0]:.0f}°**." if found else "You have found no attack yet."
        st.markdown(f"{best} Angles tried: {len(tried)}.")
        if reached(3):
            question(
                "You tried many angles, and none of them breaks it. Is it robust?",
                [
                    "Yes, if I tried enough angles.",
                    "No, there are angles between those that I tried.",
                    "Yes, if I tried every whole degree.",
                ],
                1,
                _answer(spec, len(tried), truth),
            )
        next_step()
    with right:
        shown = reached(2) and switch(ATTACK_REVEAL)
        posed_object(
            spec,
            live.POINTS,
            live.TWIST,
            [twist],
            key="lesson1_cloud",
            share=0.68 if reached(2) else 0.95,
            stamp=stamp,
            epoch=epoch_of("lesson1_drag"),
        )
        if reached(2):
            known = _known(spec) if shown else None
            figure(
                trail_figure(tried, twist, truth, known, colour("attack", theme()), theme()),
                key="lesson1_trail",
                share=0.24,
                stamp=stamp,
            )


def _formula(twist: float, height: float, name: str) -> None:
    formula(
        [
            r"@turn &= @theta \cdot @z",
            r"h(\varphi(x, @theta)) &= @answer",
        ],
        {
            "theta": Symbol(r"\theta", degrees(twist), "attack"),
            "turn": Symbol(r"\text{turn of the top}", degrees(twist * height), ""),
            "z": Symbol(r"z_{\text{top}}", f"{height:.2f}", ""),
            "answer": Symbol(r"\text{its answer}", word(name), "p"),
        },
    )


def _remember(spec: str, twist: float, name: str) -> dict[float, str]:
    """The angles that this visitor tried on this object, and what the classifier said."""
    trails: dict[str, dict[float, str]] = st.session_state.setdefault("lesson1_trails", {})
    trail = trails.setdefault(spec, {})
    trail[twist] = name
    while len(trail) > KEPT:
        del trail[next(iter(trail))]
    return trail


def _known(spec: str) -> list[tuple[float, str]]:
    line = live.line(live.NOISE_MODEL, spec)
    inside = np.abs(np.degrees(line.places)) <= 180.01
    return [
        (float(place), live.class_name(live.NOISE_MODEL, int(index)))
        for place, index in zip(np.degrees(line.places[inside]), line.answers[inside], strict=True)
    ]


def _answer(spec: str, tries: int, truth: str) -> str:
    line = live.line(live.NOISE_MODEL, spec)
    breaks = np.degrees(line.breaks(live.target(live.NOISE_MODEL, spec)))
    smallest = f"at {breaks[0]:.1f}°" if len(breaks) else "nowhere"
    return (
        f"You looked at {tries} angles, and there are infinitely many between any two of them. "
        f"On a grid of every 1.5°, this classifier first stops saying *{truth}* {smallest}. But a grid proves nothing "
        "about the angles between its points. A proof must hold for **all** angles at once. The next lessons build one."
    )
