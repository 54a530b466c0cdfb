"""The differentiable intervals hold every answer of the module itself, in train and in eval mode."""

from __future__ import annotations

import copy

import pytest
import torch

from tpc_core.bounds.interval import interval_logits, interval_margins
from tpc_core.errors import UnsupportedRequest
from tpc_core.models.curvenet import CurveNet
from tpc_core.models.dgcnn import DGCNN
from tpc_core.models.pointnet import PointNet
from tpc_core.models.segmentation import PointNetSegmentation


def _module(kind: str) -> torch.nn.Module:
    torch.manual_seed(3)
    net = PointNet(5, dropout=0.0) if kind == "classifier" else PointNetSegmentation(4, wide=64)
    net.train()
    for _ in range(3):
        net(torch.randn(8, 12, 3))
    return net


def _box(clouds: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    middle = 0.5 * torch.randn(clouds, 12, 3)
    half = 0.02 * torch.rand(clouds, 12, 3)
    return middle - half, middle + half


@pytest.mark.parametrize("kind", ["classifier", "segmenter"])
def test_no_cloud_of_the_box_leaves_the_interval(kind: str) -> None:
    net = _module(kind).eval()
    lower, upper = _box()
    bounds = interval_logits(net, lower, upper)
    for _ in range(200):
        corner = torch.where(torch.rand_like(lower) < 0.5, lower, upper)
        mixed = torch.where(
            torch.rand_like(lower) < 0.5, corner, torch.lerp(lower, upper, torch.rand_like(lower))
        )
        logits = net(mixed)
        assert bool((logits >= bounds.lower - 1e-4).all())
        assert bool((logits <= bounds.upper + 1e-4).all())
    assert float((bounds.upper - bounds.lower).detach().min()) > 0


@pytest.mark.parametrize("kind", ["classifier", "segmenter"])
def test_a_box_of_no_width_is_the_plain_pass_also_while_training(kind: str) -> None:
    net = _module(kind)
    other = copy.deepcopy(net)
    points = torch.randn(8, 12, 3)
    bounds = interval_logits(net, points, points)
    plain = other(points)
    for found in (bounds.plain, bounds.lower, bounds.upper):
        assert torch.allclose(found, plain, atol=2e-4)
    for name, value in other.state_dict().items():
        assert torch.allclose(net.state_dict()[name].double(), value.double(), atol=1e-5), name


@pytest.mark.parametrize("kind", ["classifier", "segmenter"])
def test_margins_are_at_least_as_tight_as_differences_of_logits(kind: str) -> None:
    net = _module(kind).eval()
    lower, upper = _box()
    logits = interval_logits(net, lower, upper)
    classes = logits.plain.argmax(dim=-1)
    margins = interval_margins(net, lower, upper, classes)
    own = logits.lower.gather(-1, classes.unsqueeze(-1))
    rivals = torch.ones_like(logits.lower, dtype=torch.bool).scatter_(-1, classes.unsqueeze(-1), False)
    assert bool((margins.lower >= own - logits.upper - 1e-4)[rivals].all())
    assert bool((margins.plain.detach()[~rivals] == 0).all())
    assert bool((margins.lower <= margins.plain + 1e-4).all())


def test_gradients_reach_every_weight() -> None:
    net = _module("classifier")
    lower, upper = _box()
    margins = interval_margins(net, lower, upper, torch.zeros(6, dtype=torch.int64))
    (-margins.lower).logsumexp(dim=1).mean().backward()
    for name, weight in net.named_parameters():
        assert weight.grad is not None, name
        assert bool(torch.isfinite(weight.grad).all()), name
        assert name == "head.output.bias" or float(weight.grad.abs().sum()) > 0, name


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (PointNet(3, tnets=True), "T-nets"),
        (PointNet(3, canonical="principal-yaw"), "principal-yaw"),
        (CurveNet(3), "CurveNet"),
        (DGCNN(3), "DGCNN"),
    ],
)
def test_other_networks_are_refused_by_name(module: torch.nn.Module, words: str) -> None:
    cloud = torch.zeros(1, 8, 3)
    with pytest.raises(UnsupportedRequest, match=words):
        interval_logits(module, cloud, cloud)
