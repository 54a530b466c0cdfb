"""Margins bounded backwards (CROWN): one linear function of the input below a margin, over a whole cell.

Affine forms going forward must treat every error as independent. Going back from one margin, each number's sign is
known, so ReLU and max are replaced by the line that is worst for that margin, and errors of different places cancel.
The ends between which every number lies come from the forward pass; so does what rounding may cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.affine import ROUNDING, Pooled
from tpc_core.bounds.forms import UNIT, InputForm
from tpc_core.bounds.network import Dense, Network
from tpc_core.models.pooled import scatter_rows


@dataclass(frozen=True)
class Ends:
    """Where numbers before a ReLU lie, and the lines that bound the ReLU there; all (..., K)."""

    lower: Tensor
    upper: Tensor
    above: Tensor
    """The slope of the upper line above * x + rise."""
    rise: Tensor
    below: Tensor
    """The slope of the lower line through zero: 0 or 1, whichever leaves less."""
    size: Tensor
    """The Euclidean length (...,) of the numbers after the ReLU, rounded up."""

    def __getitem__(self, index: Tensor) -> Ends:
        return Ends(
            self.lower[index],
            self.upper[index],
            self.above[index],
            self.rise[index],
            self.below[index],
            self.size[index],
        )


def relu_ends(lower: Tensor, upper: Tensor) -> Ends:
    """The lines for numbers in [lower, upper]: the chord above, the nearer of 0 and x below."""
    above = upper.clamp_min(0) / (upper.clamp_min(0) - lower.clamp_max(0)).clamp_min(1e-300)
    # Any slope in [0, 1] is sound with the rise that lifts the line over both ends, whatever the division lost.
    rise = torch.maximum(torch.relu(lower) - above * lower, torch.relu(upper) - above * upper)
    rise = (rise + ROUNDING * (lower.abs() + upper.abs())).clamp_min_(0)
    below = (upper > -lower).to(lower.dtype)
    return Ends(lower, upper, above, rise, below, _length(torch.relu(upper)))


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


@dataclass(frozen=True)
class Trace:
    """The same of the cells that a backward pass is for, with the lines that bound every ReLU."""

    form: InputForm
    points: list[Ends]
    chosen: Tensor
    excess: Tensor
    pool_lower: Tensor
    pool_upper: Tensor
    pool: Ends
    head: list[Ends]

    @staticmethod
    def of(forward: Forward, cells: Tensor) -> Trace:
        """Of these cells alone."""
        form, pooled = forward.form, forward.pooled
        lower, upper = pooled.lower[cells], pooled.upper[cells]
        return Trace(
            InputForm(form.centre[cells], form.generators[cells], form.error[cells]),
            [relu_ends(low[cells], high[cells]) for low, high in forward.points],
            pooled.chosen[cells],
            pooled.excess[cells],
            lower,
            upper,
            relu_ends(lower, upper),
            [relu_ends(low[cells], high[cells]) for low, high in forward.head],
        )


@dataclass
class Descent:
    """A linear function of some layer's numbers below P margins: coefficients (P, ..., K) and a constant (P,).

    `loss` (P,) is what rounding may have taken, of the bound and of a network evaluated in float64.
    """

    coefficients: Tensor
    constant: Tensor
    loss: Tensor

    def _add(self, amounts: Tensor) -> None:
        """Sum up amounts (P, ...) into the constant."""
        amounts = amounts.flatten(1)
        terms = 2 * (amounts.shape[1] + 2) * UNIT
        self.constant = self.constant + amounts.sum(dim=1)
        self.loss = self.loss + (amounts.abs().sum(dim=1) + self.constant.abs()) * terms

    def through_relu(self, ends: Ends) -> None:
        """The lower line where a number helps the margin, the upper line where it hurts it."""
        helps, hurts = self.coefficients.clamp_min(0), self.coefficients.clamp_max(0)
        size = torch.maximum(ends.lower.abs(), ends.upper.abs())
        self.loss = self.loss + ROUNDING * _total(self.coefficients.abs() * size)
        self._add(hurts * ends.rise)
        self.coefficients = helps * ends.below + hurts * ends.above

    def through_layer(self, layer: Dense, size: Tensor) -> None:
        """The transposed layer; `size` (P, ...) is the Euclidean length of what entered it."""
        self._add(self.coefficients * layer.bias)
        length = torch.linalg.vector_norm(self.coefficients, dim=-1)
        terms = 2 * (sum(layer.weight.shape) + 32) * UNIT
        self.loss = self.loss + _total((length * (layer.norm * size + layer.bias_norm)).unsqueeze(1)) * terms
        self.coefficients = self.coefficients @ layer.weight.T

    def through_max(self, trace: Trace, cells: Tensor, layer: Dense) -> None:
        """The max is at least the chosen point's number, and at most that plus the excess, or its upper end."""
        helps, hurts = self.coefficients.clamp_min(0), self.coefficients.clamp_max(0)
        excess, upper = trace.excess[cells], trace.pool_upper[cells]
        flat = excess > upper - trace.pool_lower[cells]
        self._add(hurts * torch.where(flat, upper, excess))
        kept = helps + hurts.masked_fill(flat, 0.0)
        self._add(kept * layer.bias)
        sizes = trace.points[-1].size[cells]
        columns = torch.linalg.vector_norm(layer.weight, dim=0)
        lost = kept.abs() * (columns * sizes.amax(dim=1, keepdim=True) + layer.bias.abs())
        self.loss = self.loss + _total(lost) * (2 * (sum(layer.weight.shape) + 32) * UNIT)
        count = sizes.shape[1]
        rows = trace.chosen[cells] + count * torch.arange(len(cells)).unsqueeze(1)
        spread = scatter_rows(kept, rows, layer.transposed, count * len(cells))
        self.coefficients = spread.view(len(cells), count, -1)

    def at_input(self, form: InputForm, cells: Tensor) -> tuple[Tensor, Tensor]:
        """The least value over every cell's inputs (P,), and the slope along each parameter (P, d)."""
        centre, generators, error = form.centre[cells], form.generators[cells], form.error[cells]
        absolute = self.coefficients.abs()
        sizes = centre.abs() + generators.abs().sum(dim=1) + error
        self._add(self.coefficients * centre)
        slopes = torch.einsum("pnk,pdnk->pd", self.coefficients, generators)
        terms = 2 * (sizes[0].numel() + 32) * UNIT
        lost = self.loss + _total(absolute * sizes) * terms
        reach = slopes.abs().sum(dim=1) + _total(absolute * error) + lost
        bound = self.constant - reach * (1 + 1e-10)
        return bound - self.constant.abs() * ROUNDING, slopes


