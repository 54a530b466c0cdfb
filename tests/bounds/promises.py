"""What every bound promises, each tried on small random networks and clouds: True where no attack finds it broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from tests.bounds.test_ball_bounds import clouds_of, spare
from tests.bounds.test_ball_bounds import small as small_ball
from tests.bounds.test_forms import (
    cells,
    cloud,
    escape,
    places,
)
from tests.bounds.test_forms import (
    test_forms_hold_the_real_numbers_not_only_what_float64_makes_of_them as real_numbers_hold,
)
from tests.bounds.test_forms import (
    test_sums_products_and_turns_hold_their_members as members_hold,
)
from tests.bounds.test_network_bounds import members as inside
from tests.bounds.test_network_bounds import outside, planted_margin, random_rows, some_eps
from tests.bounds.test_network_bounds import test_layers_relu_and_max_hold_every_member as steps_hold
from tests.exact.test_cover import tree
from tpc_core.bounds import ball, margins, segments
from tpc_core.bounds.backward import HeadTrace, PointTrace, head_margins, input_margins
from tpc_core.bounds.margins import classifier_margins, forward_pass
from tpc_core.bounds.network import Network, network_of
from tpc_core.bounds.segments import point_margins
from tpc_core.exact import covers
from tpc_core.exact.problem import Problem
from tpc_core.exact.search import Budget, settle
from tpc_core.models.pointnet import PointNet
from tpc_core.models.segmentation import PointNetSegmentation
from tpc_core.transforms import (
    Ball,
    Box,
    CoordinateNoise,
    Product,
    parse_transform,
)
from tpc_core.transforms.forms import UNIT, InputForm

Promise = Callable[[], bool]
"""Whether something still holds, tried anew at every call."""


def form_of(name: str) -> Promise:
    """No parameter of a cell leaves the affine form or the box: random cells, and cells about nothing on the axes."""

    def holds() -> bool:
        transform = parse_transform(name)
        for seed in range(6):
            rng = np.random.default_rng(seed)
            points = cloud(rng)
            low, high = cells(transform, rng)
            if seed % 2:
                points = torch.tensor([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.6, 0, 0.8], [0, 0.8, 0.6]])
                half = 0.02 * torch.from_numpy(rng.choice([0.0, 1.0], (4, transform.dim)))
                middle = torch.from_numpy(rng.choice([0.0, 0.5], (4, transform.dim)))
                half[0], middle[0] = 0.02 * torch.eye(transform.dim)[seed % transform.dim], 0.0
                low, high = middle - half, middle + half
            form, z = transform.form(points, low, high), places(low, high, rng)
            moved = transform.apply(points.double(), z)
            lower, upper = form.box
            inside = bool(((moved >= lower) & (moved <= upper)).all())
            if not inside or escape(form, low, high, z, moved) > 0:
                return False
        return True

    return holds


def members(check: Callable[..., None], seeds: int = 25) -> Promise:
    """A property test, at so many seeds."""
    inner = check.hypothesis.inner_test if hasattr(check, "hypothesis") else check

    def holds() -> bool:
        try:
            for seed in range(seeds):
                inner(seed)
        except AssertionError:
            return False
        return True

    return holds


SUMS = members(members_hold)
REALS = members(real_numbers_hold, 4)
STEPS = members(steps_hold, 40)


def tiny_boxes_hold() -> bool:
    """A ball so small that what matters is how x + z is rounded."""
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(50, 3, generator=generator) + 0.5
    ball_noise = CoordinateNoise("linf")
    for radius in (1e-17, 1e-15, 0.01):
        form = ball_noise.ball_form(points, radius)
        z = radius * (2 * torch.rand(40, 150, generator=generator, dtype=torch.float64) - 1).sign()
        if bool(((ball_noise.apply(points.double(), z) - form.centre).abs() > form.error).any()):
            return False
    return True


@lru_cache
def small(seed: int, pool_relu: bool = True) -> tuple[Network, Tensor, int]:
    """A random classifier, a cloud of five points and its class."""
    torch.manual_seed(seed)
    module = PointNet(5, short=True, wide=24, dropout=0.0, pool_relu=pool_relu)
    for _ in range(3):
        module(torch.randn(32, 5, 3))
    net, points = network_of(module.eval()), 0.5 * torch.randn(5, 3)
    return net, points, int(net.evaluate(points[None])[0].argmax())


@lru_cache
def small_parts(seed: int) -> tuple[Network, Tensor, Tensor]:
    """A random network that labels points, a cloud of five of them, and their parts."""
    torch.manual_seed(seed)
    module = PointNetSegmentation(4, wide=24)
    for _ in range(3):
        module(torch.randn(32, 5, 3))
    net, points = network_of(module.eval()), 0.5 * torch.randn(5, 3)
    return net, points, net.evaluate(points[None])[0].argmax(dim=1)


CELLS = [
    ("z-rotation", 0.02),
    ("z-taper", 0.05),
    ("z-twist+z-taper+z-rotation", 0.01),
    ("zyx-rotation", 0.01),
]


def some_cells(name: str, half: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Three cells of these parameters, and places in each, mostly at their ends; (M, d) twice, (T, M, d)."""
    dim, rng = parse_transform(name).dim, np.random.default_rng(seed)
    middle = torch.from_numpy(rng.uniform(-0.2, 0.2, (3, dim)))
    low, high = middle - half, middle + half
    return low, high, places(low, high, rng)


