"""Base classifiers: PointNets and other point networks, their checkpoints, and the fast path through them."""

from __future__ import annotations

from tpc_core.models.architectures import ARCHITECTURES, build
from tpc_core.models.card import Measurement, ModelCard
from tpc_core.models.foreign import bring
from tpc_core.models.store import Model, list_models, load_by_digest, load_card, load_model

__all__ = [
    "ARCHITECTURES",
    "Measurement",
    "Model",
    "ModelCard",
    "bring",
    "build",
    "list_models",
    "load_by_digest",
    "load_card",
    "load_model",
]
