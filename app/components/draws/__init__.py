"""A strip of random draws phi(x, eps), each a little cloud with the class that it votes for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_draws",
    html='<div class="tpc-draws"><canvas></canvas><div class="tpc-draw-names"></div></div>',
    css=(_HERE / "draws.css").read_text(),
    js=(_HERE / "draws.js").read_text(),
    isolate_styles=False,
)


def draws(strip: dict[str, Any], *, key: str, height: int, stamp: int) -> None:
    """Show a strip of `app.figures.votes.strip`; frames bring newer ones under the same key."""
    _mount(key=key, data={"key": key, "part": strip, "height": height, "stamp": stamp})