def leads(net: Network, clouds: Tensor, label: int) -> Tensor:
    """The margins against every rival: (B, V)."""
    logits = net.evaluate(clouds)
    rivals = [k for k in range(net.classes) if k != label]
    return logits[:, label, None] - logits[:, rivals]


def forward_margins_hold() -> bool:
    """No cloud of a cell has a smaller margin than the whole engine states, nor than the last layer's forms."""
    for seed in range(3):
        net, points, label = small(seed)
        for name, half in CELLS:
            transform, (low, high, z) = parse_transform(name), some_cells(name, half, seed)
            form = transform.form(points, low, high)
            real = leads(net, transform.apply(points.double(), z).flatten(0, 1), label).view(len(z), 3, -1)
            if bool((real.amin(dim=2) < classifier_margins(net, form, label).lower).any()):
                return False
            rivals = torch.tensor([k for k in range(net.classes) if k != label])
            rows = margins.margin_rows(net.output, forward_pass(net, form)[1], label, rivals)
            lower, upper = rows.ends()
            if bool(((real < lower) | (real > upper)).any()):
                return False
    return True


def backward_margins_hold() -> bool:
    """The same of both backward passes, every rival on its own; cells small enough that bounds are nearly exact."""
    for seed in range(4):
        net, points, label = small(seed, pool_relu=seed % 2 == 0)
        rivals = torch.tensor([k for k in range(net.classes) if k != label])
        for name, half in [*CELLS, *((name, half / 100) for name, half in CELLS)]:
            transform, (low, high, z) = parse_transform(name), some_cells(name, half, seed)
            real = leads(net, transform.apply(points.double(), z).flatten(0, 1), label).view(len(z), 3, -1)
            forward, _ = forward_pass(net, transform.form(points, low, high))
            every = torch.arange(3)
            head, before = HeadTrace.of(forward, every), PointTrace.of(forward, every)
            found = input_margins(net, head, before, label, rivals)[0]
            if bool((real < head_margins(net, head, label, rivals)).any()) or bool((real < found).any()):
                return False
    return True


def backward_rounding_holds() -> bool:
    """A cell of no width: what both backward passes leave for rounding is enough for rounding planted against it."""
    for seed in range(3):
        net, points, label = small(seed)
        form = InputForm(
            points.double()[None], torch.zeros(1, 0, 5, 3).double(), torch.zeros(1, 5, 3).double()
        )
        worst = planted_margin(net, points, label, lambda layer: (len(layer.weight) + 2) * UNIT)
        every = torch.arange(1)
        forward, _ = forward_pass(net, form)
        head, before = HeadTrace.of(forward, every), PointTrace.of(forward, every)
        logits = net.evaluate(points[None])[0].clone()
        logits[label] = -torch.inf
        rival = logits.argmax()[None]
        if float(input_margins(net, head, before, label, rival)[0]) > worst:
            return False
    return True


