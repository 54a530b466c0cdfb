"""The pooled layer promises the values, gradients and running statistics of Linear + BatchNorm + max."""

from __future__ import annotations

import copy

import pytest
import torch

from tpc_core.models.pooled import PooledLayer, scatter_rows


@pytest.mark.parametrize(("clouds", "num_points"), [(5, 7), (1, 64), (9, 300), (3, 1)])
def test_same_values_and_gradients_as_the_written_out_layer(clouds: int, num_points: int) -> None:
    torch.manual_seed(0)
    layer = PooledLayer(16, 32).double()
    with torch.no_grad():  # scales of both signs: a negative one turns the max into a min
        layer.norm.weight.normal_()
        layer.norm.bias.normal_()
    plain = copy.deepcopy(layer)
    rows = torch.randn(clouds * num_points, 16, dtype=torch.float64, requires_grad=True)
    twin = rows.detach().clone().requires_grad_()

    pooled = layer(rows, num_points)
    expected = plain.norm(plain.linear(twin)).view(clouds, num_points, -1).amax(dim=1)
    torch.testing.assert_close(pooled, expected)

    weight = torch.randn_like(pooled)
    (pooled * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(rows.grad, twin.grad)
    for ours, theirs in zip(layer.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)
    torch.testing.assert_close(layer.norm.running_mean, plain.norm.running_mean)
    torch.testing.assert_close(layer.norm.running_var, plain.norm.running_var)


def test_scatter_rows_adds_what_meets_in_a_row() -> None:
    values = torch.tensor([[1.0, 2.0, 3.0]])
    weight = torch.eye(3)
    summed = scatter_rows(values, torch.tensor([[1, 1, 0]]), weight, 3)
    assert summed.tolist() == [[0, 0, 3], [1, 2, 0], [0, 0, 0]]
