"""Groups of near-copies in a data set, so that what is kept aside has no twin among what is trained on.

ModelNet40 holds many objects twice or more, scaled or turned a little. A part kept aside at random then measures
memory as well as skill. Here objects whose smoothed occupancies nearly agree form a group, and whole groups are kept
aside.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor

GRID = 6
"""Places along each axis at which the occupancy is read."""

REACH = 0.15
"""Standard deviation of the blur, in units of the cloud's radius."""

NEAR = 0.07
"""Occupancies of unit norm that are nearer than this are near-copies; the median of nearest neighbours is 0.12."""

BLOCK = 256
"""Clouds that are compared at once."""


def occupancies(points: Tensor) -> Tensor:
    """How much of each cloud lies around each place of a grid, blurred, of unit norm; (M, N, 3) -> (M, G, G, G)."""
    places = torch.linspace(-0.85, 0.85, GRID)
    found = []
    for block in points.split(BLOCK):
        along = torch.exp(-(block.unsqueeze(3) - places).square() / (2 * REACH**2))
        plane = (along[:, :, 0, :, None] * along[:, :, 1, None, :]).flatten(2)
        found.append(plane.transpose(1, 2) @ along[:, :, 2])
    grids = torch.cat(found).view(-1, GRID, GRID, GRID)
    unit: Tensor = grids / grids.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    return unit


def similar_groups(points: Tensor) -> NDArray[np.int64]:
    """The number of each cloud's group: near-copies, mirrored and turned by quarters, and their near-copies."""
    grids = occupancies(points)
    flat = grids.flatten(1)
    images = [
        torch.rot90(side, quarter, (1, 2)).flatten(1)
        for side in (grids, grids.flip(1))
        for quarter in range(4)
    ]
    closest = 1 - NEAR**2 / 2  # |a - b|^2 = 2 - 2 ab for unit vectors
    pairs = []
    for low in range(0, len(flat), BLOCK):
        rows = flat[low : low + BLOCK]
        agreement = torch.stack([rows @ image.T for image in images]).amax(dim=0)
        pairs.append((agreement > closest).nonzero() + torch.tensor([low, 0]))
    first, second = torch.cat(pairs).T.numpy()
    links = coo_matrix((np.ones(len(first)), (first, second)), shape=(len(flat), len(flat)))
    _, group = connected_components(links, directed=False)
    return np.asarray(group, dtype=np.int64)


def groups_aside(group: NDArray[np.int64], labels: NDArray[np.int64], every: int) -> NDArray[np.bool_]:
    """Whole groups in a fixed random order, as long as no class gives more than one object in `every`."""
    kept = np.zeros(len(labels), dtype=np.bool_)
    left = np.bincount(labels) // every
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    for number in np.random.default_rng(0).permutation(len(members)):
        asked = np.bincount(labels[members[number]], minlength=len(left))
        if np.all(asked <= left):
            kept[members[number]] = True
            left -= asked
    return kept
