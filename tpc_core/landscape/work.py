"""A landscape as a piece of work for an engine: it reports the map as it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tpc_core.cloud import Cloud
from tpc_core.engines.work import Bench, Report
from tpc_core.landscape.of_question import landscape_events
from tpc_core.landscape.survey import MOST_VOTES, Landscape
from tpc_core.question import Question
from tpc_core.votes import BaseClassifier

_EVERY = 0.2
"""Seconds between two reports: a page shows no more of them."""


@dataclass(frozen=True)
class LandscapeWork:
    """The map of a question: the first grid only, or all that follows it."""

    question: Question
    model: BaseClassifier = field(repr=False)
    cloud: Cloud = field(repr=False)
    first_grid: bool = False
    earlier: Landscape | None = field(default=None, repr=False)
    """The first grid, where it is known: none of its votes is cast again."""

    def run(self, bench: Bench) -> Iterator[Report]:
        told = 0.0
        events = landscape_events(
            self.model,
            self.cloud,
            self.question,
            lambda: not bench.stop(),
            earlier=self.earlier,
            most_votes=MOST_VOTES,
        )
        picture: Landscape | None = None
        for picture in events:
            if self.first_grid and picture.rank > 0:
                break
            if time.monotonic() - told > _EVERY:
                told = time.monotonic()
                yield Report(picture)
        if picture is not None:
            yield Report(picture)
