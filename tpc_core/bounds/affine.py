"""Affine forms through the layers of a network: linear layers exactly, ReLU and max with what they cost.

Rows hold the centre and the d generators side by side, (d + 1, R, K), so that one matrix product serves them all; the
error (R, K) has one of its own, with |weight|. Every step leaves room for the rounding of the bounds themselves and of
a network evaluated in float64 (docs/theory.md, "Certain answers").
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from tpc_core.bounds.network import Dense
from tpc_core.transforms.forms import TINY, UNIT, UPWARDS, InputForm

ROUNDING = 64 * UNIT
UNIT_SINGLE = 2.0**-24
"""The relative error of one rounding to float32; the weights are float32 numbers themselves."""
TINY_SINGLE = 1e-30
"""Makes up for products that underflow in float32."""
GROWTH = 1 + 1e-10
"""Makes up for the rounding of a product of non-negative numbers, (n + 8) 2^-53 for any width here."""


@dataclass(frozen=True)
class Rows:
    """Affine forms of R x K numbers: linear (d + 1, R, K) = centre and generators; error (R, K)."""

    linear: Tensor
    error: Tensor

    @property
    def centre(self) -> Tensor:
        return self.linear[0]

    def reach(self) -> Tensor:
        """The sum of the generators' absolute values (R, K), rounded up."""
        generators = self.linear[1:]
        if len(generators) == 0:
            return torch.zeros_like(self.error)
        if len(generators) == 1:
            return generators[0].abs()
        return generators.abs().sum(dim=0).mul_(UPWARDS)

    def ends(self) -> tuple[Tensor, Tensor]:
        """The lower and upper ends (R, K), rounded outwards."""
        radius = (self.reach() + self.error).mul_(UPWARDS)
        radius.add_(self.centre.abs(), alpha=4 * UNIT)
        return self.centre - radius, self.centre + radius


def rows_of(form: InputForm) -> Rows:
    """The points of all cells below each other: R = M N."""
    cells, count = form.centre.shape[:2]
    linear = torch.cat([form.centre.unsqueeze(1), form.generators], dim=1)
    linear = linear.transpose(0, 1).reshape(-1, cells * count, 3)
    return Rows(linear, form.error.reshape(-1, 3))


def through(layer: Dense, rows: Rows) -> Rows:
    """The linear layer: exact but for rounding, which the error takes along (its product is needed anyway)."""
    linear = rows.linear
    out = torch.matmul(linear, layer.weight)
    out[0] += layer.bias
    # (1 + kappa) error + kappa (|centre| + generators), kappa = what rounding may lose.
    error = torch.add(rows.error, linear.abs().sum(dim=0).add_(rows.error), alpha=layer.rounding)
    spread = torch.addmm(layer.rounding * layer.bias.abs(), error, layer.absolute)
    return Rows(out, spread.mul_(GROWTH).add_(TINY))


def relu(rows: Rows) -> Rows:
    """ReLU by the line that leaves least, given that part of a number depends on the parameters and part does not.

    A number is t + rest with t in [below, above] first order in the parameters and |rest| <= error. Whatever the slope
    s in [0, 1], ReLU(t + rest) - s t lies between ReLU(t* - error) - s t*, t* = error cut to [below, above] (convex in
    t, least at its kink), and the larger of its values at the two ends (convex in t). The slope is the chord of
    ReLU(t + error); it is zero where the rest outweighs t, which leaves no more and keeps no generators.
    """
    centre, error, reach = rows.centre, rows.error, rows.reach()
    below, above = centre - reach, centre + reach
    high, low = torch.relu(above + error), torch.relu(below + error)
    slope = ((high - low) / (2 * reach).clamp_min_(TINY)).clamp_(0, 1)
    slope.masked_fill_(above < error, 0.0)
    top = torch.maximum(low - slope * below, high - slope * above)
    kink = torch.minimum(torch.maximum(error, below), above)
    bottom = torch.relu(kink - error) - slope * kink
    linear = rows.linear * slope
    linear[0] += (top + bottom) / 2
    spare = (centre.abs() + reach + error).mul_(ROUNDING)
    return Rows(linear, ((top - bottom) / 2).clamp_min_(0).add_(spare).add_(TINY))


@dataclass(frozen=True)
class Pooled:
    """The max over points of the wide layer, with what a backward pass needs of it; all (M, C) but `rows`."""

    rows: Rows
    chosen: Tensor
    """The point whose lower end is largest: the max is at least it."""
    excess: Tensor
    """By how much another point can exceed the chosen one, anywhere in the cell; not negative."""
    lower: Tensor
    upper: Tensor


