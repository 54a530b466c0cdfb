"""A slow twist back and forth that shows when the model's answer changes; it ends for good at the first touch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_demonstration",
    html='<div class="tpc-demonstration"></div>',
    css=(_HERE / "demonstration.css").read_text(),
    js=(_HERE / "demonstration.js").read_text(),
    isolate_styles=False,
)


def demonstration(
    *,
    stage: str,
    transform: str,
    label: str,
    step: float,
    farthest: float,
    truth: str,
    classes: Sequence[str],
    confidences: Sequence[float],
    key: str,
) -> None:
    """Move the stage of this key between 0 and `farthest`, and say what the model answers at each step.

    `classes` and `confidences` are the answers at 0, `step`, 2 `step`, ... The browser moves to these angles only, so
    every answer that it shows was given by the model.
    """
    names = list(dict.fromkeys(classes))
    data = {
        "stage": stage,
        "transform": transform,
        "label": label,
        "step": step,
        "farthest": farthest,
        "truth": truth,
        "names": names,
        "answers": [names.index(name) for name in classes],
        "percent": [round(100 * share) for share in confidences],
    }
    _mount(key=key, data=data)
