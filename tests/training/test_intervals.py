"""Interval training promises bounds that hold, the gradient of what it computes, and plain training at eps 0."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tpc_core.errors import InvalidFile, UnsupportedRequest
from tpc_core.models import build
from tpc_core.training.config import Interval, parse_config
from tpc_core.training.intervals import interval_logits, worst_middle
from tpc_core.training.schedule import box_size


def clouds() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return 0.5 * torch.randn(6, 10, 3, generator=generator), torch.arange(6) % 4


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    module = build("pointnet", classes=4, dropout=0.0)
    for _ in range(3):  # running statistics that are not 0 and 1
        module(torch.randn(8, 10, 3))
    return module


@pytest.mark.parametrize("training", [True, False])
def test_without_a_box_the_leads_are_the_differences_of_the_logits(training: bool) -> None:
    points, targets = clouds()
    module, twin = network().train(training), network().train(training)
    logits, leads = interval_logits(module, points, targets, 0.0)
    torch.testing.assert_close(logits, twin(points), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(leads, logits - logits.gather(1, targets[:, None]), atol=1e-4, rtol=1e-4)
    for mine, theirs in zip(module.buffers(), twin.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_no_cloud_of_the_box_exceeds_the_worst_lead() -> None:
    points, targets = clouds()
    module = network().eval()
    for eps in (0.003, 0.03):
        _, leads = interval_logits(module, points, targets, eps)
        for trial in range(40):
            moved = (
                (2 * torch.rand(points.shape) - 1).sign() if trial % 2 else 2 * torch.rand(points.shape) - 1
            )
            logits = module(points + eps * moved)
            assert bool((logits - logits.gather(1, targets[:, None]) <= leads + 1e-5).all())
    tight, _ = interval_logits(module, points, targets, 0.003)
    assert bool((interval_logits(module, points, targets, 0.0)[1] <= leads + 1e-6).all())
    assert tight.shape == leads.shape


def test_the_gradient_is_that_of_the_bound() -> None:
    points, targets = clouds()
    module = network().double().train()
    points = points.double()
    generator = torch.Generator().manual_seed(1)
    weights = torch.rand(6, 4, generator=generator, dtype=torch.float64)

    def value() -> Tensor:
        logits, leads = interval_logits(module, points, targets, 0.01)
        return (weights * leads).sum() + (weights * logits).square().sum()

    value().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        direction /= direction.norm()
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter += sign * 1e-6 * direction
                ends.append(float(value()))
                parameter -= sign * 1e-6 * direction
        slope = (ends[0] - ends[1]) / 2e-6
        expected = float((parameter.grad * direction).sum())
        assert slope == pytest.approx(expected, rel=2e-3, abs=2e-3), name


def test_a_small_box_lies_within_the_claim_where_the_answer_is_worse() -> None:
    points, targets = clouds()
    module = network().train()
    middle = worst_middle(module, points, targets, 0.05, torch.Generator().manual_seed(0))
    assert module.training
    assert float((middle - points).abs().max()) <= 0.05 + 1e-6
    module.eval()
    loss = torch.nn.functional.cross_entropy
    with torch.no_grad():
        assert float(loss(module(middle), targets)) > float(loss(module(points), targets))
    around = interval_logits(module, points, targets, 0.0, middle)[1]
    there = module(middle)
    torch.testing.assert_close(around, there - there.gather(1, targets[:, None]), atol=1e-4, rtol=1e-4)


def test_the_box_grows_by_equal_factors_over_the_ramp() -> None:
    interval = Interval(eps=0.01, ramp=0.5)
    sizes = [box_size(step, 100, interval) for step in (0, 25, 50, 99)]
    assert sizes == pytest.approx([0.0001, 0.001, 0.01, 0.01])
    assert box_size(0, 100, Interval()) == 0


def test_what_intervals_cannot_follow_is_refused() -> None:
    points, targets = clouds()
    for options in ({"tnets": True}, {"canonical": "whitened"}):
        with pytest.raises(UnsupportedRequest, match="interval training"):
            interval_logits(build("pointnet", classes=4, **options), points, targets, 0.01)
    recipe = {"name": "a", "epochs": 1, "smoothing": {"kind": "coordinate", "sigma": 0.01},
              "interval": {"eps": 0.01}, "consistency": {"noises": 2}}  # fmt: skip
    with pytest.raises(InvalidFile, match="one noise per cloud"):
        parse_config(recipe, "test")
