"""Lower ends of every point's margins for a network that labels points: affine forms forward."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.affine import Rows, max_over_points, relu, rows_of, through
from tpc_core.bounds.margins import margin_rows
from tpc_core.bounds.network import Network
from tpc_core.transforms.forms import TINY, UNIT, InputForm


@dataclass(frozen=True)
class PointMargins:
    """lower (M, N): no rival of a point's part comes nearer anywhere in the cell; middle (M, N): about its centre.

    slopes (M, d, N): how the nearest rival's margin changes towards the cell's upper ends, to first order.
    """

    lower: Tensor
    middle: Tensor
    slopes: Tensor


@torch.inference_mode()
def point_margins(network: Network, form: InputForm, labels: Tensor) -> PointMargins:
    """The margins of every point's part, labels (N,), against its nearest rival, over every cell."""
    cells, count = form.centre.shape[:2]
    rows = _features(network, form)
    shape = (cells, count)
    lower = rows.error.new_empty(shape)
    middle, slopes = torch.empty_like(lower), rows.error.new_empty(len(rows.linear) - 1, *shape)
    for label in labels.unique().tolist():
        points = torch.nonzero(labels == label).flatten()
        chosen = (points + count * torch.arange(cells).unsqueeze(1)).flatten()
        rivals = torch.tensor([k for k in range(network.classes) if k != label])
        part = Rows(rows.linear[:, chosen], rows.error[chosen])
        margins = margin_rows(network.output, part, int(label), rivals)
        worst, column = margins.ends()[0].min(dim=1)
        lower[:, points] = worst.view(cells, -1)
        middle[:, points] = margins.centre.amin(dim=1).view(cells, -1)
        steep = margins.linear[1:].gather(2, column.expand(len(slopes), -1).unsqueeze(2))
        slopes[:, :, points] = steep.view(len(slopes), cells, -1)
    return PointMargins(lower, middle, slopes.transpose(0, 1))


def _features(network: Network, form: InputForm) -> Rows:
    """The forms that enter the last layer, of every point of every cell: R = M N."""
    assert network.joint is not None
    cells, count = form.centre.shape[:2]
    rows = local = rows_of(form)
    for number, layer in enumerate(network.points):
        rows = relu(through(layer, rows))
        if number + 1 == network.local:
            local = rows
    pooled = max_over_points(network.pool, rows, count).rows
    shared = through(network.joint[1], relu(pooled) if network.pool_relu else pooled)
    own = Rows(torch.cat([local.linear, rows.linear], dim=2), torch.cat([local.error, rows.error], dim=1))
    features = relu(_sum(through(network.joint[0], own), shared, cells, count))
    for layer in network.head[1:]:
        features = relu(through(layer, features))
    return features


def _sum(own: Rows, shared: Rows, cells: int, count: int) -> Rows:
    """Every point's own share and that of its cloud, together."""
    width = own.error.shape[1]
    linear = own.linear.view(-1, cells, count, width) + shared.linear.view(-1, cells, 1, width)
    error = own.error.view(cells, count, width) + shared.error.view(cells, 1, width)
    size = linear.abs().sum(dim=0) + error
    error = (error + size * (8 * UNIT)) * (1 + 1e-10) + TINY
    return Rows(linear.flatten(1, 2), error.flatten(0, 1))
