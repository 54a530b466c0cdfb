"""How fast a model votes here: a few blocks, timed."""

from __future__ import annotations

import time

from tpc_core.cloud import Cloud
from tpc_core.ledger import look_stream
from tpc_core.votes import BLOCK, BaseClassifier, Voter, resolve_device

_WARM, _TIMED = 4, 8
"""Blocks before the clock starts, and while it runs; idle workers of an engine take their part of both."""


def voting_speed(model: BaseClassifier, cloud: Cloud) -> float:
    """Votes per second of this model on clouds of this size."""
    voter = Voter(model, model.smoothing, seed=0, device=resolve_device("auto"))
    stream = look_stream("speed")
    voter.count(cloud.points, stream, 0, _WARM * BLOCK)
    start = time.perf_counter()
    voter.count(cloud.points, stream, _WARM * BLOCK, (_WARM + _TIMED) * BLOCK)
    return _TIMED * BLOCK / max(time.perf_counter() - start, 1e-6)
