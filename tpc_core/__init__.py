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
    from tpc_core.certificate.replay import replay
    from tpc_core.certificate.verify import Verified, verify
    from tpc_core.certify import Budget, Options, certify, certify_events
    from tpc_core.cloud import Cloud, normalise
    from tpc_core.data import gallery, load_object, load_shape, open_dataset
    from tpc_core.errors import TpcError
    from tpc_core.models import Model, list_models, load_model
    from tpc_core.smoothing import (
        CoordinateSmoothing,
        CylinderSmoothing,
        GroupSmoothing,
        ParameterSmoothing,
        RotationDiffusion,
        Smoothing,
    )
    from tpc_core.transforms import Transform, all_transforms, parse_transform

# PyTorch takes seconds to import, and `tpc --help` needs none of it.
open_door(
    __name__,
    {
        "tpc_core.certificate": ("Certificate",),
        "tpc_core.certificate.replay": ("replay",),
        "tpc_core.certificate.verify": ("Verified", "verify"),
        "tpc_core.certify": ("Budget", "Options", "certify", "certify_events"),
        "tpc_core.cloud": ("Cloud", "normalise"),
        "tpc_core.data": ("gallery", "load_object", "load_shape", "open_dataset"),
        "tpc_core.errors": ("TpcError",),
        "tpc_core.models": ("Model", "list_models", "load_model"),
        "tpc_core.smoothing": (
            "CoordinateSmoothing",
            "CylinderSmoothing",
            "GroupSmoothing",
            "ParameterSmoothing",
            "RotationDiffusion",
            "Smoothing",
        ),
        "tpc_core.transforms": ("Transform", "all_transforms", "parse_transform"),
    },
)

__all__ = [
    "Budget",
    "Certificate",
    "Cloud",
    "CoordinateSmoothing",
    "CylinderSmoothing",
    "GroupSmoothing",
    "Model",
    "Options",
    "ParameterSmoothing",
    "RotationDiffusion",
    "Smoothing",
    "TpcError",
    "Transform",
    "Verified",
    "__version__",
    "all_transforms",
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
]
