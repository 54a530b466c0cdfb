"""Lesson 6: rotations: the ball, the group, and why uniform smoothing is invariant."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_ball import ball_figure, turning_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour, degrees
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import (
    TURN_ANGLE,
    TURN_AZIMUTH,
    TURN_MODEL,
    TURN_OBJECT,
    TURN_RADIUS,
    choice,
    number,
)
from tpc_core.transforms import GeneralRotation

TITLE = "Rotations: the ball, the group, and no radius at all"
VOTES = 128
SHOWN = 700
ELEVATION = 20.0
_MODELS = {"pointnet64-noise": "usual base classifier", "pointnet64-so3-group": "trained for turns"}


def show() -> None:
    """The attack on the left; the object, the ball and the votes on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "A rotation has an axis and an angle. All rotations up to an angle R form a **ball**, and cells can cover "
            "it. But rotations are also a **group**: if we vote over *all* rotations, no cells are needed."
        )
        spec = choose_object(TURN_OBJECT, TURN_OBJECT.options)
        model = choose(TURN_MODEL, _MODELS.__getitem__, hidden=True) if reached(2) else choice(TURN_MODEL)
        whole = Posing(GeneralRotation().name, [1, ELEVATION, 0])
        if reached(2):
            stamp = drag("lesson6_drag", [TURN_ANGLE, TURN_AZIMUTH, TURN_RADIUS], whole)
        else:
            stamp = drag(
                "lesson6_drag", [TURN_ANGLE], Posing(whole.transform, [number(TURN_AZIMUTH), ELEVATION, 0])
            )
        angle, azimuth, radius = number(TURN_ANGLE), number(TURN_AZIMUTH), number(TURN_RADIUS)
        axis = _axis(azimuth)
        top, before, after = live.coupled(model, spec, axis, angle, VOTES)
        name, right_class = live.class_name(model, top), top == live.target(model, spec)
        total, centres = live.ball(spec, radius, SHOWN)
        wrong = "" if right_class else "wrong, but "
        says(f"Vote over all rotations: <b>{name}</b>, {wrong}the same at every angle.", right=right_class)
        if not reached(2):
            next_step()
            with right:
                posed_object(
                    spec,
                    live.POINTS,
                    GeneralRotation(),
                    [azimuth, ELEVATION, angle],
                    key="lesson6_turned",
                    share=0.95,
                    stamp=stamp,
                    epoch=epoch_of("lesson6_drag"),
                )
            return
        formula(
            [r"@R:\quad @after / @n &= @before / @n"],
            {
                "R": Symbol("R", degrees(angle), "attack"),
                "after": Symbol(r"n_A(Rx)", str(after), "p"),
                "before": Symbol(r"n_A(x)", str(before), "p"),
                "n": Symbol("n", str(VOTES), "count"),
            },
            statement=r"q(y\,|\,@R x) = P[\,h(\varepsilon @R x)=y\,] &= P[\,h(\varepsilon' x)=y\,] = q(y\,|\,x)",
        )
        st.caption(
            "If ε is uniform, ε′ = εR is uniform, too. So the turned object gets the same votes. "
            f"With cells instead, the ball of R = {radius:.0f}° needs about {total:,} cells."
        )
        if reached(3):
            question(
                "Why do we not simply draw three uniform Euler angles?",
                [
                    "They cannot give every rotation.",
                    "They give more rotations near the poles, so the draw is not uniform.",
                    "They are slower to compute.",
                ],
                1,
                _answer(),
            )
        next_step()
    with right:
        colours = {role: colour(role, theme()) for role in ("attack", "radius", "p")}
        one, two = st.columns(2, gap="small")
        with one:
            vector = np.array(axis) / np.linalg.norm(axis) * angle
            posed_object(
                spec,
                live.POINTS,
                GeneralRotation(),
                [azimuth, ELEVATION, angle],
                key="lesson6_cloud",
                share=0.5,
                stamp=stamp,
                epoch=epoch_of("lesson6_drag"),
            )
        with two:
            figure(
                ball_figure(np.degrees(centres), vector, 1.1 * max(radius, angle), colours, theme()),
                key="lesson6_ball",
                share=0.5,
                stamp=stamp,
                zoom=True,
            )
        figure(
            turning_figure(
                live.turning(live.NOISE_MODEL, spec, axis, uniform=False),
                live.turning(model, spec, axis, uniform=True),
                angle,
                radius,
                colours,
                theme(),
            ),
            key="lesson6_turning",
            share=0.47,
            stamp=stamp,
        )


def _axis(azimuth: float) -> tuple[float, float, float]:
    """The axis of the attack, tilted a little out of the plane."""
    unit = GeneralRotation().from_edge([azimuth, ELEVATION, math.degrees(1.0)])
    return float(unit[0]), float(unit[1]), float(unit[2])


def _answer() -> str:
    uniform, euler = live.poles()
    return (
        f"Three uniform Euler angles take the x axis to within 30° of a pole in {euler:.1%} of the draws; uniform "
        f"rotations do so in {uniform:.1%} (exactly 1 − cos 30°). So a turned object would get other votes, q would "
        "not be the same for all rotations, and the certificate would be false. Four Gaussian numbers, "
        "scaled to length one, are a quaternion whose rotation is uniform."
    )
