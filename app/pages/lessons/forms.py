"""Lesson 7: bounds instead of votes. A form through one neuron, then through the network, cell by cell."""

from __future__ import annotations

import streamlit as st

from app.components.style import theme
from app.figures.lesson_forms import margins_figure, neuron_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose_object, drag
from app.pages.lessons.formula import Symbol, colour
from app.pages.lessons.frame import figure, formula, question, says
from app.pages.lessons.state import FORM_COUNT, FORM_OBJECT, FORM_RADIUS, FORM_TAPER, number

TITLE = "Bounds instead of votes: no probability of error"


def show() -> None:
    """Region and cells on the left; one neuron, and the margin of the whole network, on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "Over a whole *cell* of tapers, every number in the network is a **line in θ, plus or minus an "
            "error e**. Layers keep lines; each ReLU that bends adds to e. Drag M until all cells are proved."
        )
        spec = choose_object(FORM_OBJECT, FORM_OBJECT.options)
        stamp = drag("lesson7_drag", [FORM_RADIUS, FORM_COUNT, FORM_TAPER])
        radius, count = number(FORM_RADIUS), int(number(FORM_COUNT))
        taper = max(-radius, min(radius, number(FORM_TAPER)))
        forms = live.margins(spec, radius, count)
        cell = forms.cell_of(taper)
        neuron = live.neuron(spec, radius, float(forms.edges[cell]), float(forms.edges[cell + 1]))
        passed = int(forms.proved.sum())
        name = live.class_name(live.NOISE_MODEL, live.target(live.NOISE_MODEL, spec))
        if passed == count:
            says(f"All {count} cells are proved: every |θ| ≤ {radius:g} is a {name}. Certain.", right=True)
        elif float(forms.margins.min()) < 0:
            says(
                f"{passed} of {count} cells are proved. One taper is no {name}: no bound can pass.",
                right=False,
            )
        else:
            says(f"{passed} of {count} cells are proved: the others are too wide.", right=False)
        formula(
            [
                r"|\mathrm{ReLU}(x) - (@s\,x + @m)| &\le @e",
                r"z_A - z_B &\ge @b \quad\text{in this cell}",
            ],
            {
                "s": Symbol(r"\lambda", f"{neuron.slope:.3f}", "count"),
                "m": Symbol(r"\mu", f"{neuron.shift:.3f}", "count"),
                "e": Symbol("e", f"{neuron.error:.4f}", "p"),
                "b": Symbol(r"\underline{m}", f"{forms.bounds[cell]:.2f}", "p"),
            },
        )
        bends = (
            "bends inside this cell" if neuron.kinks else "does not bend in this cell, so its line is exact"
        )
        st.caption(f"This neuron {bends}. {count} cells: {count} passes through the network, and no vote.")
        question(
            "When would you still take votes?",
            "**Bounds** speak of the plain network, and are never wrong. But the cells multiply with every parameter, "
            "and where each point moves on its own there is nothing to split. **Votes** speak of the smoothed "
            "network and may be wrong with probability α. But one probability can certify a ball of any dimension, "
            "and large turns, and any network can vote.",
        )
    with right:
        colours = {role: colour(role, theme()) for role in ("attack", "p")}
        figure(neuron_figure(neuron, taper, colours, theme()), key="lesson7_neuron", share=0.46, stamp=stamp)
        figure(margins_figure(forms, taper, colours, theme()), key="lesson7_margins", share=0.5, stamp=stamp)
