"""Group smoothing: a top class is a top class under every rotation of the group."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from tpc_core import streams
from tpc_core.certificate.schema import GroupEvidence, Prediction, Reason
from tpc_core.certify.events import Event, VotesCounted
from tpc_core.certify.ledger import stage_ledger
from tpc_core.certify.run import Outcome, Run, named
from tpc_core.votes import Counts


def certify_group(run: Run, prediction: Prediction) -> Generator[Event, None, Outcome]:
    """Test in stages that y_A, chosen on other samples, is the top class; each stage has its own level."""
    counts = np.zeros(len(run.classes), dtype=np.int64)
    stages: list[dict[str, int]] = []
    p_value, level, done = 1.0, run.monitor.level(0, run.alpha), 0
    certified = False
    for stage, size in enumerate(run.monitor.sizes):
        remembered = run.class_memory.get(size)
        if remembered is not None:
            counts = np.asarray(remembered, dtype=np.int64)
        else:
            more = _cast(run, done, size)
            if more is None:
                break
            counts = counts + more
        done = size
        stages.append(named(counts, run.classes))
        level = run.monitor.level(stage, run.alpha)
        p_value = run.monitor.top_class(counts.tolist(), prediction.index)
        yield VotesCounted(None, size, int(counts[prediction.index]), None, run.control.samples)
        certified = p_value <= level
        if certified or _hopeless(counts, prediction.index, size, run.monitor.sizes[-1]):
            break
    evidence = GroupEvidence(stages=stages, p_value=p_value, level=level)
    ledger = stage_ledger(run.monitor, len(stages), run.alpha)
    reasons = [] if certified else [_reason(run, counts, prediction)]
    return Outcome("certified" if certified else "undecided", evidence, ledger, reasons, run.radii)


def _cast(run: Run, done: int, size: int) -> Counts | None:
    if not run.afford(size - done):
        return None
    return run.cast(run.cloud.points, streams.cell(streams.SINGLE), done, size)


def _hopeless(counts: np.ndarray, target: int, size: int, last: int) -> bool:
    """Whether even the last stage would not show y_A on top, by an ample margin."""
    rival = int(np.delete(counts, target).max(initial=0))
    lead, pool = int(counts[target]) - rival, int(counts[target]) + rival
    optimistic = lead + 3 * pool**0.5
    return bool(optimistic * (last / size) < 3 * (pool * last / size) ** 0.5)


def _reason(run: Run, counts: np.ndarray, prediction: Prediction) -> Reason:
    stopped = run.control.stop_reason()
    if stopped is not None:
        return stopped
    rivals = counts.copy()
    rivals[prediction.index] = -1
    rival = int(np.argmax(rivals))
    return Reason(
        code="not-confident",
        message=(
            f"{prediction.name} got {int(counts[prediction.index])} votes and {run.classes[rival]} "
            f"{max(int(counts[rival]), 0)}: too close to call; more samples may settle it"
        ),
    )
