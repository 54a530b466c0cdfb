"""Bounds laid open: the form of one neuron over a cell of tapers, and the margins of the whole network cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.bounds.affine import Rows, relu, rows_of, through
from tpc_core.bounds.margins import classifier_margins
from tpc_core.bounds.network import Network
from tpc_core.transforms import Taper

Array = NDArray[np.float64]
PLACES = 161


@dataclass(frozen=True)
class NeuronForm:
    """One neuron of the first layer over a cell of parameters: what it really is, and the form that holds it.

    ReLU(x) lies between slope * x + shift - error and slope * x + shift + error everywhere in the cell.
    """

    number: int
    """Counted over all points."""
    low: float
    high: float
    places: Array
    before: Array
    """x, which is linear in the parameter."""
    after: Array
    """ReLU(x)."""
    slope: float
    shift: float
    error: float

    @property
    def middle(self) -> Array:
        """The line in the middle of the form."""
        return self.slope * self.before + self.shift

    @property
    def kinks(self) -> bool:
        """Whether the neuron switches on or off inside of the cell; otherwise its form loses nothing."""
        return bool(self.before.min() < 0 < self.before.max())


@dataclass(frozen=True)
class MarginForms:
    """The margin of a class over a region: as it is, and what is proved of it in each of M cells."""

    places: Array
    margins: Array
    """The network's own, at every place."""
    edges: Array
    """(M + 1,)."""
    bounds: Array
    """(M,): nowhere in its cell is the margin smaller."""

    @property
    def proved(self) -> NDArray[np.bool_]:
        """The cells in which the class is certain."""
        return np.asarray(self.bounds > 0)

    def cell_of(self, place: float) -> int:
        """The number of the cell that holds a parameter."""
        return int(np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, len(self.bounds) - 1))


def bending_neuron(network: Network, points: torch.Tensor, low: float, high: float) -> NeuronForm:
    """Over the tapers between low and high: the neuron of the first layer whose form loses most, of all points."""
    entering = _first_layer(network, points, low, high)
    leaving = relu(entering)
    neuron = int(leaving.error.argmax())
    places = np.linspace(low, high, PLACES)
    eps = np.linspace(-1.0, 1.0, PLACES)
    centre, generator = (float(entering.linear[k].flatten()[neuron]) for k in range(2))
    before = centre + generator * eps
    out_centre, out_generator = (float(leaving.linear[k].flatten()[neuron]) for k in range(2))
    slope = out_generator / generator if generator else 0.0
    shift, error = out_centre - slope * centre, float(leaving.error.flatten()[neuron])
    return NeuronForm(neuron, low, high, places, before, np.maximum(before, 0.0), slope, shift, error)


def margin_forms(
    network: Network, points: torch.Tensor, radius: float, count: int, label: int
) -> MarginForms:
    """The margin of a class under every taper within the radius, and its bounds in `count` equal cells."""
    edges = np.linspace(-radius, radius, count + 1)
    low, high = (torch.from_numpy(side[:, None].copy()) for side in (edges[:-1], edges[1:]))
    bounds = classifier_margins(network, Taper().form(points, low, high), label).lower.numpy()
    places = np.linspace(-radius, radius, PLACES)
    logits = network.evaluate(Taper().apply(points.double(), torch.from_numpy(places[:, None].copy())))
    rivals = logits.clone()
    rivals[:, label] = -torch.inf
    return MarginForms(places, (logits[:, label] - rivals.amax(dim=1)).numpy(), edges, bounds)


def _first_layer(network: Network, points: torch.Tensor, low: float, high: float) -> Rows:
    """What enters the ReLU of the first layer, for every point."""
    form = Taper().form(points, *(torch.tensor([[edge]], dtype=torch.float64) for edge in (low, high)))
    return through(network.points[0], rows_of(form))
