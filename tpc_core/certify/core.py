"""A larger radius: what an earlier certificate vouches for is the core, and only what lies around it is tested.

Let region R_1 be certified by tree T_1, and then R_2 around it by a tree T_2 with noise of its own, whose cells inside
R_1 are left out. A point of R_1 is vouched for by its path in T_1 alone, a point outside by its path in T_2 alone;
along each of them the levels add up to at most alpha (THEORY section 4, exact condition). If the claim about R_2 is
false, some point z* fails. Either R_1 holds such a point, which was fixed before T_1's votes: T_1 errs with
probability at most alpha. Or R_1 holds none: then, whatever T_1's votes were and however R_2 was chosen by them, T_2
has fresh noise and errs with probability at most alpha. So the claim is wrong with probability at most alpha, and so
on from R_2 to R_3. What makes it true: R_1 must be certified (no second chance for a part that failed), the class y_A,
alpha and the schedule stay the same, and no noise is used twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.schema import TreeEvidence
from tpc_core.covers import Cell
from tpc_core.transforms import Region


@dataclass(frozen=True)
class Core:
    """The region that earlier trees vouch for, from the innermost outwards."""

    region: Region
    trees: tuple[TreeEvidence, ...]


def holds(region: Region, cell: Cell) -> bool:
    """Whether the whole cell lies in the region: its corner farthest from the identity decides."""
    corner = np.maximum(np.abs(cell.low), np.abs(cell.high))
    return bool(region.gauge(corner[None])[0] <= 1.0)


def grows(inner: Region, outer: Region) -> bool:
    """Whether the outer region reaches at least as far along every axis, and farther along one."""
    before, after = inner.half_widths, outer.half_widths
    return bool(np.all(after >= before) and np.any(after > before))
