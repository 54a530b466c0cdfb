"""A panel of sliders with typed values, one for each parameter of a transform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from tpc_core.transforms import Parameter

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_sliders",
    html='<div class="tpc-sliders"></div>',
    css=(_HERE / "sliders.css").read_text(),
    js=(_HERE / "sliders.js").read_text(),
    isolate_styles=False,
)


def slider_rows(parameters: Sequence[Parameter], values: Sequence[float]) -> list[dict[str, Any]]:
    """What the panel needs to know of each parameter; ranges, units and steps are the transform's own."""
    return [
        {
            "label": parameter.name.rpartition(".")[2],
            "group": parameter.name.rpartition(".")[0],
            "unit": "°" if parameter.unit == "deg" else "",
            "low": parameter.low,
            "high": parameter.high,
            "step": parameter.step,
            "value": value,
        }
        for parameter, value in zip(parameters, values, strict=True)
    ]


def sliders(
    parameters: Sequence[Parameter],
    values: Sequence[float],
    *,
    key: str,
    shape: str,
    epoch: int,
    stamp: int,
    on_move: Callable[[], None],
    parts: Mapping[str, Any] | None = None,
) -> Any:
    """Show the panel; `.move` holds {values, shape, stamp, final} in the rerun that a movement caused.

    `shape` names the set of sliders, `epoch` changes whenever Python sets the values (reset, undo, a preset),
    and `stamp` acknowledges the last movement that was heard, which lets the panel send the next. `parts` is what
    the movement changed, by the key of the component that shows it: it reaches them without a run of the page.
    """
    data: dict[str, Any] = {"parameters": slider_rows(parameters, values)}
    data |= {"shape": shape, "epoch": epoch, "stamp": stamp}
    if parts is not None:
        data["frame"] = {"stamp": stamp, "parts": parts}
    return _mount(key=key, data=data, on_move_change=on_move)