def _total(values: Tensor) -> Tensor:
    return values.flatten(1).sum(dim=1)


def margins_backwards(
    network: Network, trace: Trace, cells: Tensor, label: int, rivals: Tensor
) -> tuple[Tensor, Tensor]:
    """Lower bounds (P,) of logit[label] - logit[rival] over cells (P,), and their slopes along parameters (P, d)."""
    output = network.output
    # Both logits are evaluated, then compared: each loses what its own layer loses.
    lengths, biases = torch.linalg.vector_norm(output.weight, dim=0), output.bias.abs()
    lost = (lengths[label] + lengths[rivals]) * trace.head[-1].size[cells] + biases[label] + biases[rivals]
    descent = Descent(
        (output.weight[:, label, None] - output.weight[:, rivals]).T,
        output.bias[label] - output.bias[rivals],
        lost * (4 * (len(output.weight) + 32) * UNIT),
    )
    for number in reversed(range(len(network.head))):
        descent.through_relu(trace.head[number][cells])
        before = trace.head[number - 1].size[cells] if number else _pool_size(trace, network)[cells]
        descent.through_layer(network.head[number], before)
    if network.pool_relu:
        descent.through_relu(trace.pool[cells])
    descent.through_max(trace, cells, network.pool)
    for number in reversed(range(len(network.points))):
        descent.through_relu(trace.points[number][cells])
        before = trace.points[number - 1].size[cells] if number else _input_size(trace.form)[cells]
        descent.through_layer(network.points[number], before)
    return descent.at_input(trace.form, cells)


def _pool_size(trace: Trace, network: Network) -> Tensor:
    if network.pool_relu:
        return trace.pool.size
    ends = torch.maximum(trace.pool_lower.abs(), trace.pool_upper.abs())
    return _length(ends)


def _input_size(form: InputForm) -> Tensor:
    lower, upper = form.box
    return _length(torch.maximum(lower.abs(), upper.abs()))


def _length(values: Tensor) -> Tensor:
    """The Euclidean length along the last axis, rounded up."""
    length: Tensor = torch.linalg.vector_norm(values, dim=-1)
    return length * (1 + 1e-12)
