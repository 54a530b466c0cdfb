"""The fast path promises the logits of the eager module, for every architecture, size and batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from tpc_core.models import build
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.folded import fast_path

NETWORKS: list[tuple[str, dict[str, Any]]] = [
    *[("pointnet", {"canonical": name}) for name in CANONICAL],
    ("pointnet", {"short": True, "pool_relu": False}),
    ("pointnet-tnets", {}),
    ("pointnet-tnets", {"short": True, "feature_tnet": False, "pool_relu": False}),
    ("pointnet-segmentation", {}),
    ("pointnet-segmentation", {"tnets": True, "wide": 256}),
    ("curvenet", {"compact": True}),
    ("dgcnn", {"neighbours": 6, "wide": 64}),
]


def settled(architecture: str, options: dict[str, Any]) -> nn.Module:
    """A network whose BatchNorms have seen data, so that folding them has something to get wrong."""
    torch.manual_seed(3)
    module = build(architecture, classes=7, **options)
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm1d):
            nn.init.uniform_(layer.weight, -1.5, 1.5)
            nn.init.normal_(layer.bias, std=0.3)
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    with torch.no_grad():
        for _ in range(2):
            module(0.5 * torch.randn(8, 20, 3))
    return module.eval()


@pytest.mark.parametrize(("architecture", "options"), NETWORKS)
def test_same_logits_as_the_eager_module(architecture: str, options: dict[str, Any]) -> None:
    module = settled(architecture, options)
    for clouds, num_points in [(1, 16), (5, 64), (70, 64), (2, 300)]:
        points = 0.4 * torch.randn(clouds, num_points, 3)
        with torch.no_grad():
            expected = module(points)
        logits = fast_path(module)(points)
        size = expected.abs().max().clamp_min(1)
        assert logits.shape == expected.shape
        assert float((logits - expected).abs().max() / size) < 1e-4


@pytest.mark.parametrize(("architecture", "options"), NETWORKS)
def test_a_cloud_gets_one_answer_alone_or_in_a_batch(architecture: str, options: dict[str, Any]) -> None:
    classify = fast_path(settled(architecture, options))
    points = 0.4 * torch.randn(6, 32, 3)
    together = classify(points)
    alone = torch.cat([classify(points[i : i + 1]) for i in range(6)])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


def test_the_paper_s_pointnet_has_its_widths() -> None:
    module = build("pointnet", classes=40)
    widths = [tuple(m.weight.shape) for m in module.modules() if isinstance(m, nn.Linear)]
    assert widths == [(64, 3), (64, 64), (64, 64), (128, 64), (1024, 128), (512, 1024), (256, 512), (40, 256)]


@pytest.mark.parametrize(("architecture", "options"), NETWORKS)
def test_an_answer_is_not_touched_by_the_next_one(architecture: str, options: dict[str, Any]) -> None:
    """The layers write to the same memory in every pass; the logits must not be part of it."""
    classify = fast_path(settled(architecture, options))
    for clouds in (1, 6):
        logits = classify(0.4 * torch.randn(clouds, 32, 3))
        kept = logits.clone()
        classify(0.4 * torch.randn(6, 32, 3))
        assert torch.equal(logits, kept)
