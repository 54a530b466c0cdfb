"""CurveNet's parts: walks go along neighbours, turn back only if they must, and pass gradients."""

from __future__ import annotations

import pytest
import torch

from tpc_core.models import build
from tpc_core.models.curves import CurveGrouping, Walk, forwardness, pick_hard
from tpc_core.models.neighbours import farthest_subset, gather, nearest


def test_every_step_of_a_walk_goes_to_a_neighbour() -> None:
    torch.manual_seed(0)
    features, points = torch.randn(2, 30, 8), torch.randn(2, 30, 3)
    around = nearest(points, 5)[..., 1:]
    with torch.no_grad():
        curves = Walk(8, 6).eval()(features, around, torch.tensor([[0, 7, 9], [3, 4, 5]]))
    assert curves.shape == (2, 3, 6, 8)
    where = torch.cdist(curves.flatten(1, 2), features)
    assert float(where.amin(dim=2).max()) < 1e-3
    path = where.argmin(dim=2).view(2, 3, 6)
    for cloud in range(2):
        for curve in range(3):
            for here, there in zip(path[cloud, curve][:-1], path[cloud, curve][1:], strict=True):
                assert int(there) in around[cloud, int(here)].tolist()


def test_a_step_straight_back_is_suppressed() -> None:
    direction = torch.tensor([[[1.0, 0.0]]])
    steps = torch.tensor([[[[-2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]]])
    torch.testing.assert_close(forwardness(direction, steps), torch.tensor([[[0.0, 1.0, 1.0]]]))


def test_the_hard_choice_passes_the_soft_gradient() -> None:
    scores = torch.tensor([0.1, 2.0, -1.0], requires_grad=True)
    choice = pick_hard(scores)
    assert choice.detach().round().tolist() == [0, 1, 0]
    choice[1].backward()
    assert scores.grad is not None
    assert float(scores.grad.abs().sum()) > 0


def test_grouping_starts_no_more_curves_than_there_are_points() -> None:
    features = torch.randn(2, 6, 4)
    assert CurveGrouping(4, 100, 3)(features, nearest(features, 3)).shape == (2, 6, 3, 4)


def test_nearest_and_gather_agree_with_distances() -> None:
    points = torch.randn(3, 20, 3)
    found = gather(points, nearest(points, 4))
    expected = torch.cdist(points, points).sort(dim=2).values[..., :4]
    torch.testing.assert_close((found - points.unsqueeze(2)).norm(dim=3), expected, atol=1e-3, rtol=1e-3)


def test_farthest_subset_has_no_point_twice() -> None:
    chosen = farthest_subset(torch.randn(5, 40, 3), 15)
    assert all(len(set(row.tolist())) == 15 for row in chosen)


@pytest.mark.parametrize(
    ("name", "options"), [("curvenet", {}), ("curvenet", {"compact": True}), ("dgcnn", {})]
)
@pytest.mark.parametrize("num_points", [2, 5, 64, 130])
def test_any_number_of_points_passes(name: str, options: dict[str, bool], num_points: int) -> None:
    module = build(name, classes=4, **options).eval()
    with torch.no_grad():
        assert module(torch.randn(2, num_points, 3)).shape == (2, 4)


def test_every_weight_of_curvenet_learns() -> None:
    module = build("curvenet", classes=4, compact=True)
    module(torch.randn(4, 32, 3)).square().sum().backward()
    assert [name for name, p in module.named_parameters() if p.grad is None] == []
