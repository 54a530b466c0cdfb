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
from app.words import words
from tpc_core.transforms import GeneralRotation

VOTES = 128
SHOWN = 700
ELEVATION = 20.0


def show() -> None:
    """The attack on the left; the object, the ball and the votes on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson6.intro"))
        spec = choose_object(TURN_OBJECT, TURN_OBJECT.options)
        model = choose(TURN_MODEL, _model_words, hidden=True) if reached(2) else choice(TURN_MODEL)
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
        said = (
            words("lesson6.says_right", name=name) if right_class else words("lesson6.says_wrong", name=name)
        )
        says(said, right=right_class)
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
        st.caption(words("lesson6.caption", radius=radius, total=total))
        if reached(3):
            question(1, _answer())
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


def _model_words(name: str) -> str:
    return words("lesson6.trained") if name == TURN_MODEL.options[1] else words("lesson6.usual")


def _axis(azimuth: float) -> tuple[float, float, float]:
    """The axis of the attack, tilted a little out of the plane."""
    unit = GeneralRotation().from_edge([azimuth, ELEVATION, math.degrees(1.0)])
    return float(unit[0]), float(unit[1]), float(unit[2])


def _answer() -> str:
    uniform, euler = live.poles()
    return words("lesson6.why", euler=euler, uniform=uniform)
