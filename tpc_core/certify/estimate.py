"""What will a certificate cost? An estimate before the first vote, from the geometry of the cloud alone."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.certify.cover import planned_votes as cover_votes
from tpc_core.certify.prepare import prepare
from tpc_core.certify.whole import LARGEST_SAMPLES, POINT_SAMPLES
from tpc_core.certify.whole import planned_votes as whole_votes
from tpc_core.cloud import Cloud
from tpc_core.covers import Prices
from tpc_core.covers.paper import SAMPLES, SINGLE_SAMPLES, cell_count
from tpc_core.ledger.selection import SELECTION
from tpc_core.proofs import CoverProof, GridProof, PointProof
from tpc_core.question import DEFAULTS, Options
from tpc_core.transforms import RadiusInput, Transform
from tpc_core.votes import BLOCK, BaseClassifier

LISTED = 2048
"""First cells that an estimate looks at one by one: of larger covers it takes some, since 200,000 hold a page up for
minutes."""

USUAL = 0.995
"""The p_A that is expected before any vote. Of 41 certificates of gallery objects at their proposed radii all took
between half and twice the votes that it gives; with 0.99 as p_A, 18 took less than half."""


@dataclass(frozen=True)
class Estimate:
    """Cells and votes that a run is expected to take; None where the search decides how far it goes."""

    cells: int
    samples: float | None
    at_most: bool = False
    """Whether it is a limit: how many parts there are to prove is known only at the end."""


def estimate(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    p_a: float = USUAL,
) -> Estimate:
    """The expected cost if p_A is about `p_a` all over the region. No vote is cast; bad input is refused."""
    run = prepare(model, cloud, transform, radius, options)
    proof = run.proof
    if isinstance(proof, GridProof):
        cells = cell_count(run.claim.transform, run.claim.radii, proof.resolution)
        return Estimate(cells, float(BLOCK + cells * SAMPLES))
    if isinstance(proof, CoverProof):
        if options.largest:
            return Estimate(0, None)
        count = proof.lattice.count_first_cells(proof.region)
        if count > run.cell_limit:
            return Estimate(count, None)
        prices = Prices(proof.alpha, proof.region.dim)
        return Estimate(count, BLOCK + planned_cover_votes(proof, prices, count, p_a))
    if options.protocol == "paper":
        return Estimate(1, float(BLOCK + SINGLE_SAMPLES))
    if isinstance(proof, PointProof):
        chosen, _ = SELECTION["segmentation"][-1]
        return Estimate(1, float(options.budget.samples or chosen + POINT_SAMPLES), at_most=True)
    votes = (
        float(LARGEST_SAMPLES) if options.largest else whole_votes(run.claim.threshold, options.alpha, p_a)
    )
    return Estimate(1, BLOCK + votes)


def planned_cover_votes(proof: CoverProof, prices: Prices, count: int, p_a: float = USUAL) -> float:
    """About how many votes a cover of so many first cells takes, by some of them where there are many."""
    cells = proof.first_cells if count <= LISTED else proof.lattice.first_cells(proof.region, LISTED)
    return cover_votes(prices, cells, p_a) * count / max(1, len(cells))
