"""Theory: every certificate with its statement, a figure that moves, a sketch of its proof, its code, and the paper."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass

import streamlit as st

from app.components.moving_figure import moving_figure
from app.figures.theorems import theorem_figure
from app.session import links
from tpc_core.shipped import shipped

DOCUMENT = shipped("docs", "theory.md")
_NAME = re.compile(r"`(tpc_core(?:\.\w+)+)`")


@dataclass(frozen=True)
class Section:
    """One certificate: its title, its text, and the full names of the code that implements it."""

    title: str
    text: str
    names: tuple[str, ...]


def sections(document: str) -> tuple[str, list[Section]]:
    """The introduction of the document, and its sections."""
    head, *rest = re.split(r"^## ", document, flags=re.MULTILINE)
    introduction = head.partition("\n")[2].strip()
    found = []
    for piece in rest:
        title, _, text = piece.partition("\n")
        found.append(Section(title.strip(), text.strip(), tuple(dict.fromkeys(_NAME.findall(text)))))
    return introduction, found


def implementation(name: str) -> object:
    """What a full name such as tpc_core.statistics.binomial.lower_bound stands for."""
    module, _, last = name.rpartition(".")
    return inspect.unwrap(getattr(importlib.import_module(module), last))  # a cached function is a function


def page() -> None:
    """A list of statements on the left, the chosen one on the right, with its code."""
    introduction, found = sections(DOCUMENT.read_text(encoding="utf-8"))
    titles = [section.title for section in found]
    linked = [links.choice("statement", "theory_section", titles, titles[0])]
    links.restore(linked)
    left, right = st.columns([2.6, 9.4], gap="large")
    with left:
        st.markdown("## What is proved")
        if st.session_state.get("theory_section") not in titles:
            st.session_state["theory_section"] = titles[0]
        chosen = st.radio("Statement", titles, key="theory_section", label_visibility="collapsed")
        with st.expander("Notation"):
            st.markdown(introduction)
    section = next(section for section in found if section.title == chosen)
    with right:
        figure = theorem_figure(section.title)
        if figure is None:
            st.markdown(f"## {section.title}\n\n{section.text}", width=980)
        else:
            prose, picture = st.columns([5, 4], gap="large")
            prose.markdown(f"## {section.title}\n\n{section.text}")
            with picture:
                st.markdown(f"**{figure.name}**")
                moving_figure(figure, key="theory_figure")
        for name in section.names:
            _source(name)
    links.share(linked)


def _source(name: str) -> None:
    """The code itself, as it runs here."""
    thing = implementation(name)
    assert inspect.isclass(thing) or inspect.isfunction(thing)
    with st.expander(f"`{name}`"):
        st.code(inspect.getsource(thing), language="python", wrap_lines=False)
