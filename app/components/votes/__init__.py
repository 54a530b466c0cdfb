"""Who voted for what: the two answers in words, and a pair of bars for each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_votes",
    html='<div class="tpc-votes"></div>',
    css=(_HERE / "votes.css").read_text(),
    js=(_HERE / "votes.js").read_text(),
    isolate_styles=False,
)


def votes(tally: dict[str, Any], *, key: str, stamp: int) -> None:
    """Show a tally of `app.figures.votes.tally`; frames bring newer ones under the same key."""
    _mount(key=key, data={"key": key, "part": tally, "stamp": stamp})
