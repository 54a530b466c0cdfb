"""Margins bounded backwards (CROWN): one linear function of the input below a margin, over a whole cell.

Affine forms going forward must treat every error as independent. Going back from one margin, each number's sign is
known, so ReLU and max are replaced by the line that is worst for that margin, and errors of different places cancel.
The ends between which every number lies come from the forward pass. To stop at the pooled features and take their
forward forms is cheap, to go on to the input is sharper.

Coefficients have the shape (M, V, ..., K): M cells, V rivals of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.affine import ROUNDING, Pooled, Rows
from tpc_core.bounds.network import Dense, Network
from tpc_core.models.pooled import scatter_rows
from tpc_core.transforms.forms import TINY, UNIT, InputForm

UNDERFLOW = 1e-150
"""Numbers below 1e-162 have squares of zero: this is longer than all of them that a layer can have together."""


@dataclass(frozen=True)
class Ends:
    """The lines that bound a ReLU of numbers between known ends; all (M, 1, ..., K), or (M, 1, ...) for lengths."""

    above: Tensor
    """The slope of the upper line above * x + rise."""
    rise: Tensor
    below: Tensor
    """The slope of the lower line through zero: 0 or 1, whichever leaves less."""
    before: Tensor
    """The Euclidean length of the numbers before the ReLU at most, rounded up."""
    after: Tensor
    """The same after it."""

    def cell(self, number: int) -> Ends:
        """Of one cell alone."""
        one = slice(number, number + 1)
        return Ends(self.above[one], self.rise[one], self.below[one], self.before[one], self.after[one])


def relu_ends(lower: Tensor, upper: Tensor) -> Ends:
    """The lines for numbers in [lower, upper], (M, ..., K): the chord above, the nearer of 0 and x below."""
    lower, upper = lower.unsqueeze(1), upper.unsqueeze(1)
    positive = upper.clamp_min(0)
    above = positive / (positive - lower.clamp_max(0)).clamp_min_(1e-300)
    # Any slope in [0, 1] is sound with the rise that lifts the line over both ends, whatever the division lost.
    size = torch.maximum(lower.abs(), upper.abs())
    rise = torch.maximum(torch.relu(lower) - above * lower, positive - above * upper)
    rise.add_(size, alpha=ROUNDING).clamp_min_(0)
    return Ends(above, rise, (upper > -lower).to(lower.dtype), _length(size), _length(positive))


Between = tuple[Tensor, Tensor]
"""Lower and upper ends."""


@dataclass(frozen=True)
class Forward:
    """What the forward pass of M cells found: ends before every ReLU, and how the max came about."""

    form: InputForm
    points: list[Between]
    """Of every per-point layer: (M, N, K)."""
    pooled: Pooled
    head: list[Between]
    features: Rows
    """What enters the head."""


@dataclass(frozen=True)
class HeadTrace:
    """Of the cells that a backward pass is for: the lines of the head's layers, and the forms that enter it."""

    head: list[Ends]
    features: Rows
    size: Tensor
    """The length (M, 1) of what enters the head, at most."""

    @staticmethod
    def of(forward: Forward, cells: Tensor) -> HeadTrace:
        rows = Rows(forward.features.linear[:, cells], forward.features.error[cells])
        lower, upper = rows.ends()
        size = _length(torch.maximum(lower.abs(), upper.abs())).unsqueeze(1)
        return HeadTrace([relu_ends(low[cells], high[cells]) for low, high in forward.head], rows, size)

    def cell(self, number: int) -> HeadTrace:
        one = slice(number, number + 1)
        rows = Rows(self.features.linear[:, one], self.features.error[one])
        return HeadTrace([ends.cell(number) for ends in self.head], rows, self.size[one])


