"""Lesson 5: taper is not additive, so we need a grid, exact displacements, and cells that cover."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_cells import cell_of, reach_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose, choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import CELL_BOUND, CELL_COUNT, CELL_OBJECT, CELL_RADIUS, CELL_TAPER, number
from app.words import words
from tpc_core.teaching import LessonCell, exact_taper_factor, paper_taper_factor, taper_gap
from tpc_core.transforms import Taper

_SAME = 1e-6


def show() -> None:
    """Region, cells and attack on the left; reach against radius, and the two clouds, on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson5.intro"))
        spec = choose_object(CELL_OBJECT, CELL_OBJECT.options)
        if not reached(2):
            _first_step(spec, right)
            next_step()
            return
        stamp = drag("lesson5_drag", [CELL_RADIUS, CELL_COUNT, CELL_TAPER])
        exact = choose(CELL_BOUND, _bound_words, hidden=True) == "exact"
        radius, count = number(CELL_RADIUS), int(number(CELL_COUNT))
        taper = max(-radius, min(radius, number(CELL_TAPER)))
        cloud = live.cloud(spec)
        cells = live.cells(spec, radius, count, exact)
        factor = exact_taper_factor(cloud) if exact else paper_taper_factor(cloud)
        mine, sigma = cell_of(cells, taper), live.noise_sigma()
        passed = sum(cell.passed for cell in cells)
        if passed == len(cells):
            says(words("lesson5.says_all", count=count, radius=radius), right=True)
        else:
            says(words("lesson5.says_some", passed=passed, count=count), right=False)
        formula(
            [
                rf"@d &= |@theta - @t|\,@s \quad\text{{({words('lesson5.at_most')} }} @D)",
                r"@rho &= @sigma\;\Phi^{-1}(@p)",
            ],
            {
                "d": Symbol("d", f"{factor * abs(taper - mine.centre):.3f}", "attack"),
                "D": Symbol("D", f"{mine.displacement:.3f}", "attack"),
                "theta": Symbol(r"\theta", f"{taper:.2f}", "attack"),
                "t": Symbol(
                    r"\theta_j", f"({mine.centre:.3f})" if mine.centre < 0 else f"{mine.centre:.3f}", "count"
                ),
                "s": Symbol(
                    r"\sqrt{S_2}" if exact else r"\tfrac{\sqrt N}{2}", rf"\times {factor:.3f}", "radius"
                ),
                "rho": Symbol(r"\rho_j", f"{mine.radius:.3f}", "p"),
                "sigma": Symbol(r"\sigma", f"{sigma:g}", "sigma"),
                "p": Symbol(r"\underline{p_A}", f"{mine.p_a:.4f}", "p"),
            },
        )
        st.caption(
            words(
                "lesson5.caption",
                hits=mine.n_a,
                votes=mine.n,
                standing=_standing(mine),
                gap=taper_gap(cloud, taper, taper),
            )
        )
        if reached(3):
            question(1, words("lesson5.why"))
        next_step()
    with right:
        colours = {role: colour(role, theme()) for role in ("attack", "radius", "p")}
        figure(
            reach_figure(cells, factor, taper, colours, theme()), key="lesson5_reach", share=0.47, stamp=stamp
        )
        st.caption(words("lesson5.shown", centre=mine.centre))
        posed_object(
            spec,
            live.POINTS,
            Taper(),
            [taper],
            key="lesson5_cloud",
            share=0.45,
            stamp=stamp,
            beside=[mine.centre],
        )


def _first_step(spec: str, right: DeltaGenerator) -> None:
    """Only the taper and the object."""
    stamp = drag("lesson5_first", [CELL_TAPER], Posing.all_of(Taper()))
    taper = number(CELL_TAPER)
    twice = taper_gap(live.cloud(spec), taper, taper)
    says(words("lesson5.says_twice", taper=taper, gap=twice), right=twice < _SAME)
    with right:
        posed_object(
            spec,
            live.POINTS,
            Taper(),
            [taper],
            key="lesson5_object",
            share=0.95,
            stamp=stamp,
            epoch=epoch_of("lesson5_first"),
        )


def _standing(cell: LessonCell) -> str:
    """Whether the ball of the cell's tested point holds the whole cell."""
    values = {"radius": cell.radius, "displacement": cell.displacement}
    return words("lesson5.holds", **values) if cell.passed else words("lesson5.smaller", **values)


def _bound_words(name: str) -> str:
    return words("lesson5.exact") if name == "exact" else words("lesson5.paper")
