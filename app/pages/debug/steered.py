"""Widgets that both the visitor and the program move.

A page that is polled hears from the browser what every widget shows. A browser that has not drawn the program's last
move yet would take it back by that. So after each move of the program the widget gets a new key, and what an old one
says is heard by nobody.
"""

from __future__ import annotations

from typing import Any

import streamlit as st


def key_of(name: str) -> str:
    """The key of the widget that shows `st.session_state[name]`, which the program may set at any time."""
    state = st.session_state
    if state.get(f"{name}|shown") != state.get(name):
        state[f"{name}|turn"] = state.get(f"{name}|turn", 0) + 1
        state[f"{name}|shown"] = state.get(name)
    key = f"{name}_{state.get(f'{name}|turn', 0)}"
    state.setdefault(key, state.get(name))
    return key


def moved(name: str, value: Any) -> None:
    """What the widget says now."""
    st.session_state[name] = st.session_state[f"{name}|shown"] = value
