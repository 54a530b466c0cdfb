"""A grid of thumbnails to choose an object from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_thumbnails",
    html='<div class="tpc-thumbnails"></div>',
    css=(_HERE / "thumbnails.css").read_text(),
    js=(_HERE / "thumbnails.js").read_text(),
    isolate_styles=False,
)


def thumbnails(items: Sequence[dict[str, str]], *, selected: str | None, key: str) -> str | None:
    """Show pictures, each with `name`, `title` and `picture` (a URL); the name that was clicked, once.

    An item may have a `note` that shows when the pointer rests on it, and a `badge`, a word below the title, in the
    `tone` good, bad, open or plain.
    """
    result: Any = _mount(
        key=key, data={"items": list(items), "selected": selected}, on_pick_change=lambda: None
    )
    return str(result.pick) if result.pick else None
