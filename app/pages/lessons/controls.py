"""The controls of a lesson: sliders that report while they move, in the colours of their symbols, and choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from app.components.sliders import Posing, sliders
from app.components.style import theme
from app.pages.lessons.formula import colour
from app.pages.lessons.state import Choice, Number, choice, number, put
from app.words import class_words, words
from tpc_core.transforms import Parameter


def drag(key: str, fields: Sequence[Number], poses: Posing | None = None) -> int:
    """A panel of sliders; the number of the last movement that was heard, to stamp the figures with.

    `poses` links them to the stage of the lesson, which then follows in the browser.
    """
    stamp = int(st.session_state.get(f"{key}_stamp", 0))
    values = [number(field) for field in fields]
    # The panel is told to follow only where the values were set by something else than its own sliders.
    if st.session_state.get(f"{key}_heard", values) != values:
        st.session_state[f"{key}_epoch"] = epoch_of(key) + 1
    st.session_state[f"{key}_heard"] = values
    _colours(key, fields)
    sliders(
        [_parameter(field) for field in fields],
        values,
        key=key,
        shape=f"{key}|{len(fields)}",
        epoch=epoch_of(key),
        stamp=stamp,
        on_move=lambda: _moved(key, fields),
        poses=poses,
    )
    return stamp


def epoch_of(key: str) -> int:
    """Counts the times that the values of a panel were set by something else than its own sliders."""
    return int(st.session_state.get(f"{key}_epoch", 0))


def _parameter(field: Number) -> Parameter:
    unit = "deg" if field.unit == "deg" else ""
    return Parameter(words(f"label.{field.key}"), unit, field.low, field.high, field.step, field.high)  # type: ignore[arg-type]


def _moved(key: str, fields: Sequence[Number]) -> None:
    report = st.session_state[key].move
    if not report or len(report.get("values", [])) != len(fields):
        return
    st.session_state[f"{key}_stamp"] = int(report.get("stamp", 0))
    for field, value in zip(fields, report["values"], strict=True):
        put(field, value)
    st.session_state[f"{key}_heard"] = [number(field) for field in fields]


def _colours(key: str, fields: Sequence[Number]) -> None:
    """Each slider in the colour that its symbol has in the formula and in the figures."""
    rules = [
        f".st-key-{key} .tpc-row:nth-child({place}) {{ --st-primary-color: {colour(field.role, theme())}; }}"
        f".st-key-{key} .tpc-row:nth-child({place}) > span:first-child "
        f"{{ color: {colour(field.role, theme())}; font-weight: 600; }}"
        for place, field in enumerate(fields, start=1)
        if field.role
    ]
    st.html(f"<style>{''.join(rules)}</style>")


def choose(field: Choice, spoken: Callable[[str], str] = str, *, hidden: bool = False) -> str:
    """One of a few options, side by side."""
    key = f"widget_{field.key}"
    if st.session_state.get(key) != choice(field):
        st.session_state[key] = choice(field)
    st.segmented_control(
        words(f"label.{field.key}"),
        list(field.options),
        format_func=spoken,
        key=key,
        required=True,
        label_visibility="collapsed" if hidden else "visible",
        on_change=lambda: put(field, st.session_state[key]),
    )
    return choice(field)


def choose_object(field: Choice, picks: Sequence[str]) -> str:
    """One of a few gallery objects, by its plain name; its spec. One that a link named is offered, too."""
    key = f"widget_{field.key}"
    chosen = choice(field) or picks[0]
    if st.session_state.get(key) != chosen:
        st.session_state[key] = chosen
    st.pills(
        words(f"label.{field.key}"),
        list(dict.fromkeys([*picks, chosen])),
        format_func=plain,
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: put(field, st.session_state[key]),
    )
    return f"gallery:{choice(field) or picks[0]}"


def switch(field: Choice) -> bool:
    """A field of yes and no."""
    key = f"widget_{field.key}"
    if st.session_state.get(key) != (choice(field) == "yes"):
        st.session_state[key] = choice(field) == "yes"
    st.toggle(
        words(f"label.{field.key}"),
        key=key,
        on_change=lambda: put(field, "yes" if st.session_state[key] else "no"),
    )
    return choice(field) == "yes"


def plain(name: str) -> str:
    """night_stand-1 -> night stand, in the reader's language."""
    return class_words(name.rpartition("-")[0] or name)
