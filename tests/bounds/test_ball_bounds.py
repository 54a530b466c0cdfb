"""While every point moves on its own, no cloud has a smaller margin than was proved; and broken bounds are caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.bounds.test_network_bounds import margin_of, planted_margin
from tpc_core.bounds import ball, ball_cases
from tpc_core.bounds.ball import Lines, PoolLines, pool_lines, trace_ball
from tpc_core.bounds.ball_cases import ball_margin
from tpc_core.bounds.network import Network, network_of
from tpc_core.data import load_object
from tpc_core.exact import BallProblem
from tpc_core.models import load_model
from tpc_core.models.pointnet import PointNet
from tpc_core.transforms import CoordinateNoise
from tpc_core.transforms.forms import UNIT

seeds = st.integers(0, 2**32 - 1)
LINF = CoordinateNoise("linf")


@lru_cache
def small(seed: int, pool_relu: bool = True) -> tuple[Network, Tensor, int]:
    """A random network, a cloud of seven points and its class."""
    torch.manual_seed(seed)
    module = PointNet(5, short=True, wide=24, dropout=0.0, pool_relu=pool_relu)
    for _ in range(3):
        module(torch.randn(32, 7, 3))
    network, points = network_of(module.eval()), 0.5 * torch.randn(7, 3)
    return network, points, int(network.evaluate(points[None])[0].argmax())


def clouds_of(network: Network, points: Tensor, label: int, radius: float, count: int = 200) -> Tensor:
    """Clouds of the ball: corners, some inside, and what signed gradient steps of every rival make of them."""
    generator = torch.Generator().manual_seed(0)
    moves = 2 * torch.rand(count, *points.shape, generator=generator, dtype=torch.float64) - 1
    moves[::2] = moves[::2].sign()
    clouds = [points.double() + radius * moves]
    for rival in [k for k in range(network.classes) if k != label][:6]:
        moved = radius * moves[:8].clone()
        for _ in range(8):
            moving = moved.clone().requires_grad_()
            logits = network.differentiable(points.double() + moving)
            (gradient,) = torch.autograd.grad((logits[:, label] - logits[:, rival]).sum(), moving)
            moved = (moved - 0.5 * radius * gradient.sign()).clamp(-radius, radius)
            clouds.append(points.double() + moved)
    return torch.cat(clouds)


def spare(seed: int, radius: float, pool_relu: bool = True) -> float:
    """The least of (a real margin - the proved one) over clouds of the ball."""
    network, points, label = small(seed, pool_relu)
    proved = ball_margin(network, LINF.ball_form(points, radius), label)
    return float(margin_of(network, clouds_of(network, points, label, radius), label).min()) - proved


@pytest.mark.parametrize("pool_relu", [True, False])
@pytest.mark.parametrize("radius", [1e-4, 0.01, 0.03])
def test_no_cloud_of_the_ball_has_a_smaller_margin(radius: float, pool_relu: bool) -> None:
    for seed in range(4):
        assert spare(seed, radius, pool_relu) >= 0


def held(lower: Tensor, upper: Tensor, lines: PoolLines, values: Tensor, relu: bool) -> bool:
    """Whether the lines hold the max over values (T, N, C)."""
    most = values.amax(dim=1)
    most = torch.relu(most) if relu else most
    under = values.gather(1, lines.under.expand(len(values), 1, -1)).squeeze(1)
    over = values.gather(1, lines.over.expand(len(values), 1, -1)).squeeze(1)
    return bool((most >= lines.share * under).all() and (most <= lines.slope * over + lines.rise).all())


@given(seed=seeds, relu=st.booleans(), points=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_lines_hold_the_max_over_points(seed: int, relu: bool, points: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    lower = torch.randn(points, 9, generator=generator, dtype=torch.float64)
    upper = lower + torch.rand(points, 9, generator=generator, dtype=torch.float64).pow(3)
    shares = torch.rand(300, points, 9, generator=generator, dtype=torch.float64)
    shares[:200] = shares[:200].round()
    assert held(lower, upper, pool_lines(lower, upper, relu=relu), torch.lerp(lower, upper, shares), relu)


def random_lines(lines: Lines, generator: torch.Generator) -> Lines:
    def anything(values: list[Tensor]) -> list[Tensor]:
        return [torch.rand(v.shape, generator=generator, dtype=v.dtype) for v in values]

    return Lines(
        anything(lines.points),
        anything([lines.share])[0],
        anything(lines.head),
        lines.signs,
        anything(lines.push),
    )


def cases_hold(seed: int, radius: float, *, wild: bool) -> bool:
    """Whether bounds with any lines, and any signs that a cloud has, lie below that cloud's margins."""
    network, points, label = small(seed)
    generator = torch.Generator().manual_seed(seed)
    rivals = torch.tensor([k for k in range(network.classes) if k != label])
    clouds = clouds_of(network, points, label, radius)[::16]
    with torch.no_grad():
        trace = trace_ball(network, LINF.ball_form(points, radius))
        for cloud in clouds:
            rows, signs = torch.relu(network.pool(_rows(network, cloud)).amax(dim=0, keepdim=True)), []
            for layer in network.head:
                rows = layer(rows)
                signs.append(rows.sign().expand(len(rivals), -1))
                rows = torch.relu(rows)
            lines = trace.lines(len(rivals))
            lines = random_lines(lines, generator) if wild else lines
            known = [s * (torch.rand(s.shape, generator=generator) < 0.5) for s in signs]
            found = ball.bounds_with(network, trace, label, rivals, replace(lines, signs=known))
            logits = network.evaluate(cloud[None])[0]
            if not bool((logits[label] - logits[rivals] >= found).all()):
                return False
    return True


