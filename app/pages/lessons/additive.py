"""Lesson 4: additive transforms and the certified radius."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
import torch

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_line import bells_figure, guarantee_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour, degrees, word
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import (
    RADIUS_COUNT,
    RADIUS_MODEL,
    RADIUS_OBJECT,
    RADIUS_SIGMA,
    RADIUS_TWIST,
    choice,
    number,
)
from app.words import words
from tpc_core.smoothing import GaussianShift
from tpc_core.statistics import lower_bound
from tpc_core.teaching import guaranteed_share

ALPHA = 0.001


def show() -> None:
    """Model, noise and attack on the left; what is guaranteed and why on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson4.intro"))
        spec = choose_object(RADIUS_OBJECT, live.fragile(live.NOISE_MODEL))
        model, votes = choice(RADIUS_MODEL), int(choice(RADIUS_COUNT))
        if reached(2):
            one, two = st.columns([1.05, 1])
            with one:
                model = choose(RADIUS_MODEL, _model_words, hidden=True)
            with two:
                votes = int(choose(RADIUS_COUNT, "n = {}".format, hidden=True))
        fields = [RADIUS_TWIST, RADIUS_SIGMA] if reached(2) else [RADIUS_TWIST]
        stamp = drag("lesson4_drag", fields, Posing.all_of(live.TWIST))
        twist, sigma = number(RADIUS_TWIST), number(RADIUS_SIGMA)
        p_a, count = _bound(model, spec, sigma, votes)
        radius = _radius(p_a, sigma)
        least = float(guaranteed_share(max(p_a, 1e-12), np.array([twist / sigma]))[0])
        if radius == 0:
            says(words("lesson4.says_none"), right=False)
        elif abs(twist) < radius:
            says(words("lesson4.says_inside", twist=twist), right=True)
        else:
            says(words("lesson4.says_outside", twist=twist), right=False)
        if not reached(2):
            next_step()
            with right:
                posed_object(
                    spec,
                    live.POINTS,
                    live.TWIST,
                    [twist],
                    key="lesson4_cloud",
                    share=0.95,
                    stamp=stamp,
                    epoch=epoch_of("lesson4_drag"),
                )
            return
        formula(
            [
                r"@r &= @sigma\;\Phi^{-1}(@p)",
                r"q(y_A \mid @theta) &\ge \Phi\!\left(\Phi^{-1}(@p) - \tfrac{|@theta|}{@sigma}\right) = @least",
            ],
            {
                "r": Symbol("r", degrees(radius, 1), "radius"),
                "sigma": Symbol(r"\sigma", degrees(sigma), "sigma"),
                "p": Symbol(r"\underline{p_A}", f"{p_a:.4f}", "p"),
                "theta": Symbol(r"\theta", degrees(twist), "attack"),
                "least": Symbol(word(words("lesson4.least")), f"{least:.3f}", ""),
            },
        )
        st.caption(words("lesson4.caption", count=count, votes=votes, bound=p_a, gap=_gap(spec, twist)))
        if reached(3):
            question(2, _answer(model, spec, sigma, votes, radius))
        next_step()
    with right:
        places = np.linspace(-180, 180, 361)
        share = live.line(model, spec).share(
            live.target(model, spec), math.radians(sigma), np.radians(places)
        )
        guaranteed = guaranteed_share(max(p_a, 1e-12), places / sigma)
        colours = {role: colour(role, theme()) for role in ("attack", "sigma", "p", "radius")}
        figure(
            guarantee_figure(
                places, share, guaranteed, at=twist, radius=radius, colours=colours, theme=theme()
            ),
            key="lesson4_line",
            share=0.56,
            stamp=stamp,
        )
        st.caption(words("lesson4.worst"))
        figure(
            bells_figure(twist, sigma, max(p_a, 1e-6), colours, theme()),
            key="lesson4_bells",
            share=0.36,
            stamp=stamp,
        )


def _model_words(name: str) -> str:
    return words("lesson4.trained") if name == RADIUS_MODEL.options[1] else words("lesson4.usual")


def _bound(model: str, spec: str, sigma: float, votes: int) -> tuple[float, int]:
    count = live.ballots(model, spec, 0.0, sigma, votes).count(live.target(model, spec))
    return lower_bound(count, votes, ALPHA), count


def _radius(p_a: float, sigma: float) -> float:
    rule = GaussianShift((math.radians(sigma),))
    return math.degrees(rule.largest(p_a, (math.radians(sigma),))[0])


def _gap(spec: str, twist: float) -> float:
    """How far two twists in a row are from one twist by the sum, in float32."""
    points, z = live.cloud(spec).points, torch.tensor([math.radians(twist)])
    in_a_row = live.TWIST.apply(live.TWIST.apply(points, z), z)
    return max(float((in_a_row - live.TWIST.apply(points, 2 * z)).norm()), 1e-9)


def _answer(model: str, spec: str, sigma: float, votes: int, radius: float) -> str:
    doubled = min(2 * sigma, RADIUS_SIGMA.high)
    p_a, _ = _bound(model, spec, doubled, votes)
    most = lower_bound(votes, votes, ALPHA)
    return words(
        "lesson4.why",
        sigma=sigma,
        radius=radius,
        doubled=doubled,
        bound=p_a,
        other=_radius(p_a, doubled),
        votes=votes,
        most=most,
        part=_radius(most, 1.0),
    )
