"""No cloud of a cell has a smaller margin than was proved, whatever the rounding; and broken bounds are caught."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tpc_core.bounds import affine, backward, margins
from tpc_core.bounds.affine import Rows, max_over_points, relu, through
from tpc_core.bounds.margins import classifier_margins
from tpc_core.bounds.network import Dense, Network, dense, network_of
from tpc_core.bounds.segments import point_margins
from tpc_core.data import load_object
from tpc_core.errors import UnsupportedRequest
from tpc_core.models import load_model
from tpc_core.models.dgcnn import DGCNN
from tpc_core.models.folded import Affine
from tpc_core.models.pointnet import PointNet
from tpc_core.transforms import CoordinateNoise, parse_transform
from tpc_core.transforms.forms import UNIT, InputForm

seeds = st.integers(0, 2**32 - 1)


@lru_cache
def network(name: str = "pointnet64-noise") -> Network:
    return network_of(load_model(name).module)


@lru_cache
def subject(name: str, points: int) -> tuple[torch.Tensor, int]:
    """A gallery cloud and the class that pointnet64-noise gives to it."""
    cloud = load_object(f"gallery:{name}", points=points).points
    return cloud, int(network().evaluate(cloud[None])[0].argmax())


def margin_of(net: Network, clouds: torch.Tensor, label: int) -> torch.Tensor:
    logits = net.evaluate(clouds)
    rivals = logits.clone()
    rivals[:, label] = -torch.inf
    return logits[:, label] - rivals.amax(dim=1)


def random_rows(rng: np.random.Generator, rows: int, width: int, d: int = 2) -> Rows:
    """Forms of all proportions: mostly parameters, mostly error, about zero and away from it."""
    linear = torch.from_numpy(rng.normal(size=(d + 1, rows, width)))
    linear[1:] *= 10.0 ** rng.uniform(-4, 0.5)
    error = torch.from_numpy(rng.uniform(0, 1, (rows, width)) * 10.0 ** rng.uniform(-6, 0.5))
    return Rows(linear, error)


def members(rows: Rows, eps: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Members (T, R, K) of the forms at places eps (T, d), the rest at random, mostly at its ends."""
    rest = rng.choice([-1.0, 1.0, 1.0, -1.0, 0.3], (len(eps), *rows.error.shape))
    return (
        rows.centre + torch.einsum("td,drk->trk", eps, rows.linear[1:]) + torch.from_numpy(rest) * rows.error
    )


def some_eps(rng: np.random.Generator, count: int, d: int = 2) -> torch.Tensor:
    return torch.from_numpy(np.where(rng.random((count, d)) < 0.6, rng.choice([-1, 1], (count, d)), 0.1))


def outside(rows: Rows, eps: torch.Tensor, values: torch.Tensor) -> float:
    """By how much the values (T, R, K) leave the forms at eps; not at all where <= 0."""
    first = rows.centre + torch.einsum("td,drk->trk", eps, rows.linear[1:])
    return float(((values - first).abs() - rows.error - 1e-13 * (1 + values.abs())).max())


