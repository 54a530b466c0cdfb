"""Base classifiers: PointNets and other point networks, their checkpoints, and the fast path through them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tpc_core.models.card import Measurement, ModelCard
from tpc_core.models.store import Model, list_models, load_card, load_model

if TYPE_CHECKING:
    from tpc_core.models.architectures import ARCHITECTURES, build
    from tpc_core.models.foreign import bring

_NETWORKS = {
    "ARCHITECTURES": "tpc_core.models.architectures",
    "bring": "tpc_core.models.foreign",
    "build": "tpc_core.models.architectures",
}
"""What is made of torch modules is imported when first asked for; to list the checkpoints takes none of it."""


def __getattr__(name: str) -> Any:
    if name not in _NETWORKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NETWORKS[name]), name)


__all__ = [
    "ARCHITECTURES",
    "Measurement",
    "Model",
    "ModelCard",
    "bring",
    "build",
    "list_models",
    "load_card",
    "load_model",
]
