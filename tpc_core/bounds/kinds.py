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
            f"there are no exact proofs about parts for {transform.name}; ask for a proof by votes"
        )
    if transform != CoordinateNoise("linf"):
        raise UnsupportedRequest(
            f"there are no exact proofs for {transform.name}, which moves every coordinate on its own; "
            "ask for linf, or a certificate by votes"
        )
    return "ball"