def _rows(network: Network, cloud: Tensor) -> Tensor:
    rows = cloud
    for layer in network.points:
        rows = torch.relu(layer(rows))
    return rows


@pytest.mark.parametrize("radius", [1e-4, 0.03])
@pytest.mark.parametrize("wild", [True, False])
def test_any_lines_and_the_signs_that_a_cloud_has_are_sound(radius: float, wild: bool) -> None:
    assert all(cases_hold(seed, radius, wild=wild) for seed in range(3))


def bowl(radius: float) -> BallProblem:
    """A network that was trained for it, and a bowl, which an attack of about 0.042 turns into something else."""
    network = network_of(load_model("pointnet16-interval").module)
    cloud = load_object("gallery:bowl-1", points=16).points
    return BallProblem(network, cloud, radius, int(network.evaluate(cloud[None])[0].argmax()))


def test_turned_lines_prove_more_than_a_pass_and_cases_more_than_lines() -> None:
    def turned(problem: BallProblem) -> float:
        return ball_margin(
            problem.network, LINF.ball_form(problem.points, problem.radius), problem.label, cases=0
        )

    near, far = bowl(0.028), bowl(0.032)
    assert near.bound(1.0) <= 0 < turned(near)
    assert turned(far) <= 0 < far.sharper(1.0)
    assert far.attack(1.0, starts=4, steps=40) is None


def test_rounding_planted_against_a_ball_of_no_size_stays_inside() -> None:
    network, points, label = small(1)
    points = points.to(torch.float32)
    worst = planted_margin(network, points, label, lambda layer: (len(layer.weight) + 2) * UNIT)
    clean = float(margin_of(network, points[None], label))
    lower = ball_margin(network, LINF.ball_form(points, 0.0), label)
    assert lower <= worst < clean
    assert clean - lower < 1e-6


# Falsified bounds, each caught by the attacks that the sound ones pass.


def hair_less(patch: pytest.MonkeyPatch) -> None:
    """A form shrunk by a hair: every point may move a hundredth less than it may."""
    sound = ball.trace_ball
    patch.setattr(
        ball_cases, "trace_ball", lambda net, form: sound(net, replace(form, error=form.error * 0.99))
    )


def flipped_rise(patch: pytest.MonkeyPatch) -> None:
    """The sign of what lifts the upper line of a max flipped."""
    sound = ball.pool_lines

    def false(lower: Tensor, upper: Tensor, *, relu: bool) -> PoolLines:
        lines = sound(lower, upper, relu=relu)
        return replace(lines, rise=-lines.rise)

    patch.setattr(ball, "pool_lines", false)


def forgotten_point(patch: pytest.MonkeyPatch) -> None:
    """The max over points takes the chosen one for the only one."""
    sound = ball.pool_lines

    def false(lower: Tensor, upper: Tensor, *, relu: bool) -> PoolLines:
        lines = sound(lower, upper, relu=relu)
        return replace(lines, slope=torch.ones_like(lines.slope), rise=torch.zeros_like(lines.rise))

    patch.setattr(ball, "pool_lines", false)


@pytest.mark.parametrize("falsify", [hair_less, flipped_rise, forgotten_point])
def test_a_falsified_bound_is_caught(falsify: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        falsify(patch)
        assert min(spare(seed, radius) for seed in range(4) for radius in (1e-4, 0.01)) < 0


def test_a_sign_given_wrongly_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ball._given
    monkeypatch.setattr(ball, "_given", lambda ends, below, signs: sound(ends, below, -signs))
    assert not all(cases_hold(seed, 1e-4, wild=False) for seed in range(3))


def test_a_push_to_the_wrong_side_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ball.Lines.take

    def false(lines: Lines, which: slice) -> Lines:
        part = sound(lines, which)
        return replace(part, push=[-push for push in part.push])

    monkeypatch.setattr(ball.Lines, "take", false)
    assert not all(cases_hold(seed, 1e-4, wild=True) for seed in range(3))


@pytest.mark.parametrize("kept", ["positive", "negative"])
def test_a_case_left_out_is_caught(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one sign is looked at: a ball is then proved in which an attack succeeds."""
    sound = ball_cases._halved

    def false(*args: object) -> Lines | None:
        pair = sound(*args)  # type: ignore[arg-type]
        assert pair is not None
        half = len(pair.share) // 2
        return pair.take(slice(0, half) if kept == "positive" else slice(half, None))

    problem = bowl(0.0425)
    assert problem.attack(1.0, starts=4, steps=40) is not None
    monkeypatch.setattr(ball_cases, "_halved", false)
    assert problem.sharper(1.0) > 0
    monkeypatch.undo()
    assert problem.sharper(1.0) <= 0
