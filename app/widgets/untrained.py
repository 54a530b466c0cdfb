"""A word about models that were not trained under noise, wherever their votes are shown."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.server import cache
from tpc_core.training import advice_for
from tpc_core.transforms import Transform


def untrained_note(name: str, transform: Transform | None) -> None:
    """Say why the votes of a brought model may be split, and which command helps."""
    checkpoint, _, smoothing = name.partition("@")
    card = next((card for card in cache.model_cards() if card.name == checkpoint), None)
    advice = None if card is None else advice_for(card, transform, smoothing)
    if advice is None:
        return
    st.caption(literal(advice.sentence))
    if advice.command is not None:
        st.code(advice.command, language="bash", wrap_lines=True)
