"""Lesson 3: from votes to a confidence bound; coverage by simulation, and why peeking is cheating."""

from __future__ import annotations

import streamlit as st

from app.components.style import theme
from app.figures.lesson_bounds import experiments_figure, peeking_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, drag, plain
from app.pages.lessons.formula import Symbol, colour
from app.pages.lessons.frame import figure, formula, question
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
from tpc_core.statistics import lower_bound

TITLE = "From votes to a bound that holds"


def show() -> None:
    """The truth and the level on the left; experiments above, peekers below."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "Votes are a sample, so their share is only near the truth p. A **lower bound** at level α may lie above "
            "the truth in at most a share α of all experiments. Set p, and watch whether it keeps its word."
        )
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
            "100 more",
            key="lesson3_more",
            on_click=lambda: put(REPEATS, number(REPEATS) + 100),
            width="stretch",
        )
        said.markdown(f"Too high in **{wrong} of {runs:,}**: {repeated.error:.1%}, allowed {alpha:.0%}.")
        _real_votes(votes, alpha)
        study = live.peeking(truth, votes, looks, alpha)
        question(
            "You read the bound after every few votes and stop once you like it. What is wrong?",
            f"Each look is another chance to be wrong. Of 1,000 people who look {looks} times at {study.sizes[-1]} "
            f"votes in all, **{study.error('peek'):.1%}** claim too much, not {alpha:.0%}. Two honest ways: fix "
            f"the looks beforehand and split α over them ({study.error('staged'):.1%}), or use a bound that "
            f"holds at all times at once ({study.error('anytime'):.1%}).",
        )
    with right:
        colours = {role: colour(role, theme()) for role in ("p", "count")}
        figure(
            experiments_figure(repeated, colours, theme()), key="lesson3_experiments", share=0.49, stamp=stamp
        )
        figure(peeking_figure(study, colours, theme()), key="lesson3_peeking", share=0.49, stamp=stamp)


def _real_votes(votes: int, alpha: float) -> None:
    """The formula, with the votes of the model of lesson 2 as it was left."""
    name = choice(VOTE_OBJECT) or live.fragile(live.NOISE_MODEL)[0]
    twist, sigma = number(VOTE_TWIST), number(VOTE_SIGMA)
    spec = f"gallery:{name}"
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
    st.caption(
        f"Clopper and Pearson's bound, B⁻¹ a quantile of the beta distribution; the values are real votes on the "
        f"{plain(name)} of lesson 2, twisted by {twist:.0f}°, with σ = {sigma:.0f}°."
    )
