"""Base classifiers: PointNets and other point networks, their checkpoints, and the fast path through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.models.architectures import ARCHITECTURES, build
    from tpc_core.models.brought import add_model, bring, models_folder, remove_model
    from tpc_core.models.card import Measurement, ModelCard
    from tpc_core.models.choose import fitting_models, model_for
    from tpc_core.models.critical import critical_counts
    from tpc_core.models.precision import FULL_PRECISION, parse_variant
    from tpc_core.models.store import Model, list_models, load_by_digest, load_card, load_model

# To list the checkpoints takes none of the torch modules.
open_door(
    __name__,
    {
        "tpc_core.models.critical": ("critical_counts",),
        "tpc_core.models.precision": ("FULL_PRECISION", "parse_variant"),
        "tpc_core.models.choose": ("fitting_models", "model_for"),
        "tpc_core.models.architectures": ("ARCHITECTURES", "build"),
        "tpc_core.models.brought": ("add_model", "bring", "models_folder", "remove_model"),
        "tpc_core.models.card": ("Measurement", "ModelCard"),
        "tpc_core.models.store": ("Model", "list_models", "load_by_digest", "load_card", "load_model"),
    },
)

__all__ = [
    "ARCHITECTURES",
    "FULL_PRECISION",
    "Measurement",
    "Model",
    "ModelCard",
    "add_model",
    "bring",
    "build",
    "critical_counts",
    "fitting_models",
    "list_models",
    "load_by_digest",
    "load_card",
    "load_model",
    "model_for",
    "models_folder",
    "parse_variant",
    "remove_model",
]
