"""Lesson 3: from votes to a confidence bound; coverage by simulation, and why peeking is cheating."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_bounds import experiments_figure, peeking_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, drag, epoch_of, plain
from app.pages.lessons.formula import Symbol, colour
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import (
    LEVEL,
    LOOKS,
    REPEATS,
    SAMPLE,
    TRUTH,
    VOTE_OBJECT,
    VOTE_SIGMA,
    VOTE_TWIST,
    choice,
    number,
    put,
)
from app.words import words
from tpc_core.statistics import lower_bound

_FEW = 32


def show() -> None:
    """The truth and the level on the left; experiments above, peekers below."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson3.intro"))
        if not reached(2):
            _first_step(right)
            next_step()
            return
        one, two = st.columns([1.15, 1])
        with one:
            votes = int(choose(SAMPLE))
        with two:
            alpha = float(choose(LEVEL))
        stamp = drag("lesson3_drag", [TRUTH, LOOKS])
        truth, looks = number(TRUTH), int(number(LOOKS))
        runs = int(number(REPEATS))
        repeated = live.repeated(truth, votes, alpha, runs)
        wrong = int(repeated.wrong.sum())
        more, said = st.columns([1, 2.1], vertical_alignment="center")
        more.button(
            words("lesson3.more"),
            key="lesson3_more",
            on_click=lambda: put(REPEATS, number(REPEATS) + 100),
            width="stretch",
        )
        said.markdown(
            words("lesson3.too_high", wrong=wrong, runs=runs, error=float(repeated.error), alpha=alpha)
        )
        _real_votes(votes, alpha)
        study = live.peeking(truth, votes, looks, alpha)
        if reached(3):
            question(
                0,
                words(
                    "lesson3.why",
                    looks=looks,
                    votes=study.sizes[-1],
                    alpha=alpha,
                    peek=study.error("peek"),
                    staged=study.error("staged"),
                    anytime=study.error("anytime"),
                ),
            )
        next_step()
    with right:
        colours = {role: colour(role, theme()) for role in ("p", "count")}
        figure(
            experiments_figure(repeated, colours, theme()), key="lesson3_experiments", share=0.49, stamp=stamp
        )
        figure(peeking_figure(study, colours, theme()), key="lesson3_peeking", share=0.49, stamp=stamp)


def _first_step(right: DeltaGenerator) -> None:
    """A sample of real votes, on the object of lesson 2 as it was left, and the share that it estimates."""
    spec, twist, sigma = _left_object()
    stamp = drag("lesson3_first", [VOTE_TWIST], Posing.all_of(live.TWIST))
    twist = number(VOTE_TWIST)
    few = live.ballots(live.NOISE_MODEL, spec, twist, sigma, _FEW)
    count = few.count(live.target(live.NOISE_MODEL, spec))
    name = live.class_name(live.NOISE_MODEL, live.target(live.NOISE_MODEL, spec))
    says(
        words("lesson3.says", count=count, few=_FEW, name=name),
        right=2 * count > _FEW,
    )
    with right:
        posed_object(
            spec,
            live.POINTS,
            live.TWIST,
            [twist],
            key="lesson3_cloud",
            share=0.95,
            stamp=stamp,
            epoch=epoch_of("lesson3_first"),
        )


def _left_object() -> tuple[str, float, float]:
    """The object of lesson 2 with its twist and its noise, as the visitor left them."""
    name = choice(VOTE_OBJECT) or live.fragile(live.NOISE_MODEL)[0]
    return f"gallery:{name}", number(VOTE_TWIST), number(VOTE_SIGMA)


def _real_votes(votes: int, alpha: float) -> None:
    """The formula, with the votes of the model of lesson 2 as it was left."""
    spec, twist, sigma = _left_object()
    name = spec.removeprefix("gallery:")
    count = live.ballots(live.NOISE_MODEL, spec, twist, sigma, votes).count(
        live.target(live.NOISE_MODEL, spec)
    )
    bound = lower_bound(count, votes, alpha)
    formula(
        [r"@p &= B^{-1}(@alpha;\; @a,\; @n - @a + 1)"],
        {
            "p": Symbol(r"\underline{p_A}", f"{bound:.3f}", "p"),
            "alpha": Symbol(r"\alpha", f"{alpha:g}", "count"),
            "a": Symbol("n_A", str(count), "p"),
            "n": Symbol("n", str(votes), "count"),
        },
    )
    st.caption(words("lesson3.caption", name=plain(name), twist=twist, sigma=sigma))
