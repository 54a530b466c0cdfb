"""CurveNet's parts: walks go along neighbours, turn back only if they must, and pass gradients."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tpc_core.models import build
from tpc_core.models.curvenet import LocalFeatures, Surroundings
from tpc_core.models.curves import CurveGrouping, Walk, choose, forwardness
from tpc_core.models.dgcnn import EdgeConvolution
from tpc_core.models.neighbours import farthest_subset, gather, largest_around, nearest


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
    here = torch.tensor([[1.0, 1.0]])
    rows = here + torch.tensor([[-2.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    forward = forwardness(torch.tensor([[1.0, 0.0]]), rows, torch.tensor([[0, 1, 2]]), here)
    torch.testing.assert_close(forward, torch.tensor([[0.0, 1.0, 1.0]]))


def test_the_hard_choice_passes_the_soft_gradient() -> None:
    scores = torch.tensor([[0.1, 2.0, -1.0]], requires_grad=True)
    rows = torch.randn(4, 5, requires_grad=True)
    candidates = torch.tensor([[2, 0, 3]])
    row, best = choose(scores, rows, candidates)
    assert best.tolist() == [[1]]
    assert torch.equal(row[0], rows[0])
    gain = torch.randn(5)
    (row @ gain).backward()
    soft = scores.detach().clone().requires_grad_()
    (soft.softmax(dim=1) @ rows.detach()[candidates[0]] @ gain).backward()
    torch.testing.assert_close(scores.grad, soft.grad)
    expected = torch.zeros(4, 5)
    expected[0] = gain
    torch.testing.assert_close(rows.grad, expected)


def test_the_max_over_neighbours_and_its_gradient_are_those_of_the_gathered_rows() -> None:
    features = torch.randn(3, 12, 7, requires_grad=True)
    index = nearest(torch.randn(3, 12, 3), 4)
    weight = torch.randn(3, 12, 7)
    found = largest_around(features, index)
    expected = gather(features, index).amax(dim=2)
    torch.testing.assert_close(found, expected)
    (gradient,) = torch.autograd.grad((found * weight).sum(), features)
    (reference,) = torch.autograd.grad((expected * weight).sum(), features)
    torch.testing.assert_close(gradient, reference)


@pytest.mark.parametrize("training", [True, False])
def test_positions_need_not_be_normed_pair_by_pair(training: bool) -> None:
    torch.manual_seed(0)
    layer, twin = LocalFeatures(6).train(training), LocalFeatures(6).train(training)
    twin.load_state_dict(layer.state_dict())
    features, points = torch.randn(4, 20, 6), torch.randn(4, 20, 3)
    around = Surroundings.of(points, 5)
    other = gather(points, around.neighbours)
    own = points.unsqueeze(2).expand_as(other)
    position = twin.position(torch.cat([own, other, other - own], dim=3))
    difference = gather(features, around.neighbours) - features.unsqueeze(2)
    mixed = twin.mix(F.leaky_relu(difference + position, 0.2))
    torch.testing.assert_close(
        layer(features, around), F.leaky_relu(mixed, 0.2).mean(dim=2), atol=1e-5, rtol=1e-4
    )
    for mine, theirs in zip(layer.buffers(), twin.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("training", [True, False])
def test_an_edge_convolution_need_not_hold_its_edges(training: bool) -> None:
    torch.manual_seed(0)
    layer, twin = (EdgeConvolution(6, 8, 5).double().train(training) for _ in range(2))
    with torch.no_grad():
        layer.edge.norm.weight.uniform_(-1, 1)  # a negative scale turns the max into a min
    twin.load_state_dict(layer.state_dict())
    features = torch.randn(4, 20, 6, dtype=torch.float64)
    around = gather(features, nearest(features, 5))
    own = features.unsqueeze(2).expand_as(around)
    edges = F.leaky_relu(twin.edge(torch.cat([around - own, own], dim=3)), 0.2)
    found, expected = layer(features), edges.amax(dim=2)
    torch.testing.assert_close(found, expected)
    weight = torch.randn_like(expected)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    for mine, theirs in zip(layer.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
    for mine, theirs in zip(layer.buffers(), twin.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)


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
