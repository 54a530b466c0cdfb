"""The way from an object to an attack: played on a stage, with the votes at every step beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_walk",
    html='<div class="tpc-walk"></div>',
    css=(_HERE / "walk.css").read_text(),
    js=(_HERE / "walk.js").read_text(),
    isolate_styles=False,
)


def walk(
    *,
    stage: str,
    transform: str,
    z: Sequence[float],
    parts: Sequence[float],
    shares: Sequence[dict[str, float]],
    names: Sequence[str],
    target: str,
    certified: float,
    key: str,
) -> Any:
    """Move the stage of this key from the identity to `z` (internal units).

    `shares` are the votes by class at each of `parts` of the way; the browser says what was voted at the nearest of
    them. `certified` is the part of the way that a certificate covers.
    """
    data = {
        "stage": stage,
        "transform": transform,
        "z": list(z),
        "parts": list(parts),
        "shares": [[step.get(name, 0.0) for name in names] for step in shares],
        "names": [name.replace("_", " ") for name in names],
        "target": target.replace("_", " "),
        "certified": certified,
    }
    return _mount(key=key, data=data)
