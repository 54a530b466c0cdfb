"""What will a certificate cost? An estimate before the first vote, from the geometry of the cloud alone."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.certify import DEFAULTS, Options, prepare
from tpc_core.certify.cover import build_tree, planned_votes
from tpc_core.certify.paper import grid_resolution
from tpc_core.cloud import Cloud
from tpc_core.covers import PathLevels, PriceList
from tpc_core.covers.paper import SAMPLES, cell_count
from tpc_core.transforms import RadiusInput, Transform
from tpc_core.votes import BaseClassifier


@dataclass(frozen=True)
class Estimate:
    """Cells and votes that a run is expected to take; None where the search decides how far it goes."""

    cells: int
    samples: float | None


def estimate(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    p_a: float = 0.99,
) -> Estimate:
    """The expected cost if p_A is about `p_a` all over the region. No vote is cast; bad input is refused."""
    run, strategy = prepare(model, cloud, transform, radius, options)
    if strategy.kind != "cover":
        first = run.monitor.sizes[0]
        return Estimate(1, float(options.select_samples + first))
    if run.largest:
        return Estimate(0, None)
    if options.protocol == "paper":
        resolution = grid_resolution(run, options.resolution)
        cells = cell_count(run.transform, run.radii, resolution)
        return Estimate(cells, float(cells * SAMPLES))
    tree = build_tree(run)
    prices = PriceList(run.monitor, PathLevels.falling(tree.ranks), run.alpha, tree.region.dim)
    cells, votes = planned_votes(tree, prices, lambda _: p_a)
    return Estimate(cells, options.select_samples + votes)
