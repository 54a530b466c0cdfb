"""From suspicion to proof: does the smoothed classifier really prefer another class at this parameter?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tpc_core.certify.run import Run, point_of
from tpc_core.ledger import Refutation, Tally, refutation_place, rival_place
from tpc_core.proofs.judgement import is_proven
from tpc_core.statistics import upper_bound
from tpc_core.votes import BLOCK, Ballot

MOST_VOTES = 4_096
"""Votes after which a suspicion is dropped."""

MOST_REFUTATIONS = 64
"""Attacks that a ledger may put to the test; the level of later ones would be next to nothing."""

RIVAL_VOTES = 64
"""Votes that name the rival where nothing suggests one; they count for nothing else."""


def confirm_attack(
    run: Run, z: Sequence[float] | NDArray[np.float64], method: str, rival: int | None = None
) -> bool:
    """Test on a stream of its own that another class beats y_A at z; the ledger keeps it, proven or not.

    The place and the rival are fixed before the first vote; cell votes may suggest them, and never count.
    """
    number = len(run.ledger.refutations) + 1
    if number > MOST_REFUTATIONS:
        return False
    points = run.claim.at(np.asarray(z))
    if rival is None:
        if not run.affordable(RIVAL_VOTES):
            return False
        votes = run.voter.cast([Ballot(points, rival_place(number), 0, RIVAL_VOTES)])[0].sum(axis=0)
        votes[run.target] = -1
        rival = int(np.argmax(votes))
    tally = Tally(run.ledger.shape)
    refutation = Refutation(point_of(np.asarray(z)), rival, method, tally)
    run.ledger.refutations.append(refutation)
    while tally.n < MOST_VOTES and run.control.stop(run.ledger.samples) is None and run.affordable(BLOCK):
        blocks = max(1, min(tally.size, 16))
        stream = refutation_place(number)
        tally.add(run.voter.cast([Ballot(points, stream, tally.n, tally.n + BLOCK * blocks)])[0])
        if is_proven(refutation, run.ledger, run.claim.alpha, number):
            return True
        own, other = int(tally.total[run.target]), int(tally.total[rival])
        if own + other and upper_bound(other, own + other, 1e-3) <= 0.5:
            return False
    return False
