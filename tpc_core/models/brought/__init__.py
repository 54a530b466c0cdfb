"""Other people's networks: read from whatever file they come in, recognised, and kept as one more model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.models.brought.bring import bring, model_of
    from tpc_core.models.brought.library import add_model, models_folder, remove_model

open_door(
    __name__,
    {
        "tpc_core.models.brought.bring": ("bring", "model_of"),
        "tpc_core.models.brought.library": ("add_model", "models_folder", "remove_model"),
    },
)

__all__ = ["add_model", "bring", "model_of", "models_folder", "remove_model"]
