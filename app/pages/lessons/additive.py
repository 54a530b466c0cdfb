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
from app.pages.lessons.formula import Symbol, colour, degrees
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
from tpc_core.smoothing.rules import GaussianShift
from tpc_core.statistics import lower_bound
from tpc_core.teaching import guaranteed_share

TITLE = "Twists add up, so one vote count certifies a radius"
ALPHA = 0.001
_MODELS = {"pointnet64-noise": "usual", "pointnet64-z-twist": "twist-trained"}


def show() -> None:
    """Model, noise and attack on the left; what is guaranteed and why on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "A twist by θ and then by ε is one twist by θ + ε. So an attack only **moves the bell curve** of the "
            "noise. How many votes this can change at most is known."
        )
        spec = choose_object(RADIUS_OBJECT, live.fragile(live.NOISE_MODEL))
        model, votes = choice(RADIUS_MODEL), int(choice(RADIUS_COUNT))
        if reached(2):
            one, two = st.columns([1.05, 1])
            with one:
                model = choose(RADIUS_MODEL, _MODELS.__getitem__, hidden=True)
            with two:
                votes = int(choose(RADIUS_COUNT, "n = {}".format, hidden=True))
        fields = [RADIUS_TWIST, RADIUS_SIGMA] if reached(2) else [RADIUS_TWIST]
        stamp = drag("lesson4_drag", fields, Posing.all_of(live.TWIST))
        twist, sigma = number(RADIUS_TWIST), number(RADIUS_SIGMA)
        p_a, count = _bound(model, spec, sigma, votes)
        radius = _radius(p_a, sigma)
        least = float(guaranteed_share(max(p_a, 1e-12), np.array([twist / sigma]))[0])
        if radius == 0:
            says("p<sub>A</sub> is not above ½: no radius is certified.", right=False)
        elif abs(twist) < radius:
            says(f"Certified: {twist:.0f}° cannot change the class.", right=True)
        else:
            says(f"{twist:.0f}° is larger than the radius: the certificate does not cover it.", right=False)
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
                "least": Symbol(r"\text{least share}", f"{least:.3f}", ""),
            },
        )
        st.caption(
            f"{count} of {votes} votes at θ = 0 give $p_A$ ≥ {p_a:.4f} at 99.9 %. "
            f"θ twice and 2θ once agree to {_gap(spec, twist):.0e}."
        )
        if reached(3):
            question(
                "Does twice the noise σ certify twice the radius?",
                ["Yes, always.", "No, never.", "Only if p_A stays the same."],
                2,
                _answer(model, spec, sigma, votes, radius),
            )
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
        st.caption(
            "The worst possible classifier with this $p_A$ is right only on one side of the dashed line. The attack "
            "moves the bell curve across it."
        )
        figure(
            bells_figure(twist, sigma, max(p_a, 1e-6), colours, theme()),
            key="lesson4_bells",
            share=0.36,
            stamp=stamp,
        )


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
    return (
        f"With σ = {sigma:.0f}° the radius is {radius:.0f}°; with σ = {doubled:.0f}° "
        f"$p_A$ is {p_a:.3f} and the radius {_radius(p_a, doubled):.0f}°. A classifier that was trained with the noise "
        f"keeps $p_A$ high: compare the twist-trained one. And {votes} votes that all agree only show "
        f"$p_A$ ≥ {most:.4f}, a radius of {_radius(most, 1.0):.2f} σ: "
        "more votes buy more radius."
    )
