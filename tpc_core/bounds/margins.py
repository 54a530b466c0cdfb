"""Lower ends of a class's margins over cells: forward by affine forms, then backwards where that is not enough."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.affine import GROWTH, Rows, max_over_points, relu, rows_of, through
from tpc_core.bounds.backward import Forward, HeadTrace, PointTrace, head_margins, input_margins
from tpc_core.bounds.network import Dense, Network
from tpc_core.transforms.forms import TINY, InputForm


@dataclass(frozen=True)
class CellMargins:
    """What is known of M cells of a classifier.

    lower (M,): no rival comes nearer than this anywhere in the cell. middle (M,): the margin to first order at the
    centre, not a bound. slopes (M, d): how the nearest rival's margin changes towards the cell's upper ends, nearly.
    """

    lower: Tensor
    middle: Tensor
    slopes: Tensor


HOPELESS = 10.0
"""A cell whose forward bound is this many margins below zero is split without a backward pass, which would hardly ever
mend that; halving does. Tried on 20 objects, z-rotation and z-twist+z-rotation: mean cells 110 and 579 at 2, 86 and 332
at 5, 77 and 288 at 20, for as much processor time at 20 as at 5; 10 itself was not among them."""


@torch.inference_mode()
def classifier_margins(network: Network, form: InputForm, label: int) -> CellMargins:
    """The margins of one class against its nearest rival, over every cell."""
    forward, features = forward_pass(network, form)
    rivals = torch.tensor([k for k in range(network.classes) if k != label])
    margins = margin_rows(network.output, features, label, rivals)
    lower, _ = margins.ends()
    worst, column = lower.min(dim=1)
    middle = margins.centre.amin(dim=1)
    slopes = margins.linear[1:, torch.arange(len(form)), column].T.contiguous()
    hopeful = torch.nonzero((worst <= 0) & (worst > -HOPELESS * middle)).flatten()
    if len(hopeful):
        _sharpen(network, forward, hopeful, lower, slopes, label, rivals)
    return CellMargins(lower.amin(dim=1), middle, slopes)


def forward_pass(network: Network, form: InputForm) -> tuple[Forward, Rows]:
    """What the forward pass finds on its way, and the forms that enter the last layer of a classifier."""
    cells, count = form.centre.shape[:2]
    rows = rows_of(form)
    points, head = [], []
    for layer in network.points:
        rows = through(layer, rows)
        lower, upper = rows.ends()
        points.append((lower.view(cells, count, -1), upper.view(cells, count, -1)))
        rows = relu(rows)
    pooled = max_over_points(network.pool, rows, count)
    entering = features = relu(pooled.rows) if network.pool_relu else pooled.rows
    for layer in network.head:
        features = through(layer, features)
        head.append(features.ends())
        features = relu(features)
    return Forward(form, points, pooled, head, entering), features


def _sharpen(
    network: Network,
    forward: Forward,
    cells: Tensor,
    lower: Tensor,
    slopes: Tensor,
    label: int,
    rivals: Tensor,
) -> None:
    """Raise the bounds (M, V) of some cells by backward passes: through the head for all rivals at once, then to the
    input for the worst of those still not proved, and for the others where it passed.
    """
    head = HeadTrace.of(forward, cells)
    lower[cells] = torch.maximum(lower[cells], head_margins(network, head, label, rivals))
    places = torch.nonzero(lower[cells].amin(dim=1) <= 0).flatten()
    points = PointTrace.of(forward, cells[places])
    for number, place in enumerate(places.tolist()):
        bounds = lower[cells[place]]
        traces = head.cell(place), points.cell(number)
        column = bounds.argmin()
        found, slope = input_margins(network, *traces, label, rivals[column][None])
        bounds[column] = torch.maximum(found[0, 0], bounds[column])
        slopes[cells[place]] = slope[0, 0]
        others = torch.nonzero(bounds <= 0).flatten()
        if found[0, 0] > 0 and len(others):
            found, _ = input_margins(network, *traces, label, rivals[others])
            bounds[others] = torch.maximum(found[0], bounds[others])


def margin_rows(output: Dense, features: Rows, label: int, rivals: Tensor) -> Rows:
    """logit[label] - logit[rival] for every rival, the last layer merged with the difference.

    Both logits are evaluated, and rounded, before they are compared; so rounding is of |w_label| + |w_rival|.
    """
    weight = output.weight[:, label, None] - output.weight[:, rivals]
    linear = torch.matmul(features.linear, weight)
    linear[0] += output.bias[label] - output.bias[rivals]
    both = output.absolute[:, label, None] + output.absolute[:, rivals]
    size = features.linear.abs().sum(dim=0) + features.error
    lost = torch.addmm(output.bias[label].abs() + output.bias[rivals].abs(), size, both)
    error = features.error @ weight.abs() + output.rounding * lost
    return Rows(linear, error * GROWTH + TINY)