def parts_hold() -> bool:
    """No point of a segmenter has a smaller margin than stated."""
    for seed in range(3):
        net, points, labels = small_parts(seed)
        for name, half in CELLS[:3]:
            transform, (low, high, z) = parse_transform(name), some_cells(name, half, seed)
            logits = net.evaluate(transform.apply(points.double(), z).flatten(0, 1)).view(len(z), 3, 5, -1)
            own = labels.view(1, 1, 5, 1).expand(len(z), 3, -1, -1)
            rivals = logits.scatter(3, own, -torch.inf).amax(dim=3)
            found = point_margins(net, transform.form(points, low, high), labels).lower
            if bool((logits.gather(3, own).squeeze(3) - rivals < found).any()):
                return False
    return True


def part_sums(seed: int) -> None:
    """A point's own share and that of its cloud, as forms, hold the sums of their members."""
    rng = np.random.default_rng(seed)
    own, shared, eps = random_rows(rng, 6, 5), random_rows(rng, 2, 5), some_eps(rng, 200)
    rows = segments._sum(own, shared, 2, 3)
    sums = inside(own, eps, rng).view(-1, 2, 3, 5) + inside(shared, eps, rng).view(-1, 2, 1, 5)
    assert outside(rows, eps, sums.flatten(1, 2)) <= 0


PART_SUMS = members(part_sums)


def ball_lines_hold() -> bool:
    """Whatever the cloud of a ball: the lines of every layer hold its numbers, and the bounds those of every rival."""
    for seed in range(3):
        for radius in (1e-4, 0.02):
            net, points, label = small_ball(seed)
            rivals = torch.tensor([k for k in range(net.classes) if k != label])
            clouds = clouds_of(net, points, label, radius)
            with torch.no_grad():
                trace = ball.trace_ball(net, CoordinateNoise("linf").ball_form(points, radius))
                found = ball.bounds_with(net, trace, label, rivals)
            if bool((leads(net, clouds, label) < found).any()):
                return False
            rows = clouds
            for layer, lines in zip(net.points, trace.points, strict=True):
                numbers = layer(rows.flatten(0, 1)).view(*rows.shape[:2], -1)
                rows = torch.relu(numbers)
                if bool((rows > lines.above[0] * numbers + lines.rise[0] + 1e-14).any()):
                    return False
            wide = net.pool(rows.flatten(0, 1)).view(*rows.shape[:2], -1)
            most, lines = torch.relu(wide.amax(dim=1)), trace.pool
            over = wide.gather(1, lines.over.expand(len(wide), 1, -1)).squeeze(1)
            low, high = trace.features
            if bool(
                (most > lines.slope * over + lines.rise + 1e-14).any()
                | (most < low).any()
                | (most > high).any()
            ):
                return False
    return True


def balls_hold() -> bool:
    """No cloud of a ball has a smaller margin than was proved."""
    return all(
        spare(seed, radius, relu) >= 0
        for seed in range(3)
        for radius in (1e-4, 0.01)
        for relu in (True, False)
    )


REGIONS = [Box((0.3,)), Box((0.1, 2.0)), Ball(0.7, 2), Ball(0.05, 3), Product((Ball(0.7, 2), Box((0.3,))))]


def boxes_hold_the_region() -> bool:
    """Every parameter of a region lies in the trimmed box of one of the leaves."""
    for number, region in enumerate(REGIONS):
        rng = np.random.default_rng(number)
        low, high = region.trim(*tree(region, rng, 60).edges(region))
        z = np.concatenate([region.extremes(), region.sample(1500, rng)])
        z = np.concatenate([z, 0.999999 * region.project(100 * z)])
        if not bool(((z[:, None] >= low) & (z[:, None] <= high)).all(axis=2).any(axis=1).all()):
            return False
    return True


def holes_are_seen() -> bool:
    """A list of cells from which one was left out does not cover."""
    for number, region in enumerate(REGIONS):
        leaves = tree(region, np.random.default_rng(number), 40)
        if not covers(leaves, region):
            return False
        for left_out in range(len(leaves)):
            kept = np.arange(len(leaves)) != left_out
            touching = bool(leaves[~kept].meets(region)[0])
            if touching and covers(leaves[kept], region):
                return False
    return True


def searches_cover() -> bool:
    """A search that says certified has leaves that cover the region."""
    net, points, label = small(0)
    for name, radius in (("z-rotation", "4"), ("z-taper+z-rotation", "taper=0.02,rotation=1")):
        transform = parse_transform(name)
        region = transform.region(transform.parse_radius(radius))
        result = settle(Problem(net, transform, points, region, label), Budget(cells=500))
        if result.verdict != "certified" or not covers(result.leaves, region):
            return False
    return True
