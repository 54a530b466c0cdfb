"""A handful of votes before the search: where is the model weakest, and is it broken already?

Probes have noise of their own. They decide what is looked at first, and never what passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tpc_core import streams
from tpc_core.certificate.schema import AttackRecord, Prediction
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Run
from tpc_core.statistics import upper_bound
from tpc_core.transforms import Region
from tpc_core.votes import Ballot, Counts

Array = NDArray[np.float64]

PROBE_VOTES = 32
_MOST_PROBES = 256
_VOTES_PER_PROBE = 100 * PROBE_VOTES
"""One extra probe for this many planned votes: at most a hundredth of the work goes into probing."""


@dataclass
class Probes:
    """What was seen of p_A at some places of the region."""

    region: Region
    places: list[Array] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)

    def guess(self, z: Array) -> float:
        """The p_A of the nearest probe; one where there is none."""
        if not self.places:
            return 1.0
        distance = np.sum((np.asarray(self.places) - z / self.region.half_widths) ** 2, axis=1)
        return self.seen[int(np.argmin(distance))]

    def cast(self, run: Run, prediction: Prediction, places: Array) -> AttackRecord | None:
        """Probe some places; a proven attack where the class is clearly lost (unless the map must be complete).

        A few first, then more at once: an attack is often found early.
        """
        start, width = 0, 2
        while start < len(places):
            wave, before = places[start : start + width], len(self.places)
            for z, counts in zip(wave, self._votes(run, wave), strict=False):
                attack = self._look(run, prediction, z, counts)
                if attack is not None:
                    return attack
            if len(self.places) - before < len(wave):
                return None  # the budget ended
            start, width = start + len(wave), 2 * width
        return None

    def _votes(self, run: Run, places: Array) -> list[Counts]:
        """The votes at some places, as far as the budget goes."""
        while len(places) and not run.afford(PROBE_VOTES * len(places)):
            places = places[:-1]
        first = len(self.places)
        ballots = [
            Ballot(run.at(z), streams.probe(first + number), 0, PROBE_VOTES)
            for number, z in enumerate(places)
        ]
        totals: dict[int, Counts] = {}
        for number, counts in run.cast_many(ballots):
            if counts is None:
                break
            totals[number] = totals.get(number, 0) + counts
        return [totals[n] for n in sorted(totals) if int(totals[n].sum()) == PROBE_VOTES]

    def _look(self, run: Run, prediction: Prediction, z: Array, counts: Counts) -> AttackRecord | None:
        n_a = int(counts[prediction.index])
        self.places.append(z / self.region.half_widths)
        self.seen.append((n_a + 0.5) / (PROBE_VOTES + 1))
        if upper_bound(n_a, PROBE_VOTES, 1e-4) >= 0.5 or run.complete:
            return None
        return confirm_attack(run, prediction, z, "probe", rival=int(np.argmax(counts)))


def extra_places(region: Region, planned_votes: float, seed: int) -> Array:
    """Random places to probe besides the extremes, the more the longer the run is going to be."""
    count = min(_MOST_PROBES, int(min(planned_votes, 1e12) / _VOTES_PER_PROBE))
    return region.sample(count, np.random.default_rng(seed))
