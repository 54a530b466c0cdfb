"""Which kind of certain proof a question has, or a sentence for those that have none."""

from __future__ import annotations

from typing import Literal

from tpc_core.errors import UnsupportedRequest
from tpc_core.transforms import CoordinateNoise, Transform, parts_of

Kind = Literal["cells", "ball", "parts"]


def kind_of(transform: Transform, task: str) -> Kind:
    """cells: few parameters; ball: every coordinate moves on its own; parts: cells, point by point."""
    moves_coordinates = any(isinstance(part, CoordinateNoise) for part in parts_of(transform))
    if not moves_coordinates:
        return "parts" if task == "segmentation" else "cells"
    if task == "segmentation":
        raise UnsupportedRequest(
            f"nothing certain is known of parts under {transform.name}; ask for a smoothed certificate"
        )
    if transform != CoordinateNoise("linf"):
        raise UnsupportedRequest(
            f"nothing certain is known of {transform.name}, which moves every coordinate on its own; "
            "ask for linf, or a smoothed certificate"
        )
    return "ball"
