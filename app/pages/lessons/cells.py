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
from tpc_core.teaching import LessonCell, exact_taper_factor, paper_taper_factor, taper_gap
from tpc_core.transforms import Taper

TITLE = "Taper does not add up, so we cover it with cells"
_SAME = 1e-6
_BOUNDS = {"exact": "exact, for this cloud", "paper": "the paper's √N / 2"}


def show() -> None:
    """Region, cells and attack on the left; reach against radius, and the two clouds, on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "Two tapers in a row are **not** one taper, so lesson 4 does not help. Instead, we divide the tapers "
            "into M **cells** and vote at the middle of each. How many cells do we need?"
        )
        spec = choose_object(CELL_OBJECT, CELL_OBJECT.options)
        if not reached(2):
            _first_step(spec, right)
            next_step()
            return
        stamp = drag("lesson5_drag", [CELL_RADIUS, CELL_COUNT, CELL_TAPER])
        exact = choose(CELL_BOUND, _BOUNDS.__getitem__, hidden=True) == "exact"
        radius, count = number(CELL_RADIUS), int(number(CELL_COUNT))
        taper = max(-radius, min(radius, number(CELL_TAPER)))
        cloud = live.cloud(spec)
        cells = live.cells(spec, radius, count, exact)
        factor = exact_taper_factor(cloud) if exact else paper_taper_factor(cloud)
        mine, sigma = cell_of(cells, taper), live.noise_sigma()
        passed = sum(cell.passed for cell in cells)
        if passed == len(cells):
            says(f"All {count} cells pass: every |θ| ≤ {radius:g} is certified.", right=True)
        else:
            says(f"{passed} of {count} cells pass: too wide to be certified.", right=False)
        formula(
            [
                r"@d &= |@theta - @t|\,@s \quad\text{(at most } @D)",
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
            f"{mine.n_a} of {mine.n} votes. {_standing(mine)} "
            f"θ twice is {taper_gap(cloud, taper, taper):.3f} away from 2θ once."
        )
        if reached(3):
            question(
                "A cell just fails. The ball of its neighbour is large and covers it. May we call it certified?",
                [
                    "Yes, the ball covers it.",
                    "No, each cell must pass by its own votes.",
                    "Yes, if both cells have the same number of votes.",
                ],
                1,
                "Which cell proves what must be fixed **before** the votes. If any ball that happens to be large may "
                "help, the luckiest of many cells decides. In simulations such certificates were false in 20 to 93 % "
                "of the runs, where 5 % were allowed. But α need not be divided among the cells: if the claim is "
                "false, one *particular* cell must pass wrongly, so each is tested at the full α (here 0.1 %).",
            )
        next_step()
    with right:
        colours = {role: colour(role, theme()) for role in ("attack", "radius", "p")}
        figure(
            reach_figure(cells, factor, taper, colours, theme()), key="lesson5_reach", share=0.47, stamp=stamp
        )
        st.caption(
            f"The attacked object. The pale one is the tested taper, θⱼ = {mine.centre:.3f}; the colour shows how far "
            "each point moved from there."
        )
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
    says(f"Taper θ = {taper:.2f} twice is {twice:.3f} away from taper 2θ once.", right=twice < _SAME)
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
    if cell.passed:
        return f"The ball holds the cell: ρ = {cell.radius:.3f} > D = {cell.displacement:.3f}."
    return f"The ball is smaller than the cell: ρ = {cell.radius:.3f} < D = {cell.displacement:.3f}."
