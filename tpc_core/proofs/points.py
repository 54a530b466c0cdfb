"""Part segmentation: the same proofs, one for every point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tpc_core.ledger import WHOLE, Ledger
from tpc_core.proofs.base import CellStanding, PointStanding, Standing
from tpc_core.proofs.whole import WholeProof
from tpc_core.smoothing import TopClass
from tpc_core.statistics import log_e, needed_log_e
from tpc_core.votes import BLOCK


class PointProof(WholeProof):
    """Each point keeps its part at level alpha, and so do all together; a joint claim about some takes alpha / N."""

    kind = "points"

    def standing(self, ledger: Ledger) -> Standing:
        count, alpha, threshold = len(self.claim.cloud), self.claim.alpha, self.claim.threshold
        chosen, tally = ledger.chosen, ledger.tally(WHOLE)
        if chosen is None:
            return Standing(False, (), PointStanding((), (False,) * count, (False,) * count))
        hits = np.cumsum(_of_points(tally.blocks, chosen), axis=0)
        totals = np.asarray(BLOCK * np.arange(1, tally.size + 1), dtype=np.int64)
        best = self._evidence(tally.blocks, hits, totals, chosen)
        passed = best >= needed_log_e(alpha)
        jointly = best >= needed_log_e(alpha / count)
        cells = tuple(
            CellStanding(
                str(point), "point", "passed" if passed[point] else "open" if tally.n else "untested", threshold, alpha,
                hits[:, point], totals,
            )
            for point in range(count)
        )  # fmt: skip
        points = PointStanding(tuple(map(int, chosen)), tuple(map(bool, passed)), tuple(map(bool, jointly)))
        return Standing(bool(passed.all()), cells, points)

    def largest_part(self, ledger: Ledger) -> float:
        return 1.0 if self.standing(ledger).certified else 0.0

    def _evidence(
        self,
        blocks: NDArray[np.uint8],
        hits: NDArray[np.int64],
        totals: NDArray[np.int64],
        chosen: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """The best ln E of every point, over all readings; against the strongest rival for a group."""
        if not len(blocks):
            return np.full(len(chosen), -np.inf)
        threshold = self.claim.threshold
        if not isinstance(self.claim.rule, TopClass):
            values = log_e(hits, totals[:, None], threshold.q, threshold.complement)
            return np.asarray(np.max(values, axis=0))
        counts = np.cumsum(blocks.astype(np.int64), axis=0)
        both = hits[..., None] + counts
        best = np.max(log_e(np.broadcast_to(hits[..., None], both.shape), both, 0.5), axis=0)
        best[np.arange(len(chosen)), chosen] = np.inf
        return np.asarray(np.min(best, axis=-1))


def _of_points(blocks: NDArray[np.uint8], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The votes (blocks, N) of each point for its own part."""
    return np.asarray(blocks[:, np.arange(len(chosen)), chosen], dtype=np.int64)
