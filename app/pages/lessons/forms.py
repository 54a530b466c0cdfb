"""Lesson 7: bounds instead of votes. A form through one neuron, then through the network, cell by cell."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_forms import margins_figure, neuron_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import FORM_COUNT, FORM_OBJECT, FORM_RADIUS, FORM_TAPER, number
from tpc_core.transforms import Taper

TITLE = "Bounds instead of votes: no probability of error"


def show() -> None:
    """Region and cells on the left; one neuron, and the margin of the whole network, on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(
            "For all tapers of a *cell* together, each number in the network is a **line in θ, plus or minus an "
            "error e**. Each ReLU that bends makes e larger. How many cells M do we need?"
        )
        spec = choose_object(FORM_OBJECT, FORM_OBJECT.options)
        if not reached(2):
            _first_step(spec, right)
            next_step()
            return
        stamp = drag("lesson7_drag", [FORM_RADIUS, FORM_COUNT, FORM_TAPER])
        radius, count = number(FORM_RADIUS), int(number(FORM_COUNT))
        taper = max(-radius, min(radius, number(FORM_TAPER)))
        forms = live.margins(spec, radius, count)
        cell = forms.cell_of(taper)
        neuron = live.neuron(spec, float(forms.edges[cell]), float(forms.edges[cell + 1]))
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
        st.caption(
            f"Above: of the first layer, the neuron that bends most in this cell. {count} cells are "
            f"{count} passes through the network, and no vote."
        )
        if reached(3):
            question(
                "Bounds are never wrong. When do we still need votes?",
                [
                    "For attacks with many parameters, large rotations, or networks that cannot be bounded.",
                    "Never, bounds are always better.",
                    "When the network has no ReLU.",
                ],
                0,
                "**Bounds** are about the plain network, and are never wrong. But the number of cells grows with every "
                "parameter, and if each point moves on its own there are too many. **Votes** are about the smoothed "
                "network, and are wrong with probability α at most. But one probability can certify a ball of any "
                "dimension and large rotations, and every network can vote.",
            )
        next_step()
    with right:
        colours = {role: colour(role, theme()) for role in ("attack", "p")}
        figure(neuron_figure(neuron, taper, colours, theme()), key="lesson7_neuron", share=0.46, stamp=stamp)
        figure(margins_figure(forms, taper, colours, theme()), key="lesson7_margins", share=0.5, stamp=stamp)


def _first_step(spec: str, right: DeltaGenerator) -> None:
    """Only the taper and the object, as the plain network sees it."""
    stamp = drag("lesson7_first", [FORM_TAPER], Posing.all_of(Taper()))
    taper = number(FORM_TAPER)
    cloud = live.cloud(spec)
    moved = Taper().apply(cloud.points.double(), Taper().from_edge([taper])).float()
    name = live.class_name(live.NOISE_MODEL, live.answer(live.NOISE_MODEL, moved))
    truth = live.class_name(live.NOISE_MODEL, live.target(live.NOISE_MODEL, spec))
    says(
        f"The plain network says <b>{name}</b>. Can we know this for all tapers, without votes?",
        right=name == truth,
    )
    with right:
        posed_object(
            spec,
            live.POINTS,
            Taper(),
            [taper],
            key="lesson7_object",
            share=0.95,
            stamp=stamp,
            epoch=epoch_of("lesson7_first"),
        )
