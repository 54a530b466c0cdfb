"""The lesson on bounds shows real ones: nothing leaves the band of a neuron, no margin falls below its cell's level."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import torch

from tpc_core import load_model, load_object
from tpc_core.exact import Network, network_of
from tpc_core.teaching import bending_neuron, margin_forms
from tpc_core.transforms import Taper

POINTS = load_object("gallery:chair-1", points=64).points


@lru_cache
def network() -> Network:
    return network_of(load_model("pointnet64-noise").module)


def label() -> int:
    return int(network().evaluate(POINTS[None])[0].argmax())


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.5), (-0.1, 0.4), (0.2, 0.25)])
def test_the_neuron_stays_in_its_band_and_is_the_network_own(low: float, high: float) -> None:
    neuron = bending_neuron(network(), POINTS, low, high)
    assert bool((np.abs(neuron.after - neuron.middle) <= neuron.error * (1 + 1e-9) + 1e-12).all())
    moved = Taper().apply(POINTS.double(), torch.from_numpy(neuron.places[:, None].copy()))
    real = torch.relu(network().points[0](moved.reshape(-1, 3))).view(len(neuron.places), -1)[
        :, neuron.number
    ]
    assert np.allclose(real.numpy(), neuron.after, atol=1e-12)


def test_narrower_cells_lose_less() -> None:
    wide, narrow = (bending_neuron(network(), POINTS, 0.0, width) for width in (0.4, 0.05))
    assert wide.kinks
    assert 0 < narrow.error < wide.error / 4


@pytest.mark.parametrize("count", [2, 8, 12])
def test_no_margin_falls_below_the_level_of_its_cell(count: int) -> None:
    forms = margin_forms(network(), POINTS, 0.5, count, label())
    levels = np.array([forms.bounds[forms.cell_of(place)] for place in forms.places])
    assert bool((forms.margins >= levels).all())
    assert bool(forms.proved.all()) == (count == 12)
