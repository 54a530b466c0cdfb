"""Margins while every point moves on its own: backward bounds that know how few numbers one point has.

A point has three coordinates and no other shares them. So its features are forms in three parameters of its own, far
narrower than intervals, and a max over points is bounded by lines in one point each: from below by any point's number,
from above by the chord of max(x, m) where no other point exceeds m. All numbers before a ReLU that may change sign get
their ends from backward passes of their own, and for the rivals that are not beaten yet the lower lines of the ReLUs
are turned until no turn helps: any slope in [0, 1] is sound, so what is found need not be exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tpc_core.bounds.affine import ROUNDING, Rows, relu, through
from tpc_core.bounds.backward import UNDERFLOW, Between, Descent, Ends, relu_ends
from tpc_core.bounds.network import Dense, Network
from tpc_core.models.pooled import scatter_rows
from tpc_core.transforms.forms import TINY, UNIT, UPWARDS, InputForm

TURN = 0.25
"""The first of them; they shrink to a tenth of it."""
TOGETHER = 1 << 22
"""Coefficients of a backward pass at a time: numbers times points times features."""


@dataclass(frozen=True)
class PoolLines:
    """Lines in one point each that bound the max over points (with its ReLU, if it has one); all (C,).

    The max is at least `share` times the number of point `under`, at most `slope` times that of `over` plus `rise`.
    """

    under: Tensor
    share: Tensor
    over: Tensor
    slope: Tensor
    rise: Tensor


@dataclass(frozen=True)
class Lines:
    """What may be chosen freely in a backward pass of V functions, each (V, ...).

    The slopes in [0, 1] of the lower lines of all ReLUs (`points`, `share` of the max, `head`); and, where the sign of
    a number of the head is given (`signs`: 1 positive, -1 negative, 0 unknown), how much of it is taken off or added:
    where x >= 0, f >= f - push x for any push >= 0.
    """

    points: list[Tensor]
    share: Tensor
    head: list[Tensor]
    signs: list[Tensor]
    push: list[Tensor]

    def take(self, which: slice | Tensor) -> Lines:
        """Of these functions alone."""
        return Lines(
            [s[which] for s in self.points],
            self.share[which],
            [s[which] for s in self.head],
            [s[which] for s in self.signs],
            [s[which] for s in self.push],
        )


@dataclass(frozen=True)
class BallTrace:
    """What a forward pass found of one ball: the lines of all layers, and how long what enters them can be."""

    form: InputForm
    sizes: Tensor
    points: list[Ends]
    pool: PoolLines
    features: Between
    """After the max, (1, C)."""
    head: list[Ends]

    def lines(self, count: int) -> Lines:
        """The lines of the forward pass, once for each of so many functions."""

        def spread(values: Tensor) -> Tensor:
            return values.expand(count, *values.shape[1:]).clone()

        head = [spread(ends.below[0]) for ends in self.head]
        return Lines(
            [spread(ends.below[0]) for ends in self.points],
            spread(self.pool.share.unsqueeze(0)),
            head,
            [torch.zeros_like(s) for s in head],
            [torch.zeros_like(s) for s in head],
        )


def trace_ball(network: Network, form: InputForm) -> BallTrace:
    """Forward through the points, then layer by layer through the head, each with backward passes of its own."""
    apart, own = Rows(form.centre, form.error[0]), _own_rows(form)
    points = []
    for layer in network.points:
        apart, own = through(layer, apart), through(layer, own)
        points.append(relu_ends(*_both(apart, own)))
        apart, own = relu(apart), relu(own)
    lower, upper = (ends[0] for ends in _both(through(network.pool, apart), through(network.pool, own)))
    low, high = form.box
    sizes = _length(low, high)
    pool = pool_lines(lower, upper, relu=network.pool_relu)
    features = _max_ends(lower, upper, relu=network.pool_relu)
    trace = BallTrace(form, sizes.unsqueeze(1), points, pool, features, [])
    entering = features
    for layer in network.head:
        ends = _sharpened(network, trace, layer, through(layer, _interval_rows(*entering)).ends())
        trace.head.append(relu_ends(*ends))
        entering = torch.relu(ends[0]), torch.relu(ends[1])
    return trace


def pool_lines(lower: Tensor, upper: Tensor, *, relu: bool) -> PoolLines:
    """The lines for numbers (N, C) between known ends."""
    under = lower.argmax(dim=0)
    low, high = (end.gather(0, under.unsqueeze(0)).squeeze(0) for end in (lower, upper))
    share = ((low >= 0) | (high > -low)).to(lower.dtype) if relu else torch.ones_like(low)
    over = upper.argmax(dim=0)
    low, high = (end.gather(0, over.unsqueeze(0)).squeeze(0) for end in (lower, upper))
    others = upper.scatter(0, over.unsqueeze(0), -torch.inf).amax(dim=0)
    if relu:
        others = others.clamp_min(0)
    # One point alone, without a ReLU, is its own max.
    others = torch.maximum(others, low)
    start, stop = others, torch.maximum(high, others)
    slope = ((stop - start) / (high - low).clamp_min(1e-300)).clamp_(0, 1)
    # max(x, m) is convex: any slope is sound with the rise that lifts the line over both ends.
    rise = torch.maximum(start - slope * low, stop - slope * high)
    size = torch.maximum(torch.maximum(low.abs(), high.abs()), stop.abs())
    return PoolLines(under, share, over, slope, rise.add_(size, alpha=ROUNDING))


def _own_rows(form: InputForm) -> Rows:
    """Every point with three parameters of its own, one for each coordinate."""
    centre, error = form.centre[0], form.error[0]
    return Rows(
        torch.cat([centre.unsqueeze(0), torch.diag_embed(error).permute(2, 0, 1)]), torch.zeros_like(error)
    )


def _both(apart: Rows, own: Rows) -> Between:
    """The narrower of two enclosures of the same numbers, (1, N, K)."""
    (low, high), (other_low, other_high) = apart.ends(), own.ends()
    return torch.maximum(low, other_low).unsqueeze(0), torch.minimum(high, other_high).unsqueeze(0)


def _interval_rows(lower: Tensor, upper: Tensor) -> Rows:
    centre = (lower + upper) / 2
    error = torch.maximum(upper - centre, centre - lower).mul_(UPWARDS).add_(TINY)
    return Rows(centre.unsqueeze(0), error)


def _max_ends(lower: Tensor, upper: Tensor, *, relu: bool) -> Between:
    ends = lower.amax(dim=0, keepdim=True), upper.amax(dim=0, keepdim=True)
    return (torch.relu(ends[0]), torch.relu(ends[1])) if relu else ends


def _length(lower: Tensor, upper: Tensor) -> Tensor:
    length: Tensor = torch.linalg.vector_norm(torch.maximum(lower.abs(), upper.abs()), dim=-1)
    return length * (1 + 1e-12) + UNDERFLOW


def _sharpened(network: Network, trace: BallTrace, layer: Dense, ends: Between) -> Between:
    """Narrower ends (1, K) of a layer of the head, where a number may change its sign."""
    lower, upper = ends
    unsure = torch.nonzero((lower[0] < 0) & (upper[0] > 0)).flatten()
    if len(unsure) == 0:
        return ends
    weight, bias = layer.weight[:, unsure].T, layer.bias[unsure]
    size = trace.head[-1].after if trace.head else _length(*trace.features).unsqueeze(1)
    lost = (layer.column_norms[unsure] * size + bias.abs()) * (2 * (len(layer.weight) + 32) * UNIT)
    found = []
    for sign in (1.0, -1.0):
        start = Descent(sign * weight.unsqueeze(0), sign * bias.unsqueeze(0), lost)
        found.append(_descend(network, trace, start, len(trace.head)))
    lower, upper = lower.clone(), upper.clone()
    lower[0, unsure] = torch.maximum(lower[0, unsure], found[0])
    upper[0, unsure] = torch.minimum(upper[0, unsure], -found[1])
    # Ends that cross each other by rounding would be no interval.
    return torch.minimum(lower, upper), torch.maximum(lower, upper)


def bounds_with(
    network: Network, trace: BallTrace, label: int, rivals: Tensor, lines: Lines | None = None
) -> Tensor:
    """Lower ends (V,) of logit[label] - logit[rival] with these lines, or with those of the forward pass."""
    return _descend(network, trace, *_margin_start(network, trace, label, rivals), lines)


def _margin_start(network: Network, trace: BallTrace, label: int, rivals: Tensor) -> tuple[Descent, int]:
    """logit[label] - logit[rival] as functions of what enters the last layer."""
    output = network.output
    lengths, biases = output.column_norms, output.bias.abs()
    lost = (lengths[label] + lengths[rivals]) * trace.head[-1].after + biases[label] + biases[rivals]
    start = Descent(
        (output.weight[:, label, None] - output.weight[:, rivals]).T.unsqueeze(0),
        (output.bias[label] - output.bias[rivals]).unsqueeze(0),
        lost * (4 * (len(output.weight) + 32) * UNIT),
    )
    return start, len(network.head)


def _descend(
    network: Network, trace: BallTrace, start: Descent, depth: int, lines: Lines | None = None
) -> Tensor:
    """The least values (V,) of functions of what the first `depth` layers of the head give, over the ball."""
    widest = max(layer.weight.shape[1] for layer in network.points)
    step = max(1, TOGETHER // (trace.sizes.shape[2] * widest))
    found = []
    for low in range(0, start.constant.shape[1], step):
        part = slice(low, low + step)
        descent = Descent(start.coefficients[:, part], start.constant[:, part], start.loss[:, part])
        found.append(_to_input(network, trace, descent, depth, lines and lines.take(part)))
    return torch.cat(found)


def _to_input(
    network: Network, trace: BallTrace, descent: Descent, depth: int, lines: Lines | None
) -> Tensor:
    for number in reversed(range(depth)):
        ends = trace.head[number]
        if lines is None:
            descent.through_relu(ends)
        else:
            signs = lines.signs[number]
            descent.through_relu(_given(ends, lines.head[number], signs))
            descent.coefficients = descent.coefficients - signs * lines.push[number]
        size = trace.head[number - 1].after if number else _length(*trace.features).unsqueeze(1)
        descent.through_layer(network.head[number], size)
    _through_pool(network, trace, descent, trace.pool.share if lines is None else lines.share)
    for number in reversed(range(len(network.points))):
        ends = trace.points[number]
        descent.through_relu(
            ends if lines is None else replace(ends, below=lines.points[number].unsqueeze(0))
        )
        size = trace.points[number - 1].after if number else trace.sizes
        descent.through_layer(network.points[number], size)
    form = trace.form
    bounds, _ = descent.at_forms(form.centre.flatten(1), form.generators.flatten(2), form.error.flatten(1))
    return bounds[0]


def _given(ends: Ends, below: Tensor, signs: Tensor) -> Ends:
    """The lines of a ReLU where some signs are given: there it is x itself, or zero."""
    known, on = signs != 0, (signs > 0).to(below.dtype)
    return replace(
        ends,
        above=torch.where(known, on, ends.above),
        rise=torch.where(known, 0.0, ends.rise),
        below=torch.where(known, on, below),
    )


def _through_pool(network: Network, trace: BallTrace, descent: Descent, share: Tensor) -> None:
    """From the pooled features down to those of the points that the two lines are about."""
    layer, pool = network.pool, trace.pool
    helps, hurts = descent.coefficients.clamp_min(0), descent.coefficients.clamp_max(0)
    width = helps.shape[-1]
    descent.add(hurts @ pool.rise, hurts.abs() @ pool.rise.abs(), width)
    kept = torch.cat([helps * share, hurts * pool.slope], dim=2)
    sizes, norms = kept.abs(), layer.column_norms.repeat(2)
    longest = trace.points[-1].after.amax(dim=2) if trace.points else trace.sizes.amax(dim=2)
    bias = layer.bias.repeat(2)
    lost = (sizes @ norms) * longest + sizes @ bias.abs()
    descent.add(kept @ bias, lost, 2 * width)
    descent.loss = descent.loss + lost * (2 * (sum(layer.weight.shape) + width + 32) * UNIT)
    rivals, count = kept.shape[1], trace.sizes.shape[2]
    rows = torch.cat([pool.under, pool.over]) + count * torch.arange(rivals).unsqueeze(1)
    spread = scatter_rows(kept[0], rows, layer.transposed.repeat(2, 1), count * rivals)
    descent.coefficients = spread.view(1, rivals, count, -1)


@dataclass(frozen=True)
class Turned:
    """The best bounds (V,) that were found, and lines that come near to them."""

    bounds: Tensor
    lines: Lines


def turned(
    network: Network, trace: BallTrace, label: int, rivals: Tensor, lines: Lines, turns: int
) -> Turned:
    """Turn the lines by gradient steps, for every rival (V,) on its own; any lines are sound, so the best counts."""
    # The max over points without a ReLU is no less than a point's number itself, whose line has slope 1.
    slopes = [*lines.points, *([lines.share] if network.pool_relu else []), *lines.head]
    free = [*slopes, *lines.push]
    moments = [torch.zeros_like(v) for v in free]
    best = torch.full((len(rivals),), -torch.inf, dtype=torch.float64)
    for turn in range(turns):
        with torch.enable_grad():
            for values in free:
                values.requires_grad_()
            bounds = bounds_with(network, trace, label, rivals, lines)
            gradients = torch.autograd.grad(bounds.sum(), free)
        for values in free:
            values.requires_grad_(False)
        best = torch.maximum(best, bounds.detach())
        if bool((best > 0).all()):
            break
        step = TURN * 0.1 ** (turn / turns)
        for values, moment, gradient in zip(free, moments, gradients, strict=True):
            scale = gradient.flatten(1).abs().amax(dim=1).clamp_min(1e-300)
            moment.mul_(0.7).add_(gradient / scale.view(-1, *[1] * (gradient.ndim - 1)))
            values.add_(moment, alpha=step).clamp_min_(0)
        for values in slopes:
            values.clamp_max_(1)
    return Turned(best, lines)
