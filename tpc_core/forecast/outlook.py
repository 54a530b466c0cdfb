"""Is a radius likely to be certified? What the votes of a landscape say of it, before a run and for nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import spatial

from tpc_core.covers.lattice import MOST_FIRST_CELLS
from tpc_core.errors import TpcError
from tpc_core.forecast.nearby import between, posterior
from tpc_core.forecast.remaining_cost import cover_cost, sample_cost
from tpc_core.landscape import Landscape
from tpc_core.proofs import Claim, CoverProof
from tpc_core.smoothing import Cover, OneProbability
from tpc_core.votes import BLOCK

Chance = Literal["likely", "borderline", "hopeless"]

_LOW, _MIDDLE, _HIGH = 0.1, 0.5, 0.9
_MOST_CELLS = 2048
_NEIGHBOURS = 5


@dataclass(frozen=True)
class Outlook:
    """What to expect of one radius."""

    chance: Chance
    votes: float
    """Votes that the run is expected to take, the first ones that choose the class among them; infinite where it would
    not end."""


def outlook(landscape: Landscape, claim: Claim, patience: int = 300_000) -> Outlook:
    """Likely where even a careful reading of the votes would do, hopeless where not even a hopeful one would."""
    low, middle, high = (_votes(landscape, claim, quantile, patience) for quantile in (_LOW, _MIDDLE, _HIGH))
    if math.isfinite(low):
        return Outlook("likely", middle)
    return Outlook("borderline" if math.isfinite(high) else "hopeless", middle)


def outlooks(landscape: Landscape, claim: Claim, parts: Sequence[float]) -> list[Outlook]:
    """The same for parts of a claim's radii, in growing order; beyond a hopeless one all are."""
    found: list[Outlook] = []
    for part in parts:
        if found and found[-1].chance == "hopeless":
            found.append(found[-1])
            continue
        smaller = replace(claim, radii=tuple(part * r for r in claim.radii))
        try:
            found.append(outlook(landscape, smaller))
        except TpcError:  # the region itself makes no sense this large
            found.append(Outlook("hopeless", math.inf))
    return found


def _votes(landscape: Landscape, claim: Claim, quantile: float, patience: int) -> float:
    rule = claim.rule
    if isinstance(rule, Cover):
        return _cover_votes(landscape, claim, quantile, patience)
    middle = int(np.argmin(np.linalg.norm(landscape.nodes.places, axis=1)))
    if not landscape.n[middle]:
        return math.nan
    # Uniform smoothing says the same at every node; of other kinds only the object itself counts.
    alone = isinstance(rule, OneProbability)
    n = int(landscape.n[middle] if alone else landscape.n.sum())
    k = int(landscape.n_a[middle] if alone else landscape.n_a.sum())
    votes = sample_cost(posterior(n, k, quantile), claim.threshold, claim.alpha)
    return BLOCK + votes if votes <= patience else math.inf


def _cover_votes(landscape: Landscape, claim: Claim, quantile: float, patience: int) -> float:
    cover = CoverProof(claim)
    if cover.lattice.count_first_cells(cover.region) > min(_MOST_CELLS, MOST_FIRST_CELLS):
        return math.inf
    asked = np.flatnonzero(landscape.asked)
    if not len(asked):
        return math.nan
    places = landscape.chart.z(landscape.nodes.places[asked])
    n, n_a = landscape.n[asked], landscape.n_a[asked]
    if quantile == _MIDDLE:
        n, n_a = _with_neighbours(places / cover.region.half_widths, n, n_a)
    values = np.array([posterior(int(a), int(b), quantile) for a, b in zip(n, n_a, strict=True)])
    cells = cover.first_cells
    looks = between(places, values, cover.region.half_widths)(np.array([cell.centre for cell in cells]))
    return BLOCK + cover_cost(cover, looks, cells, patience)


def _with_neighbours(
    places: NDArray[np.float64], n: NDArray[np.int64], n_a: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The votes of each place and of those next to it: 32 votes alone cannot tell 0.98 from 1, which costs a third."""
    near = [*range(1, min(_NEIGHBOURS, len(places)) + 1)]
    _, index = spatial.cKDTree(places).query(places, k=near)
    return n[index].sum(axis=1), n_a[index].sum(axis=1)
