"""Lesson 2: smoothing as voting. The smoothed classifier is the base classifier's average over random twists."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
import torch

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_draws import draws_figure
from app.figures.lesson_line import voting_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour, degrees
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import VOTE_COUNT, VOTE_OBJECT, VOTE_SIGMA, VOTE_TWIST, number
from app.server import cache
from app.words import class_words, words
from tpc_core.teaching import Ballots

SHOWN = 8
FIRST_VOTES = 64


def show() -> None:
    """Noise and attack on the left, the line of twists with its votes on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    model = live.NOISE_MODEL
    with left:
        st.markdown(words("lesson2.intro"))
        spec = choose_object(VOTE_OBJECT, live.fragile(model))
        votes = int(choose(VOTE_COUNT, "n = {}".format, hidden=True)) if reached(2) else FIRST_VOTES
        fields = [VOTE_TWIST, VOTE_SIGMA] if reached(2) else [VOTE_TWIST]
        stamp = drag("lesson2_drag", fields, Posing.all_of(live.TWIST))
        twist, sigma = number(VOTE_TWIST), number(VOTE_SIGMA)
        wanted = live.target(model, spec)
        truth = live.class_name(model, wanted)
        ballots = live.ballots(model, spec, twist, sigma, votes)
        line = live.line(model, spec)
        won = ballots.count(wanted)
        counts = np.bincount(ballots.answers, minlength=len(cache.model(model).classes))
        winner = int(np.argmax(counts))
        base = line.answer_at(math.radians(twist))
        says(
            words("lesson2.says", base=live.class_name(model, base), smoothed=live.class_name(model, winner)),
            right=winner == wanted,
        )
        if reached(2):
            formula(
                [r"\varepsilon &\sim N(0, @sigma^2)", r"@q &= @a / @n"],
                {
                    "a": Symbol("n_A", str(won), "p"),
                    "n": Symbol("n", str(votes), "count"),
                    "q": Symbol(r"\hat q", f"{won / votes:.3f}", "p"),
                    "sigma": Symbol(r"\sigma", "(" + degrees(sigma) + ")", "sigma"),
                },
                statement=rf"q &= P_\varepsilon[\,h(\varphi(x,\varepsilon))=\text{{{truth}}}\,] \approx @q",
            )
        if reached(3):
            slope = 100 / (sigma * math.sqrt(2 * math.pi))
            question(2, words("lesson2.why", sigma=sigma, slope=slope))
        next_step()
    with right:
        if not reached(2):
            posed_object(
                spec,
                live.POINTS,
                live.TWIST,
                [twist],
                key="lesson2_cloud",
                share=0.7,
                stamp=stamp,
                epoch=epoch_of("lesson2_drag"),
            )
            _strip(spec, twist, ballots, votes, stamp)
            return
        places = np.linspace(-180, 180, 241)
        share = line.share(wanted, math.radians(sigma), np.radians(places))
        right_here = np.array([line.answer_at(p) == wanted for p in np.radians(places)])
        colours = {role: colour(role, theme()) for role in ("attack", "sigma", "p")}
        figure(
            voting_figure(
                places,
                right_here,
                share,
                at=twist,
                sigma=sigma,
                draws=np.degrees(ballots.draws),
                agree=ballots.answers == wanted,
                colours=colours,
                theme=theme(),
            ),
            key="lesson2_line",
            share=0.64,
            stamp=stamp,
        )
        _strip(spec, twist, ballots, votes, stamp)


def _strip(spec: str, twist: float, ballots: Ballots, votes: int, stamp: int) -> None:
    """A few of the objects that were voted on, and the votes."""
    model = live.NOISE_MODEL
    st.caption(words("lesson2.strip", shown=SHOWN, votes=votes))
    figure(
        draws_figure(
            _draws(spec, twist, ballots.draws[:SHOWN]),
            ballots.answers[:SHOWN].tolist(),
            [class_words(name) for name in cache.model(model).classes],
            live.target(model, spec),
            theme(),
        ),
        key="lesson2_strip",
        share=0.26,
        stamp=stamp,
    )


def _draws(spec: str, twist: float, eps: np.ndarray) -> np.ndarray:
    """The clouds that were voted on."""
    z = torch.from_numpy(eps + math.radians(twist))[:, None]
    points = live.cloud(spec).points.double()
    return live.TWIST.apply(points.expand(len(eps), *points.shape), z).float().numpy()
