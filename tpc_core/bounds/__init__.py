"""Bounds without probability: what a network can answer while its input varies within known limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.bounds.choose import bounded_model_for, bounded_models

open_door(
    __name__,
    {
        "tpc_core.bounds.choose": ("bounded_model_for", "bounded_models"),
    },
)

__all__ = ["bounded_model_for", "bounded_models"]
