"""Lesson 7: bounds instead of votes. A form through one neuron, then through the network, cell by cell."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.sliders import Posing
from app.components.style import theme
from app.figures.lesson_forms import margins_figure, neuron_figure
from app.pages.lessons import live
from app.pages.lessons.controls import choose_object, drag, epoch_of
from app.pages.lessons.formula import Symbol, colour, word
from app.pages.lessons.frame import figure, formula, next_step, posed_object, question, reached, says
from app.pages.lessons.state import FORM_COUNT, FORM_OBJECT, FORM_RADIUS, FORM_TAPER, number
from app.words import words
from tpc_core.transforms import Taper


def show() -> None:
    """Region and cells on the left; one neuron, and the margin of the whole network, on the right."""
    left, right = st.columns([4.4, 7], gap="medium")
    with left:
        st.markdown(words("lesson7.intro"))
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
            says(words("lesson7.says_all", count=count, radius=radius, name=name), right=True)
        elif float(forms.margins.min()) < 0:
            says(
                words("lesson7.says_wrong", passed=passed, count=count, name=name),
                right=False,
            )
        else:
            says(words("lesson7.says_some", passed=passed, count=count), right=False)
        formula(
            [
                r"|\mathrm{ReLU}(x) - (@s\,x + @m)| &\le @e",
                rf"z_A - z_B &\ge @b \quad{word(words('lesson7.in_cell'))}",
            ],
            {
                "s": Symbol(r"\lambda", f"{neuron.slope:.3f}", "count"),
                "m": Symbol(r"\mu", f"{neuron.shift:.3f}", "count"),
                "e": Symbol("e", f"{neuron.error:.4f}", "p"),
                "b": Symbol(r"\underline{m}", f"{forms.bounds[cell]:.2f}", "p"),
            },
        )
        st.caption(words("lesson7.caption", count=count))
        if reached(3):
            question(0, words("lesson7.why"))
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
        words("lesson7.says_plain", name=name),
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
