"""Certified robustness of 3D point-cloud models by transformation-specific smoothing.

>>> from tpc_core import certify, load_model, load_object
>>> certificate = certify(load_model("pointnet64-noise"), load_object("gallery:chair-1"), "z-taper", 0.2)
>>> certificate.sentence
'Every z-taper within 0.2 keeps the class chair, with 99.9 % confidence.'
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

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

_HOMES = {
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
}
"""Where each public name lives. It is fetched when first asked for: torch takes seconds, and --help needs none."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


class _Package(ModuleType):
    """This package, whose public names are what the table says, whatever was imported before.

    After every import of a subpackage Python binds it here, and `tpc_core.certify` would become a module.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

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
