"""The names that public releases give to their layers, and how they map onto our architectures.

PointNet, DGCNN and CurveNet have names of their own here, so tables say which layer is which. PointNet++ and PointMLP
are written with the names of their releases and load as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidFile
from tpc_core.models.architectures import build
from tpc_core.models.brought.tensors import fill


@dataclass(frozen=True)
class Layout:
    """A PointNet's layout: our layer -> (their linear layer, their BatchNorm), and how the network differs."""

    origin: str
    layers: dict[str, tuple[str, str]]
    output: str
    options: dict[str, Any]
    tnets: dict[str, str]


SEQUENTIAL = Layout(
    origin="PointNet (3DCertify, and the TPC authors' program)",
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
    origin="PointNet (fxia22/pointnet.pytorch, yanx27/Pointnet_Pointnet2_pytorch)",
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
DGCNN_LAYERS = {
    **{f"edges.{i}.edge": (f"conv{i + 1}.0", f"conv{i + 1}.1") for i in range(4)},
    "join": ("conv5.0", "conv5.1"),
    "hidden.0": ("linear1", "bn6"),
    "hidden.1": ("linear2", "bn7"),
}
CURVENET_BLOCKS = ("cic11", "cic12", "cic21", "cic22", "cic31", "cic32", "cic41", "cic42")
CURVENET_BLOCK = {
    "narrow": ("conv1.0", "conv1.1"),
    "widen": ("conv2.0", "conv2.1"),
    "shortcut": ("shortcut.0", "shortcut.1"),
    "local.position": ("lpfa.xyz2feature.0", "lpfa.xyz2feature.1"),
    "local.mix": ("lpfa.mlp.0.0", "lpfa.mlp.0.1"),
    "grouping.walk.agent": ("curvegrouping.walk.agent_mlp.0", "curvegrouping.walk.agent_mlp.1"),
    "grouping.walk.momentum": ("curvegrouping.walk.momentum_mlp.0", "curvegrouping.walk.momentum_mlp.1"),
    "aggregation.out": ("curveaggregation.convd.0", "curveaggregation.convd.1"),
}
CURVENET_MATRICES = {
    "grouping.attention": "curvegrouping.att",
    "aggregation.weigh": "curveaggregation.line_conv_att",
    "aggregation.key_inter": "curveaggregation.conva",
    "aggregation.key_intra": "curveaggregation.convb",
    "aggregation.query": "curveaggregation.convc",
    "aggregation.value_inter": "curveaggregation.convn",
    "aggregation.value_intra": "curveaggregation.convl",
}
Tensors = dict[str, Tensor]
TRAINED_ON = 1024
"""Points of a cloud in the releases of DGCNN, PointNet++, PointMLP and CurveNet."""


@dataclass(frozen=True)
class Known:
    """A network of ours that holds somebody's weights."""

    origin: str
    architecture: str
    options: dict[str, Any]
    classes: int
    module: nn.Module
    points: int | None = None
    """The size of cloud that the release was trained on, where all of its files have one."""


def known_network(tensors: Tensors, source: str) -> Known:
    """The network that these names belong to, with these weights; InvalidFile if no layout fits."""
    for origin, recognises, make in RELEASES:
        if recognises(tensors):
            try:
                known = make(tensors, origin, source)
            except KeyError as error:
                raise InvalidFile(f"{source} looks like {origin}, but {error.args[0]} is missing") from error
            except IndexError as error:
                raise InvalidFile(f"{source} looks like {origin}, but a tensor has another shape") from error
            except RuntimeError as error:
                raise InvalidFile(
                    f"the weights in {source} do not fit: {str(error).splitlines()[-1].strip()}"
                ) from error
            known.module.eval()
            return known
    origins = "; ".join(origin for origin, _, _ in RELEASES)
    raise InvalidFile(
        f"{source} is in none of the known layouts ({origins}); give the network as a factory, package.module:make"
    )


def _pointnet(layout: Layout) -> Callable[[Tensors, str, str], Known]:
    def make(tensors: Tensors, origin: str, source: str) -> Known:
        present = {ours: f"{theirs}.conv1.weight" in tensors for ours, theirs in layout.tnets.items()}
        options = dict(layout.options)
        if any(present.values()):
            options |= {"tnets": present["input_tnet"], "feature_tnet": present["feature_tnet"]}
        wide = _rows(tensors, layout.layers["pool"][0])
        if wide != 1024:
            options["wide"] = wide
        classes = _rows(tensors, layout.output)
        module = build("pointnet", classes=classes, **options)
        state = dict(module.state_dict())
        for ours, pair in layout.layers.items():
            state |= _normed(ours, *pair, tensors)
        state |= _plain("head.output", layout.output, tensors)
        for ours, theirs in layout.tnets.items():
            if present[ours]:
                state |= _tnet(ours, theirs, tensors)
        module.load_state_dict(state)
        return Known(origin, "pointnet", options, classes, module)

    return make


def _dgcnn(tensors: Tensors, origin: str, source: str) -> Known:
    wide, classes = _rows(tensors, "conv5.0"), _rows(tensors, "linear3")
    options = {} if wide == 1024 else {"wide": wide}
    module = build("dgcnn", classes=classes, **options)
    state = dict(module.state_dict())
    for ours, pair in DGCNN_LAYERS.items():
        state |= _normed(ours, *pair, tensors)
    module.load_state_dict(state | _plain("output", "linear3", tensors))
    return Known(origin, "dgcnn", options, classes, module, TRAINED_ON)


def _curvenet(tensors: Tensors, origin: str, source: str) -> Known:
    walked = "default" if "cic21.curvegrouping.att.weight" in tensors else "long"
    options = {} if walked == "default" else {"curves": walked}
    classes = _rows(tensors, "conv2")
    module = build("curvenet-release", classes=classes, **options)
    state = _normed("first.position", "lpfa.mlp.0.0", "lpfa.mlp.0.1", tensors)
    for number, theirs in enumerate(CURVENET_BLOCKS):
        for ours, (linear, norm) in CURVENET_BLOCK.items():
            if f"{theirs}.{linear}.weight" in tensors:
                state |= _normed(f"blocks.{number}.{ours}", f"{theirs}.{linear}", f"{theirs}.{norm}", tensors)
        for ours, matrix in CURVENET_MATRICES.items():
            if f"{theirs}.{matrix}.weight" in tensors:
                state[f"blocks.{number}.{ours}.weight"] = _matrix(tensors[f"{theirs}.{matrix}.weight"])
    state |= _normed("last", "conv0.0", "conv0.1", tensors) | _normed("hidden", "conv1", "bn1", tensors)
    counts = {k: v for k, v in module.state_dict().items() if k.endswith("num_batches_tracked")}
    module.load_state_dict(counts | state | _plain("output", "conv2", tensors))
    return Known(origin, "curvenet-release", options, classes, module, TRAINED_ON)


def _pointnet2(tensors: Tensors, origin: str, source: str) -> Known:
    multi = "sa1.conv_blocks.0.0.weight" in tensors
    first = tensors["sa1.conv_blocks.0.0.weight" if multi else "sa1.mlp_convs.0.weight"]
    if first.shape[1] != 3:
        raise InvalidFile(f"{source} wants normals beside the points; clouds here have coordinates only")
    options = {"grouping": "multi" if multi else "single"}
    return _named("pointnet2", options, _rows(tensors, "fc3"), tensors, origin, source)


def _pointmlp(tensors: Tensors, origin: str, source: str) -> Known:
    size = "elite" if _rows(tensors, "embedding.net.0") == 32 else "full"
    return _named("pointmlp", {"size": size}, _rows(tensors, "classifier.8"), tensors, origin, source)


def _named(
    architecture: str, options: dict[str, Any], classes: int, tensors: Tensors, origin: str, source: str
) -> Known:
    """An architecture whose layers have the release's own names."""
    module = build(architecture, classes=classes, **options)
    fill(module, {k: v for k, v in tensors.items() if not k.startswith(("act.", "pooling."))}, source)
    return Known(origin, architecture, options, classes, module, TRAINED_ON)


def _has(*names: str) -> Callable[[Tensors], bool]:
    return lambda tensors: all(f"{name}.weight" in tensors for name in names)


def _pointnet_names(layout: Layout) -> Callable[[Tensors], bool]:
    return _has(*(theirs for pair in layout.layers.values() for theirs in pair))


RELEASES: tuple[tuple[str, Callable[[Tensors], bool], Callable[[Tensors, str, str], Known]], ...] = (
    (SEQUENTIAL.origin, _pointnet_names(SEQUENTIAL), _pointnet(SEQUENTIAL)),
    (NUMBERED.origin, _pointnet_names(NUMBERED), _pointnet(NUMBERED)),
    ("DGCNN (WangYueFt/dgcnn)", _has("conv1.0", "conv4.0", "conv5.0", "linear3"), _dgcnn),
    (
        "PointNet++ (yanx27/Pointnet_Pointnet2_pytorch)",
        lambda tensors: "sa3.mlp_convs.0.weight" in tensors and "fc3.weight" in tensors,
        _pointnet2,
    ),
    (
        "PointMLP (ma-xu/pointMLP-pytorch)",
        lambda tensors: "local_grouper_list.0.affine_alpha" in tensors,
        _pointmlp,
    ),
    (
        "CurveNet (tiangexiang/CurveNet)",
        _has("lpfa.mlp.0.0", "cic11.lpfa.xyz2feature.0", "cic42.conv2.0", "conv2"),
        _curvenet,
    ),
)


def _rows(tensors: Tensors, name: str) -> int:
    return int(tensors[f"{name}.weight"].shape[0])


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
