"""The address of the screen: kept up to date in the browser's bar, with a button that copies it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_link",
    html='<div class="tpc-link-place"></div>',
    css=(_HERE / "link.css").read_text(),
    js=(_HERE / "link.js").read_text(),
    isolate_styles=False,
)


def link(query: str, *, note: str, key: str) -> None:
    """Put the query into the address bar; the history of the browser is left alone."""
    _mount(key=key, data={"query": query, "note": note})
