"""Engines: worker processes that hold the models. Work goes in, its messages come out, whoever asks.

A piece of work is a frozen dataclass of plain data with a generator `run`, which a worker executes:

    @dataclass(frozen=True)
    class CountVotes:
        model: Model
        cloud: Cloud

        def run(self, bench: Bench) -> Iterator[Any]:
            while not bench.stop():     # between batches: waits for its turn; True where it must end
                ...
                yield Counted(votes)    # any plain data; the asker gets it in order

    with LocalEngine() as engine:
        for message in engine.submit(CountVotes(model, cloud)).messages():
            ...

Models travel by their digest, and once. What must survive the death of a worker goes to `bench.keep(state)`; work that
has a method `going_on(state)` is then taken up from there, and other work begins anew.
"""

from __future__ import annotations

from tpc_core.engines.engine import Engine
from tpc_core.engines.fair_queue import IDLE, PROMPT, USUAL
from tpc_core.engines.handle import Handle
from tpc_core.engines.inline import Inline, InlineEngine, Streams
from tpc_core.engines.local import LocalEngine, available_cores
from tpc_core.engines.messages import Kept
from tpc_core.engines.ray_cluster import RayEngine
from tpc_core.engines.work import (
    Bench,
    Call,
    Report,
    Restarted,
    Steps,
    Work,
    WorkerLost,
    WorkFailed,
)

__all__ = [
    "IDLE",
    "PROMPT",
    "USUAL",
    "Bench",
    "Call",
    "Engine",
    "Handle",
    "Inline",
    "InlineEngine",
    "Kept",
    "LocalEngine",
    "RayEngine",
    "Report",
    "Restarted",
    "Steps",
    "Streams",
    "Work",
    "WorkFailed",
    "WorkerLost",
    "available_cores",
]
