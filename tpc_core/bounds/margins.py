"""Lower ends of a class's margins over cells: forward by affine forms, then backwards where that is not enough."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.affine import GROWTH, Rows, max_over_points, relu, rows_of, through
from tpc_core.bounds.backward import Forward, HeadTrace, PointTrace, head_margins, input_margins
from tpc_core.bounds.forms import TINY, InputForm
from tpc_core.bounds.network import Dense, Network


@dataclass(frozen=True)
class CellMargins:
    """What is known of M cells of a classifier.

    lower (M,): no rival comes nearer than this anywhere in the cell. middle (M,): the margin to first order at the
    centre, not a bound. slopes (M, d): how the nearest rival's margin changes towards the cell's upper ends, nearly.
    """

    lower: Tensor
    middle: Tensor
    slopes: Tensor


@torch.inference_mode()
def classifier_margins(
    network: Network, form: InputForm, label: int, *, backwards: bool = True
) -> CellMargins:
    """The margins of one class against its nearest rival, over every cell."""
    cells, count = form.centre.shape[:2]
    rows = rows_of(form)
    points = []
    for layer in network.points:
        rows = through(layer, rows)
        lower, upper = rows.ends()
        points.append((lower.view(cells, count, -1), upper.view(cells, count, -1)))
        rows = relu(rows)
    pooled = max_over_points(network.pool, rows, count)
    features = pooled_features = relu(pooled.rows) if network.pool_relu else pooled.rows
    head = []
    for layer in network.head:
        features = through(layer, features)
        head.append(features.ends())
        features = relu(features)
    rivals = torch.tensor([k for k in range(network.classes) if k != label])
    margins = margin_rows(network.output, features, label, rivals)
    lower, _ = margins.ends()
    slopes = margins.linear[1:, torch.arange(cells), lower.argmin(dim=1)].T.contiguous()
    if backwards:
        lower, slopes = _sharpened(
            network, Forward(form, points, pooled, head, pooled_features), lower, slopes, label, rivals
        )
    return CellMargins(lower.amin(dim=1), margins.centre.amin(dim=1), slopes)


def _sharpened(
    network: Network, forward: Forward, lower: Tensor, slopes: Tensor, label: int, rivals: Tensor
) -> tuple[Tensor, Tensor]:
    """The bounds with backward passes: through the head for all rivals, to the input for those still not proved.

    To the input, the worst rival goes first; the others only where it passed.
    """
    cells = torch.nonzero(lower.amin(dim=1) <= 0).flatten()
    if len(cells) == 0:
        return lower, slopes
    head = HeadTrace.of(forward, cells)
    lower[cells] = torch.maximum(lower[cells], head_margins(network, head, label, rivals))
    points = PointTrace.of(forward, cells)
    for number, cell in enumerate(cells.tolist()):
        worst, column = lower[cell].min(dim=0)
        if worst > 0:
            continue
        traces = head.cell(number), points.cell(number)
        found, slope = input_margins(network, *traces, label, rivals[column][None])
        lower[cell, column] = torch.maximum(found[0, 0], worst)
        slopes[cell] = slope[0, 0]
        others = torch.nonzero(lower[cell] <= 0).flatten()
        if found[0, 0] > 0 and len(others):
            found, _ = input_margins(network, *traces, label, rivals[others])
            lower[cell, others] = torch.maximum(found[0], lower[cell, others])
    return lower, slopes


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
