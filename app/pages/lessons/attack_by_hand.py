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
from app.words import words

KEPT = 400
"""How many tried angles a visitor's trail holds."""


def show() -> None:
    """Twist on the left, the object and the trail of tries on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson1.intro"))
        spec = choose_object(ATTACK_OBJECT, live.fragile(live.NOISE_MODEL))
        stamp = drag("lesson1_drag", [ATTACK_TWIST], Posing.all_of(live.TWIST))
        twist = number(ATTACK_TWIST)
        cloud, truth = (
            live.cloud(spec),
            live.class_name(live.NOISE_MODEL, live.target(live.NOISE_MODEL, spec)),
        )
        moved = live.TWIST.apply(cloud.points.double(), live.TWIST.from_edge([twist])).float()
        name = live.class_name(live.NOISE_MODEL, live.answer(live.NOISE_MODEL, moved))
        tried = _remember(spec, twist, name)
        found = sorted((angle for angle, what in tried.items() if what != truth), key=abs)
        if name == truth:
            says(words("lesson1.says_right", name=name), right=True)
        else:
            says(words("lesson1.says_wrong", name=name, truth=truth), right=False)
        if reached(2):
            _formula(twist, float(cloud.points[:, 2].max()), name)
        best = words("lesson1.best", angle=found[0]) if found else words("lesson1.none_yet")
        st.markdown(f"{best} {words('lesson1.tried', count=len(tried))}")
        if reached(3):
            question(1, _answer(spec, len(tried), truth))
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
            "turn": Symbol(word(words("lesson1.turn")), degrees(twist * height), ""),
            "z": Symbol(f"z_{{{word(words('lesson1.top'))}}}", f"{height:.2f}", ""),
            "answer": Symbol(word(words("lesson1.its_answer")), word(name), "p"),
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
    smallest = words("lesson1.at", angle=breaks[0]) if len(breaks) else words("lesson1.nowhere")
    return words("lesson1.why", tries=tries, truth=truth, smallest=smallest)
