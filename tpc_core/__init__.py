"""Certified robustness of 3D point-cloud models by transformation-specific smoothing.

>>> from tpc_core import certify, load_model, load_object
>>> certificate = certify(load_model("pointnet64-noise"), load_object("gallery:chair-1"), "z-taper", 0.2)
>>> certificate.sentence
'Every z-taper within 0.2 keeps the class chair, with 99.9 % confidence.'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door
from tpc_core.version import VERSION as __version__

if TYPE_CHECKING:
    from tpc_core.certificate import Certificate
    from tpc_core.certify import Focus, certify, certify_events
    from tpc_core.cloud import Cloud, normalise
    from tpc_core.data import gallery, load_object, load_shape, open_dataset
    from tpc_core.errors import TpcError
    from tpc_core.ledger import Ledger
    from tpc_core.models import Model, bring, list_models, load_model
    from tpc_core.question import Budget, Options, Question
    from tpc_core.smoothing import (
        CoordinateSmoothing,
        CylinderSmoothing,
        GroupSmoothing,
        ParameterSmoothing,
        RotationDiffusion,
        Smoothing,
    )
    from tpc_core.transforms import Transform, all_transforms, parse_transform
    from tpc_core.verify import Verified, replay, verify, verify_fresh

# PyTorch takes seconds to import, and `tpc --help` needs none of it.
open_door(
    __name__,
    {
        "tpc_core.certificate": ("Certificate",),
        "tpc_core.certify": ("Focus", "certify", "certify_events"),
        "tpc_core.cloud": ("Cloud", "normalise"),
        "tpc_core.data": ("gallery", "load_object", "load_shape", "open_dataset"),
        "tpc_core.errors": ("TpcError",),
        "tpc_core.ledger": ("Ledger",),
        "tpc_core.models": ("Model", "bring", "list_models", "load_model"),
        "tpc_core.question": ("Budget", "Options", "Question"),
        "tpc_core.smoothing": (
            "CoordinateSmoothing",
            "CylinderSmoothing",
            "GroupSmoothing",
            "ParameterSmoothing",
            "RotationDiffusion",
            "Smoothing",
        ),
        "tpc_core.transforms": ("Transform", "all_transforms", "parse_transform"),
        "tpc_core.verify": ("Verified", "replay", "verify", "verify_fresh"),
    },
)

__all__ = [
    "Budget",
    "Certificate",
    "Cloud",
    "CoordinateSmoothing",
    "CylinderSmoothing",
    "Focus",
    "GroupSmoothing",
    "Ledger",
    "Model",
    "Options",
    "ParameterSmoothing",
    "Question",
    "RotationDiffusion",
    "Smoothing",
    "TpcError",
    "Transform",
    "Verified",
    "__version__",
    "all_transforms",
    "bring",
    "certify",
    "certify_events",
    "gallery",
    "list_models",
    "load_model",
    "load_object",
    "load_shape",
    "normalise",
    "open_dataset",
    "parse_transform",
    "replay",
    "verify",
    "verify_fresh",
]