@dataclass(frozen=True)
class PointTrace:
    """The same of the pool and of the layers before it."""

    form: InputForm
    points: list[Ends]
    sizes: Tensor
    """The length (M, 1, N) of every point, at most."""
    chosen: Tensor
    excess: Tensor
    flat: Tensor
    """Where the max's upper end costs less than the excess over the chosen point."""
    upper: Tensor
    pool: Ends

    @staticmethod
    def of(forward: Forward, cells: Tensor) -> PointTrace:
        pooled = forward.pooled
        form = forward.form.take(cells)
        low, high = form.box
        lower, upper, excess = pooled.lower[cells], pooled.upper[cells], pooled.excess[cells]
        return PointTrace(
            form,
            [relu_ends(low[cells], high[cells]) for low, high in forward.points],
            _length(torch.maximum(low.abs(), high.abs())).unsqueeze(1),
            pooled.chosen[cells],
            excess.unsqueeze(1),
            (excess > upper - lower).unsqueeze(1),
            upper.unsqueeze(1),
            relu_ends(lower, upper),
        )

    def cell(self, number: int) -> PointTrace:
        one = slice(number, number + 1)
        return PointTrace(
            self.form[one],
            [ends.cell(number) for ends in self.points],
            self.sizes[one],
            self.chosen[one],
            self.excess[one],
            self.flat[one],
            self.upper[one],
            self.pool.cell(number),
        )