def layer_of(rng: np.random.Generator, inputs: int, outputs: int) -> Dense:
    weight = torch.from_numpy(rng.normal(size=(inputs, outputs)).astype(np.float32))
    return dense(Affine(weight, torch.from_numpy(rng.normal(size=outputs).astype(np.float32))))


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_layers_relu_and_max_hold_every_member(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, eps = random_rows(rng, 6, 5), some_eps(rng, 300)
    inside = members(rows, eps, rng)
    layer = layer_of(rng, 5, 7)
    assert outside(relu(rows), eps, torch.relu(inside)) <= 0
    assert outside(through(layer, rows), eps, inside @ layer.weight + layer.bias) <= 0
    pooled = max_over_points(layer, rows, 3, columns=4)
    wide = (inside @ layer.weight + layer.bias).view(len(eps), 2, 3, 7)
    assert outside(pooled.rows, eps, wide.amax(dim=2)) <= 0
    assert bool((wide.amax(dim=2) >= pooled.lower - 1e-12).all())
    assert bool((wide.amax(dim=2) <= pooled.upper + 1e-12).all())
    chosen = wide.gather(2, pooled.chosen.view(1, 2, 1, 7).expand(len(eps), -1, -1, -1)).squeeze(2)
    assert bool((wide.amax(dim=2) <= chosen + pooled.excess + 1e-12).all())


def test_relu_leaves_no_more_than_an_interval_does() -> None:
    """With nothing but error a form is an interval, and its ReLU is exact."""
    rng = np.random.default_rng(0)
    rows = random_rows(rng, 50, 20, d=0)
    lower, upper = rows.ends()
    after = relu(rows).ends()
    assert torch.allclose(after[0], torch.relu(lower), atol=1e-12)
    assert torch.allclose(after[1], torch.relu(upper), atol=1e-12)


def test_the_network_is_the_module_in_float64() -> None:
    for name in ("pointnet64-noise", "segmentation64-z-twist"):
        model = load_model(name)
        clouds = torch.stack(
            [load_object(f"gallery:{kind}-1", points=64).points for kind in ("chair", "airplane")]
        )
        assert torch.allclose(network(name).evaluate(clouds).float(), model.classifier()(clouds), atol=2e-4)
    assert network().digest != network("pointnet64-cylinder").digest
    assert network().digest == network_of(load_model("pointnet64-noise").module).digest


CELLS = [
    ("z-taper", 0.01, "chair-1"),
    ("z-taper", 0.1, "airplane-1"),
    ("x-rotation", 0.003, "chair-1"),
    ("z-twist+z-taper+z-rotation", 0.003, "airplane-1"),
    ("general-rotation", 0.002, "chair-1"),
    ("zyx-rotation", 0.002, "airplane-1"),
    ("z-shear", 0.005, "chair-1"),
    ("z-shear+x-twist", 0.002, "airplane-1"),
]


def attacked(name: str, half: float, kind: str, seed: int = 0) -> tuple[float, torch.Tensor]:
    """The least of (a real margin - the proved one) over cells of a gallery cloud, and the proved margins."""
    rng = np.random.default_rng(seed)
    transform = parse_transform(name)
    points, label = subject(kind, 32)
    middle = torch.from_numpy(rng.uniform(-0.1, 0.1, (3, transform.dim)))
    low, high = middle - half, middle + half
    found = classifier_margins(network(), transform.form(points, low, high), label)
    shares = torch.from_numpy(
        np.where(rng.random((60, 3, transform.dim)) < 0.6, rng.integers(0, 2, (60, 3, 1)), 0.4)
    )
    z = low + shares * (high - low)
    real = margin_of(network(), transform.apply(points.double(), z).flatten(0, 1), label).view(60, 3)
    return float((real - found.lower).min()), found.lower


@pytest.mark.parametrize(("name", "half", "kind"), CELLS)
def test_no_cloud_of_a_cell_has_a_smaller_margin(name: str, half: float, kind: str) -> None:
    least, lower = attacked(name, half, kind)
    assert least >= 0
    assert bool(torch.isfinite(lower).all())


def test_backward_passes_prove_what_forward_ones_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    sharp = attacked("z-taper", 0.045, "chair-1")[1]
    monkeypatch.setattr(margins, "HOPELESS", 0.0)
    plain = attacked("z-taper", 0.045, "chair-1")[1]
    assert bool((sharp >= plain).all())
    assert float(sharp.min()) > 0 > float(plain.min())


def test_intervals_are_forms_without_parameters() -> None:
    points, label = subject("chair-1", 32)
    ball = CoordinateNoise("linf")
    form = ball.ball_form(points, 1e-5)
    lower = classifier_margins(network(), form, label).lower
    rng = np.random.default_rng(3)
    z = torch.from_numpy(rng.choice([-1e-5, 1e-5], (400, 96)))
    assert float(margin_of(network(), ball.apply(points.double(), z), label).min()) >= float(lower)
    assert float(lower) > 0


def test_every_point_of_a_segmenter_keeps_the_proved_margin() -> None:
    net = network("segmentation64-z-twist")
    points = load_object("gallery:chair-1", points=48).points
    labels = net.evaluate(points[None])[0].argmax(dim=1)
    transform = parse_transform("z-twist")
    low = torch.tensor([[-0.02], [0.03]], dtype=torch.float64)
    found = point_margins(net, transform.form(points, low, low + 0.01), labels)
    z = low + torch.linspace(0, 0.01, 40, dtype=torch.float64).view(40, 1, 1)
    logits = net.evaluate(transform.apply(points.double(), z).flatten(0, 1)).view(40, 2, 48, -1)
    own = labels.view(1, 1, 48, 1).expand(40, 2, -1, -1)
    rivals = logits.scatter(3, own, -torch.inf).amax(dim=3)
    assert bool((logits.gather(3, own).squeeze(3) - rivals >= found.lower).all())
    assert float((found.lower > 0).double().mean()) > 0.5


# Rounding, planted against the claim: every layer loses as much as float64 may lose, each time to the margin's harm.


def planted_margin(net: Network, cloud: torch.Tensor, label: int, lost: Callable[[Dense], float]) -> float:
    """The margin when every sum of every layer is off by `lost` (|W| |x| + |b|), signs against the class.

    The signs follow the margin's gradient; a maximum over points has one.
    """
    rows = cloud.double().requires_grad_()
    sums: list[tuple[Dense, torch.Tensor, torch.Tensor]] = []

    def layer(dense_layer: Dense, x: torch.Tensor) -> torch.Tensor:
        out = dense_layer(x)
        out.retain_grad()
        sums.append((dense_layer, x.detach(), out))
        return out

    x = rows
    for one in net.points:
        x = torch.relu(layer(one, x))
    x = torch.relu(layer(net.pool, x).amax(dim=0, keepdim=True))
    for one in net.head:
        x = torch.relu(layer(one, x))
    logits = layer(net.output, x)[0]
    rivals = logits.masked_fill(torch.arange(len(logits)) == label, -torch.inf)
    margin = logits[label] - rivals.max()
    margin.backward()
    harm = 0.0
    for one, entered, out in sums:
        size = entered.abs() @ one.absolute + one.bias.abs()
        assert out.grad is not None
        harm += lost(one) * float((out.grad.abs() * size).sum())
    return float(margin.detach()) - harm


def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that pretend that float64 were real numbers."""
    monkeypatch.setattr(Dense, "rounding", property(lambda self: 0.0))
    monkeypatch.setattr(affine, "ROUNDING", 0.0)
    monkeypatch.setattr(affine, "GROWTH", 1.0)
    monkeypatch.setattr(affine, "UNIT_SINGLE", 0.0)
    monkeypatch.setattr(affine, "UPWARDS", 1.0)


def test_rounding_planted_against_the_claim_stays_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of no width: all that the bound leaves is for rounding, and it is enough; without it, it is not."""
    points, label = subject("chair-1", 32)
    form = InputForm(points.double()[None], torch.zeros(1, 0, 32, 3).double(), torch.zeros(1, 32, 3).double())
    worst = planted_margin(network(), points, label, lambda layer: (len(layer.weight) + 2) * UNIT)
    clean = float(margin_of(network(), points[None], label))
    lower = float(classifier_margins(network(), form, label).lower)
    assert lower <= worst < clean
    assert clean - lower < 1e-6
    no_room(monkeypatch)
    assert float(classifier_margins(network(), form, label).lower) > worst


# Falsified bounds, each caught by the same attacks that the sound ones pass.


def shrunk_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form shrunk by a hair: the error of every ReLU is a thousandth too small."""
    sound = affine.relu

    def false(rows: Rows) -> Rows:
        result = sound(rows)
        return Rows(result.linear, result.error * 0.999)

    monkeypatch.setattr(sys.modules[__name__], "relu", false)


def flipped_kink(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign of the error flipped where the ReLU's lower line is laid."""

    def false(rows: Rows) -> Rows:
        result = affine.relu(rows)
        return Rows(result.linear, (result.error - 2 * rows.error).clamp_min(0))

    monkeypatch.setattr(sys.modules[__name__], "relu", false)


def small_excess(monkeypatch: pytest.MonkeyPatch) -> None:
    """The max over points forgets half of what another point may have above the chosen one."""
    sound = affine.max_over_points

    def false(layer: Dense, rows: Rows, count: int, columns: int = 256) -> affine.Pooled:
        p = sound(layer, rows, count, columns)
        return affine.Pooled(p.rows, p.chosen, p.excess * 0.5, p.lower, p.upper)

    monkeypatch.setattr(sys.modules[__name__], "max_over_points", false)


def dropped_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer that forgets to carry the error on."""
    sound = affine.through

    def false(layer: Dense, rows: Rows) -> Rows:
        result = sound(layer, Rows(rows.linear, torch.zeros_like(rows.error)))
        return Rows(result.linear, result.error)

    monkeypatch.setattr(sys.modules[__name__], "through", false)


@pytest.mark.parametrize("falsify", [shrunk_error, flipped_kink, small_excess, dropped_error])
def test_a_falsified_step_is_caught(falsify: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        falsify(patch)
        inner = test_layers_relu_and_max_hold_every_member.hypothesis.inner_test
        caught = 0
        for seed in range(40):
            try:
                inner(seed)
            except AssertionError:
                caught += 1
    assert caught > 0


def test_a_line_that_cuts_the_relu_is_caught() -> None:
    """The upper line of a backward pass lowered: its bound is then above a real margin somewhere."""
    sound = backward.relu_ends

    def false(lower: torch.Tensor, upper: torch.Tensor) -> backward.Ends:
        ends = sound(lower, upper)
        return backward.Ends(ends.above, ends.rise * 0.0, ends.below, ends.before, ends.after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backward, "relu_ends", false)
        assert min(attacked("z-taper", 0.06, "chair-1", seed)[0] for seed in range(3)) < 0


def test_networks_that_cannot_be_bounded_say_so() -> None:
    with pytest.raises(UnsupportedRequest, match="T-nets"):
        network_of(PointNet(4, tnets=True))
    with pytest.raises(UnsupportedRequest, match="unsheared"):
        network_of(PointNet(4, canonical="unsheared"))
    with pytest.raises(UnsupportedRequest, match="DGCNN"):
        network_of(DGCNN(4))


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-170, 1e-155, 1.0])
def test_a_length_is_never_too_short_however_small_the_numbers(size: float) -> None:
    """Squares underflow; a network of tiny weights would have its rounding counted as nothing."""
    from tpc_core.bounds.backward import _length

    values = torch.full((1, 900), size, dtype=torch.float64)
    assert float(_length(values)) >= 30 * size
