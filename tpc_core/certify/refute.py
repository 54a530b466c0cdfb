"""From suspicion to proof: does the smoothed classifier really prefer another class at this parameter?"""

from __future__ import annotations

import numpy as np

from tpc_core import streams
from tpc_core.certificate.schema import AttackRecord, Prediction
from tpc_core.certify.run import Run, named
from tpc_core.statistics import top_class_p_value

CONFIRM_SIZES = (256, 1024, 4096)


def confirm_attack(
    run: Run, prediction: Prediction, z: np.ndarray, method: str, rival: int | None = None
) -> AttackRecord | None:
    """Test on fresh votes that another class beats y_A at z.

    The level of the k-th test of a run is alpha / 2^k, split over three sizes, so all of them together are wrong
    with probability at most alpha.

    The rival is fixed before these votes: given, or the winner of a small sample of its own.
    """
    points = run.at(z)
    run.confirmations += 1
    level = run.alpha / 2**run.confirmations / len(CONFIRM_SIZES)
    if rival is None:
        first = run.cast(points, streams.rival(z), 0, 64) if run.afford(64) else None
        if first is None:
            return None
        first[prediction.index] = -1
        rival = int(np.argmax(first))
    if rival == prediction.index:
        return None
    counts = np.zeros(len(run.classes), dtype=np.int64)
    done = 0
    for size in CONFIRM_SIZES:
        more = run.cast(points, streams.attack(z), done, size) if run.afford(size - done) else None
        if more is None:
            return None
        counts, done = counts + more, size
        # It is enough that the rival beats y_A: then y_A is not the top class here.
        pair = [int(counts[rival]), int(counts[prediction.index])]
        p_value = top_class_p_value(pair, 0)
        if p_value <= level:
            return AttackRecord(
                method=method,
                parameter=[float(v) for v in np.asarray(z).ravel()],
                edge=run.transform.named_values(z),
                votes=named(counts, run.classes),
                samples=size,
                winner=run.classes[rival],
                p_value=p_value,
            )
    return None
