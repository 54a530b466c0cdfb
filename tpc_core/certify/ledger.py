"""The ledger: where every part of alpha goes. Certifiers write it, `verify` writes it again and compares."""

from __future__ import annotations

from tpc_core.certificate.schema import LedgerEntry
from tpc_core.covers import PathLevels
from tpc_core.statistics import Monitor


def stage_ledger(monitor: Monitor, stages: int, alpha: float) -> list[LedgerEntry]:
    """One entry for each stage at which a bound was read."""
    return [
        LedgerEntry(what=f"stage of {monitor.sizes[k]} votes", level=monitor.level(k, alpha))
        for k in range(stages)
    ]


def rank_ledger(levels: PathLevels, ranks: int, alpha: float) -> list[LedgerEntry]:
    """One entry for each rank that was reached; along a path they add up to at most alpha."""
    return [
        LedgerEntry(what=f"cells of rank {rank}", level=levels.level(rank, alpha)) for rank in range(ranks)
    ]


def grid_ledger(cells: int, alpha: float) -> list[LedgerEntry]:
    """The paper's union bound."""
    return [LedgerEntry(what=f"each of {cells} cells, alpha / M", level=alpha / cells)]


def point_ledger(points: int, alpha: float) -> list[LedgerEntry]:
    """Point-wise claims at alpha, joint claims at alpha / N."""
    return [
        LedgerEntry(what="each point, and all points together", level=alpha),
        LedgerEntry(what="each point of a joint claim, alpha / N", level=alpha / points),
    ]