@dataclass(frozen=True)
class _Single:
    """Generators and error of rows in float32, for a product that is twice as fast; its rounding is in the error.

    Generators are small where cells are, and the loss is relative to them; the centre stays in float64.
    """

    generators: Tensor
    error: Tensor
    growth: float
    """What the product of the error must be multiplied by afterwards."""

    @staticmethod
    def of(layer: Dense, rows: Rows) -> _Single:
        reach = rows.linear[1:].abs().sum(dim=0)
        size = (rows.centre.abs() + reach).add_(rows.error)
        lost = (layer.terms + 16) * UNIT_SINGLE
        error = torch.add(rows.error, size, alpha=layer.rounding).add_(reach, alpha=2 * lost)
        upwards = error.mul_(1 + 4 * UNIT_SINGLE).add_(TINY_SINGLE).float()
        return _Single(rows.linear[1:].float(), upwards, 1 + 2 * lost)


def max_over_points(layer: Dense, rows: Rows, count: int, columns: int = 256) -> Pooled:
    """The wide layer and the max over the points of every cell: x_i + [0, max_j sup(x_j - x_i)].

    The generators of x_j and x_i cancel in the difference. Where the plain interval of the max leaves no more than
    this does, the interval is taken. A few columns at a time, so that the wide activation stays in the cache.
    """
    linear = rows.linear
    single = _Single.of(layer, rows)
    pieces = []
    for start in range(0, layer.weight.shape[1], columns):
        part = slice(start, start + columns)
        out = linear.new_empty(len(linear), linear.shape[1], len(layer.bias[part]))
        torch.addmm(layer.bias[part], linear[0], layer.weight[:, part], out=out[0])
        out[1:] = torch.matmul(single.generators, layer.single[:, part])
        spread = torch.matmul(single.error, layer.single[:, part].abs()).double()
        spread.mul_(single.growth).add_(layer.bias[part].abs(), alpha=layer.rounding)
        pieces.append(_max(Rows(out, spread.mul_(GROWTH).add_(TINY_SINGLE)), count))
    return Pooled(
        Rows(
            torch.cat([p.rows.linear for p in pieces], dim=2),
            torch.cat([p.rows.error for p in pieces], dim=1),
        ),
        *(torch.cat([getattr(p, n) for p in pieces], dim=1) for n in ("chosen", "excess", "lower", "upper")),
    )


def _max(rows: Rows, count: int) -> Pooled:
    width = rows.error.shape[1]
    shape = (-1, count, width)
    lower, upper = (end.view(shape) for end in rows.ends())
    # As a channels-last image of height N: max_pool2d is vectorised over channels, Tensor.max is not.
    image = lower.unsqueeze(2).permute(0, 3, 1, 2)
    best, index = F.max_pool2d(image, (count, 1), return_indices=True)
    best, chosen = best.flatten(1), index.flatten(1)
    linear = rows.linear.view(len(rows.linear), *lower.shape)
    error = rows.error.view(shape)
    at = chosen.unsqueeze(1)
    picked = linear.gather(2, at.expand(len(linear), -1, -1, -1))
    own = error.gather(1, at)
    difference = linear - picked
    above = difference[0]
    for generator in difference[1:]:
        above += generator.abs_()
    above += error
    above.scatter_(1, at, -torch.inf)
    most = upper.amax(dim=1)
    own = own.squeeze(1)
    # Rounding of the difference: a few operations on numbers no larger than the largest end.
    scale = torch.maximum(most.abs(), lower.amin(dim=1).abs())
    excess = (above.amax(dim=1) + own).mul_(GROWTH) if count > 1 else torch.zeros_like(own)
    excess = (excess + ROUNDING * scale).clamp_min_(0)
    picked = picked.squeeze(2)
    half = excess / 2
    linear_out = picked.clone()
    linear_out[0] += half
    error_out = (own + half) * UPWARDS + ROUNDING * scale
    flat = (most - best) / 2
    plain = flat <= error_out
    linear_out *= ~plain
    linear_out[0] += torch.where(plain, (most + best) / 2, 0.0)
    error_out = torch.where(plain, flat * UPWARDS + ROUNDING * scale, error_out)
    return Pooled(Rows(linear_out, error_out + TINY), chosen, excess, best, most)
