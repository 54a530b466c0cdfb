"""The state of a page in its address: a link that is pasted elsewhere restores the screen.

A page lists the pieces of its state once, and calls two functions:

    LINKED = [
        links.choice("colour", "colouring", ["height", "parts"], "height"),
        links.number("size", "point_size", 1.0, 8.0, 2.5),
    ]

    def page():
        links.restore(LINKED)      # before the first widget
        ...
        links.share(LINKED)        # once everything is drawn; inside the fragment where a page is one

`restore` reads the address when a browser opens the page, and never again; values that make no sense are left out,
and a notice says so. `share` writes the address after every run, and shows the button that copies it. Streamlit's
own `st.query_params` is only read here and never written, so a page must not write it either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app.components.escape_markdown import literal
from app.components.link import link
from tpc_core.errors import TpcError

LONGEST = 200
"""Characters of a value that are looked at, and of the reason why it was left out."""
MOST = 64
"""Values that a link can have; no page writes half as many."""
STREAMLITS_OWN = ("embed", "embed_options")
"""Values of an address that Streamlit reads itself."""


@dataclass(frozen=True)
class Piece:
    """One value of the address: how it is written there, and how it is taken from there."""

    name: str
    write: Callable[[], str]
    """The value as text; empty where it is as a newcomer finds it, and the address need not say it."""
    read: Callable[[str], None]
    """Take a value; what makes no sense raises ValueError or TpcError with the reason."""


Words = Mapping[str, Any] | Sequence[str]
"""The words of a choice, each with what the session holds for it; or words that stand for themselves."""


def choice(name: str, key: str, words: Words | Callable[[], Words], default: str) -> Piece:
    """One of a few words, kept in the session under `key`."""

    def known() -> dict[str, Any]:
        now = words() if callable(words) else words
        return dict(now) if isinstance(now, Mapping) else {word: word for word in now}

    def read(text: str) -> None:
        if text not in known():
            raise ValueError(f"it is one of {', '.join(list(known())[:12])}")
        st.session_state[key] = known()[text]

    def write() -> str:
        if key not in st.session_state:
            return ""
        word = next((word for word, value in known().items() if value == st.session_state[key]), default)
        return "" if word == default else word

    return Piece(name, write, read)


def number(
    name: str, key: str, low: float, high: float, default: float | None, *, whole: bool = False
) -> Piece:
    """A number within a range; a default of None stands for no number."""

    def read(text: str) -> None:
        value = as_number(text)
        if not low <= value <= high:
            raise ValueError(f"it lies between {low:g} and {high:g}")
        st.session_state[key] = int(value) if whole else value

    def write() -> str:
        value = st.session_state.get(key, default)
        return "" if value is None or value == default else written(value)

    return Piece(name, write, read)


def switch(name: str, key: str, default: bool) -> Piece:
    """Yes or no."""
    words = {"yes": True, "no": False}

    def read(text: str) -> None:
        if text not in words:
            raise ValueError("it is yes or no")
        st.session_state[key] = words[text]

    def write() -> str:
        value = bool(st.session_state.get(key, default))
        return "" if value == default else "yes" if value else "no"

    return Piece(name, write, read)


def as_number(text: str) -> float:
    """A finite number, or ValueError in words."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("it is not a number") from None
    if not math.isfinite(value):
        raise ValueError("it is not a number")
    return value


def written(value: float) -> str:
    """A number in as few characters as say it all."""
    return f"{float(value):.12g}"


def query_of(pieces: Sequence[Piece]) -> str:
    """The address of the state as it is, without the page."""
    pairs = [(piece.name, piece.write()) for piece in pieces]
    return urlencode([(name, value) for name, value in pairs if value], safe=":,/")


def take(pieces: Sequence[Piece], values: Mapping[str, str]) -> list[str]:
    """Take what the values say, in the order of the pieces; a sentence for each that makes no sense."""
    if len(values) > MOST:
        return [f"The link has {len(values):,} values, which no link of ours has; it was left out."]
    notices = []
    for piece in pieces:
        if piece.name not in values:
            continue
        value = values[piece.name][:LONGEST]
        try:
            piece.read(value)
        except (TpcError, ValueError) as error:
            reason = shorten(str(error).rstrip("."), LONGEST, placeholder=" ...")
            notices.append(f"{piece.name} = {value!r} in the link was left out: {reason}.")
    strange = sorted(set(values) - {piece.name for piece in pieces} - set(STREAMLITS_OWN))
    if strange:
        notices.append(f"Nothing here is called {', '.join(name[:40] for name in strange[:5])}.")
    return notices


def restore(pieces: Sequence[Piece]) -> None:
    """Take the state from the address that the browser came with."""
    if not st.session_state.get("link_read"):
        st.session_state["link_read"] = True
        st.session_state["link_notices"] = take(pieces, dict(st.query_params))
    notices = st.session_state.get("link_notices")
    if notices:
        st.warning("  \n".join(map(literal, notices)), icon=":material/link_off:")


def share(pieces: Sequence[Piece], *, note: str = "") -> None:
    """Write the state into the address, and show the button that copies it; `note` says what a link cannot hold."""
    query = query_of(pieces)
    if st.session_state.get("link_shared", query) != query:
        st.session_state["link_notices"] = []  # the visitor has moved on
    st.session_state["link_shared"] = query
    link(query, note=note, key="link")
