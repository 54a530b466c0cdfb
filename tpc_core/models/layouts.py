"""The names that public PointNet implementations give to their layers, and how they map onto ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tpc_core.errors import InvalidFile
from tpc_core.models.pointnet import PointNet


@dataclass(frozen=True)
class Layout:
    """One public layout: our layer -> (their linear layer, their BatchNorm), and how the network differs."""

    origin: str
    layers: dict[str, tuple[str, str]]
    output: str
    options: dict[str, Any]
    tnets: dict[str, str]


SEQUENTIAL = Layout(
    origin="3DCertify, and the TPC authors' program",
    layers={
        "points.0": ("mlp1.0", "mlp1.1"),
        "points.1": ("mlp1.3", "mlp1.4"),
        "points.2": ("mlp2.0", "mlp2.1"),
        "points.3": ("mlp2.3", "mlp2.4"),
        "pool": ("mlp2.6", "mlp2.7"),
        "head.hidden.0": ("mlp3.0", "mlp3.1"),
        "head.hidden.1": ("mlp3.3", "mlp3.5"),
    },
    output="mlp3.7",
    options={},
    tnets={},
)
NUMBERED = Layout(
    origin="pointnet.pytorch (fxia22) and Pointnet_Pointnet2_pytorch (yanx27)",
    layers={
        "points.0": ("feat.conv1", "feat.bn1"),
        "points.1": ("feat.conv2", "feat.bn2"),
        "pool": ("feat.conv3", "feat.bn3"),
        "head.hidden.0": ("fc1", "bn1"),
        "head.hidden.1": ("fc2", "bn2"),
    },
    output="fc3",
    options={"short": True, "pool_relu": False},
    tnets={"input_tnet": "feat.stn", "feature_tnet": "feat.fstn"},
)
_TNET_LAYERS = {
    "points.0": ("conv1", "bn1"),
    "points.1": ("conv2", "bn2"),
    "pool": ("conv3", "bn3"),
    "head.hidden.0": ("fc1", "bn4"),
    "head.hidden.1": ("fc2", "bn5"),
}
LAYOUTS = (SEQUENTIAL, NUMBERED)


def to_pointnet(tensors: dict[str, Tensor], classes: int, source: str) -> tuple[PointNet, dict[str, Any]]:
    """A PointNet with someone else's weights, and its options; InvalidFile if no layout fits."""
    for layout in LAYOUTS:
        if all(f"{theirs}.weight" in tensors for pair in layout.layers.values() for theirs in pair):
            break
    else:
        known = "; ".join(layout.origin for layout in LAYOUTS)
        raise InvalidFile(f"{source} is in none of the known PointNet layouts ({known})")
    present = {ours: f"{theirs}.conv1.weight" in tensors for ours, theirs in layout.tnets.items()}
    options = dict(layout.options)
    if any(present.values()):
        options |= {"tnets": present["input_tnet"], "feature_tnet": present["feature_tnet"]}
    module = PointNet(classes, **options)
    state = dict(module.state_dict())
    try:
        for ours, pair in layout.layers.items():
            state |= _normed(ours, *pair, tensors)
        state |= _plain("head.output", layout.output, tensors)
        for ours, theirs in layout.tnets.items():
            if present[ours]:
                state |= _tnet(ours, theirs, tensors)
        module.load_state_dict(state)
    except KeyError as error:
        raise InvalidFile(f"{source} looks like {layout.origin}, but {error.args[0]} is missing") from error
    except RuntimeError as error:
        raise InvalidFile(
            f"the weights in {source} do not fit: {str(error).splitlines()[-1].strip()}"
        ) from error
    return module.eval(), options


def _tnet(ours: str, theirs: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    state: dict[str, Tensor] = {}
    for layer, (linear, norm) in _TNET_LAYERS.items():
        state |= _normed(f"{ours}.{layer}", f"{theirs}.{linear}", f"{theirs}.{norm}", tensors)
    return state | _plain(f"{ours}.head.output", f"{theirs}.fc3", tensors)


def _normed(ours: str, linear: str, norm: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """A linear layer with BatchNorm; their bias moves into the running mean, which is subtracted anyway."""
    mean = tensors[f"{norm}.running_mean"]
    bias = tensors.get(f"{linear}.bias", torch.zeros_like(mean))
    return {
        f"{ours}.linear.weight": _matrix(tensors[f"{linear}.weight"]),
        f"{ours}.norm.weight": tensors[f"{norm}.weight"],
        f"{ours}.norm.bias": tensors[f"{norm}.bias"],
        f"{ours}.norm.running_mean": mean - bias,
        f"{ours}.norm.running_var": tensors[f"{norm}.running_var"],
    }


def _plain(ours: str, theirs: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{ours}.weight": _matrix(tensors[f"{theirs}.weight"]), f"{ours}.bias": tensors[f"{theirs}.bias"]}


def _matrix(weight: Tensor) -> Tensor:
    """Conv1d stores (C, K, 1) and some Conv2d variants (C, K, 1, 1); a linear layer stores (C, K)."""
    return weight.flatten(1)
