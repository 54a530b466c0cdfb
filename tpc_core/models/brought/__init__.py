"""Other people's networks: read from whatever file they come in, recognised, and kept as one more model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.models.brought.bring import bring, model_of
    from tpc_core.models.brought.library import add_model, check_name, keep_model, models_folder, remove_model
    from tpc_core.models.brought.measure import with_clean_accuracy
    from tpc_core.models.brought.sources import CODE_FORMATS, format_of

open_door(
    __name__,
    {
        "tpc_core.models.brought.sources": ("CODE_FORMATS", "format_of"),
        "tpc_core.models.brought.measure": ("with_clean_accuracy",),
        "tpc_core.models.brought.bring": ("bring", "model_of"),
        "tpc_core.models.brought.library": (
            "add_model",
            "models_folder",
            "remove_model",
            "check_name",
            "keep_model",
        ),
    },
)

__all__ = [
    "CODE_FORMATS",
    "add_model",
    "bring",
    "check_name",
    "format_of",
    "keep_model",
    "model_of",
    "models_folder",
    "remove_model",
    "with_clean_accuracy",
]