@dataclass
class Descent:
    """A linear function of some layer's numbers below M x V margins: coefficients (M, V, ..., K) and a constant (M, V).

    `loss` (M, V) is what rounding may have taken, of the bound and of a network evaluated in float64.
    """

    coefficients: Tensor
    constant: Tensor
    loss: Tensor

    def add(self, amount: Tensor, size: Tensor, terms: int) -> None:
        """Add a sum (M, V) of so many terms whose absolute values sum up to `size` at most."""
        self.constant = self.constant + amount
        self.loss = self.loss + (size + self.constant.abs()) * (2 * (terms + 4) * UNIT)

    def _lengths(self) -> Tensor:
        """The Euclidean lengths (M, V, ...) of the coefficients, rounded up."""
        return _length(self.coefficients)

    def through_relu(self, ends: Ends) -> None:
        """The lower line where a number helps the margin, the upper line where it hurts it."""
        helps, hurts = self.coefficients.clamp_min(0), self.coefficients.clamp_max(0)
        cost = torch.linalg.vecdot(hurts, ends.rise)
        self.loss = self.loss + _total(self._lengths() * ends.before) * ROUNDING
        self.add(_total(cost), -_total(cost), self.coefficients[0, 0].numel())
        self.coefficients = (helps * ends.below).addcmul_(hurts, ends.above)

    def through_layer(self, layer: Dense, size: Tensor) -> None:
        """The transposed layer; `size` (M, 1, ...) is the Euclidean length of what entered it."""
        lengths = self._lengths()
        biased = _total(lengths) * layer.bias_norm
        self.add(_total(self.coefficients @ layer.bias), biased, self.coefficients[0, 0].numel())
        terms = 2 * (sum(layer.weight.shape) + 32) * UNIT
        self.loss = self.loss + (_total(lengths * size) * layer.norm + biased) * terms
        self.coefficients = self.coefficients @ layer.transposed

    def through_max(self, trace: PointTrace, layer: Dense) -> None:
        """The max is at least the chosen point's number, and at most that plus the excess, or its upper end."""
        helps, hurts = self.coefficients.clamp_min(0), self.coefficients.clamp_max(0)
        costs = hurts * torch.where(trace.flat, trace.upper, trace.excess)
        width = costs.shape[-1]
        self.add(costs.sum(dim=2), costs.abs().sum(dim=2), width)
        kept = helps + hurts.masked_fill(trace.flat, 0.0)
        longest = trace.points[-1].after.amax(dim=2)
        lost = (kept.abs() @ layer.column_norms) * longest + kept.abs() @ layer.bias.abs()
        self.add(kept @ layer.bias, lost, width)
        self.loss = self.loss + lost * (2 * (sum(layer.weight.shape) + 32) * UNIT)
        cells, rivals = kept.shape[:2]
        count = trace.sizes.shape[2]
        clouds = torch.arange(cells * rivals).view(cells, rivals, 1)
        rows = (trace.chosen.unsqueeze(1) + count * clouds).flatten(0, 1)
        spread = scatter_rows(kept.flatten(0, 1), rows, layer.transposed, count * cells * rivals)
        self.coefficients = spread.view(cells, rivals, count, -1)

    def at_forms(self, centre: Tensor, generators: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
        """The least value (M, V) over forms of what the function reads, and the slopes along parameters (M, V, d).

        centre and error: (M, T), generators: (M, d, T); the coefficients are read as (M, V, T).
        """
        flat = self.coefficients.flatten(2)
        absolute = flat.abs()
        sizes = centre.abs() + generators.abs().sum(dim=1) + error
        size = (absolute @ sizes.unsqueeze(2)).squeeze(2)
        terms = flat.shape[2]
        self.add((flat @ centre.unsqueeze(2)).squeeze(2), size, terms)
        slopes = flat @ generators.transpose(1, 2)
        lost = self.loss + size * (4 * (terms + 32) * UNIT)
        reach = slopes.abs().sum(dim=2) + (absolute @ error.unsqueeze(2)).squeeze(2) + lost
        return self.constant - reach * (1 + 1e-10) - self.constant.abs() * ROUNDING - TINY, slopes


def through_head(network: Network, trace: HeadTrace, label: int, rivals: Tensor) -> Descent:
    """From logit[label] - logit[rival], rivals (V,), down to the features that enter the head."""
    output = network.output
    cells = len(trace.size)
    # Both logits are evaluated, then compared: each loses what its own layer loses.
    lengths, biases = output.column_norms, output.bias.abs()
    lost = (lengths[label] + lengths[rivals]) * trace.head[-1].after + biases[label] + biases[rivals]
    descent = Descent(
        (output.weight[:, label, None] - output.weight[:, rivals]).T.expand(cells, -1, -1),
        (output.bias[label] - output.bias[rivals]).expand(cells, -1),
        lost * (4 * (len(output.weight) + 32) * UNIT),
    )
    for number in reversed(range(len(network.head))):
        descent.through_relu(trace.head[number])
        descent.through_layer(network.head[number], trace.head[number - 1].after if number else trace.size)
    return descent


def head_margins(network: Network, trace: HeadTrace, label: int, rivals: Tensor) -> Tensor:
    """Lower bounds (M, V) of the margins: backwards to the pooled features, whose forms are forward ones."""
    linear, error = trace.features.linear, trace.features.error
    bounds, _ = through_head(network, trace, label, rivals).at_forms(
        linear[0], linear[1:].transpose(0, 1), error
    )
    return bounds


def input_margins(
    network: Network, head: HeadTrace, points: PointTrace, label: int, rivals: Tensor
) -> tuple[Tensor, Tensor]:
    """Lower bounds (M, V) of the margins, backwards to the input, and their slopes along parameters (M, V, d)."""
    descent = through_head(network, head, label, rivals)
    if network.pool_relu:
        descent.through_relu(points.pool)
    descent.through_max(points, network.pool)
    for number in reversed(range(len(network.points))):
        descent.through_relu(points.points[number])
        size = points.points[number - 1].after if number else points.sizes
        descent.through_layer(network.points[number], size)
    form = points.form
    return descent.at_forms(form.centre.flatten(1), form.generators.flatten(2), form.error.flatten(1))


def _total(values: Tensor) -> Tensor:
    """The sum over all axes after the first two."""
    return values.flatten(2).sum(dim=2) if values.ndim > 2 else values


def _length(values: Tensor) -> Tensor:
    """The Euclidean length along the last axis, rounded up."""
    length: Tensor = torch.linalg.vector_norm(values, dim=-1)
    return length * (1 + 1e-12) + UNDERFLOW
