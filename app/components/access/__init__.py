"""For those who do not see the page: its heading, a voice for new verdicts, formulas that the keyboard can scroll."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_access",
    html='<div class="tpc-unseen" role="status" aria-live="polite" data-tpc-voice></div>',
    css=(_HERE / "access.css").read_text(),
    js=(_HERE / "access.js").read_text(),
    isolate_styles=False,
)


def mount_access(title: str) -> None:
    """Called once at the top of every run; the title is said by screen readers, and not shown."""
    if title:
        st.html(f'<h1 class="tpc-unseen">{title}</h1>')
    _mount(key="access", data={})
