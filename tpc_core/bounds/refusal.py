"""Which networks can be bounded at all, and a sentence for those that cannot yet."""

from __future__ import annotations

from torch import nn

from tpc_core.errors import UnsupportedRequest
from tpc_core.models.pointnet import PointNet
from tpc_core.models.segmentation import PointNetSegmentation
from tpc_core.models.structure import is_as_written

Bounded = PointNet | PointNetSegmentation


def require_bounded(module: nn.Module) -> Bounded:
    """The module, if its answers can be enclosed: a PointNet without T-nets that takes the cloud as given."""
    if not isinstance(module, PointNet | PointNetSegmentation):
        raise UnsupportedRequest(
            f"there are no exact bounds for {type(module).__name__}: its neighbours or curves depend on the input; "
            "use a PointNet, or a certificate by votes"
        )
    if not is_as_written(module):
        raise UnsupportedRequest(
            f"there are no exact bounds for this {type(module).__name__}: it has code, layers or hooks of its own; "
            "use a plain PointNet, or a certificate by votes"
        )
    if module.input_tnet is not None or module.feature_tnet is not None:
        raise UnsupportedRequest(
            "there are no exact bounds for a PointNet with T-nets: its matrices depend on the input; "
            "use one without, or a certificate by votes"
        )
    if module.canonical != "none":
        raise UnsupportedRequest(
            f"there are no exact bounds for a network that brings clouds to the pose {module.canonical!r} first; "
            "use one that takes them as given, or a certificate by votes"
        )
    return module
