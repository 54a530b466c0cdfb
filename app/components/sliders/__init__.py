"""A panel of sliders with typed values, one for each parameter of a transform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from tpc_core import Transform
from tpc_core.transforms import Parameter

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_sliders",
    html='<div class="tpc-sliders"></div>',
    css=(_HERE / "sliders.css").read_text(),
    js=(_HERE / "sliders.js").read_text(),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Band:
    """A stretch of a slider's track, in the slider's unit, and what is known of it; `title` says more on hover."""

    start: float
    end: float
    kind: Literal["certified", "unknown", "attack", "likely", "borderline", "hopeless"]
    title: str = ""

    def drawn(self) -> dict[str, Any]:
        """The stretch as the browser reads it."""
        return {"from": self.start, "to": self.end, "kind": self.kind, "title": self.title}


@dataclass(frozen=True)
class Posing:
    """The pose that a panel sets: for each parameter of the transform the place of its slider, or a fixed value."""

    transform: str
    values: Sequence[int | float] = ()
    """An int is the place of a slider, a float is a value."""
    vectors: Sequence[Sequence[float]] = ()
    """In place of `values`: how z moves, in internal units, with a unit of each slider."""

    def linked(self) -> dict[str, Any]:
        """The link as the browser reads it."""
        links = [{"slider": v} if isinstance(v, int) else {"value": v} for v in self.values]
        vectors = [list(vector) for vector in self.vectors]
        return {"transform": self.transform, "links": links, "vectors": vectors}

    @staticmethod
    def all_of(transform: Transform) -> Posing:
        """The panel has the transform's own sliders, in their order."""
        return Posing(transform.name, list(range(len(transform.parameters))))


def slider_rows(parameters: Sequence[Parameter], values: Sequence[float]) -> list[dict[str, Any]]:
    """What the panel needs to know of each parameter; ranges, units and steps are the transform's own."""
    return [
        {
            "name": parameter.name,
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
    poses: Posing | None = None,
    bands: Mapping[str, Sequence[Band]] | None = None,
    on_history: Callable[[], None] | None = None,
) -> Any:
    """Show the panel; `.move` holds {values, shape, stamp, final} in the rerun that a movement caused.

    `shape` names the set of sliders, `epoch` changes whenever Python sets the values (reset, undo, a preset),
    and `stamp` acknowledges the last movement that was heard, which lets the panel send the next. `parts` is what
    the movement changed, by the key of the component that shows it: it reaches them without a run of the page.
    `poses` says which transform they move: stages that show it follow each movement in the browser.
    `bands` says, by the name of a parameter, what is known along its track. With `on_history`, Ctrl+Z and Ctrl+Y are
    heard on the whole page; `.history` then holds {step: "undo" or "redo"}.
    """
    data: dict[str, Any] = {"parameters": slider_rows(parameters, values)}
    data |= {
        "shape": shape,
        "epoch": epoch,
        "stamp": stamp,
        "poses": None if poses is None else poses.linked(),
        "history": on_history is not None,
    }
    data["bands"] = {name: [band.drawn() for band in known] for name, known in (bands or {}).items()}
    if parts is not None:
        data["frame"] = {"stamp": stamp, "parts": parts}
    return _mount(key=key, data=data, on_move_change=on_move, on_history_change=on_history or (lambda: None))
