"""Every architecture, by name: what cards and configs call them, and what builds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from tpc_core.errors import InvalidValue, unknown_name
from tpc_core.models.curvenet import CurveNet
from tpc_core.models.curvenet_release import ReleasedCurveNet
from tpc_core.models.dgcnn import DGCNN
from tpc_core.models.pointmlp import PointMLP
from tpc_core.models.pointnet import PointNet
from tpc_core.models.pointnet2 import PointNet2
from tpc_core.models.segmentation import PointNetSegmentation
from tpc_core.models.tasks import Task


def _pointnet_tnets(classes: int, **options: Any) -> nn.Module:
    return PointNet(classes, tnets=True, **options)


def _segmentation(classes: int, **options: Any) -> nn.Module:
    return PointNetSegmentation(classes, **options)


ARCHITECTURES: dict[str, Callable[..., nn.Module]] = {
    "pointnet": PointNet,
    "pointnet-tnets": _pointnet_tnets,
    "pointnet-segmentation": _segmentation,
    "curvenet": CurveNet,
    "curvenet-release": ReleasedCurveNet,
    "dgcnn": DGCNN,
    "pointnet2": PointNet2,
    "pointmlp": PointMLP,
}
"""Each takes the number of classes (or parts) and its own keyword options."""


def task_of(architecture: str) -> Task:
    """Whether an architecture labels clouds or points."""
    return "segmentation" if architecture.endswith("segmentation") else "classification"


def build(architecture: str, *, classes: int, **options: Any) -> nn.Module:
    """A new network with random weights; the options are the architecture's own."""
    if architecture not in ARCHITECTURES:
        raise unknown_name("architecture", architecture, list(ARCHITECTURES))
    try:
        return ARCHITECTURES[architecture](classes, **options)
    except TypeError as error:
        raise InvalidValue(f"{architecture} does not take these options: {error}") from error
