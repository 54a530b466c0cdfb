"""A word about models that were not trained under noise, wherever their votes are shown."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.server import cache


def untrained_note(name: str) -> None:
    """Say why the votes of a brought model may be split, and which command helps."""
    checkpoint = name.partition("@")[0]
    card = next((card for card in cache.model_cards() if card.name == checkpoint), None)
    if card is None or card.noise_trained:
        return
    st.caption(
        f"{literal(checkpoint)} was not trained under noise, so its votes may be split and p_A small. "
        f"`tpc train --from {checkpoint}` trains it for that."
    )
