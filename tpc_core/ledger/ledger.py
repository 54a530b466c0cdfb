"""The ledger of one object: a table from places to votes, and the only evidence that there is.

It belongs to one model, cloud, smoothing, transform and seed. Casting more votes lengthens streams; no vote is ever
cast a second time with fresh noise. Verdict, largest radius, explanation, another radius and going on are functions of
the ledger and the claim (docs/theory.md, "One ledger of votes"), so looking often, enlarging, shrinking and going on
cost nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.ledger.places import SELECT
from tpc_core.ledger.selection import choose, ends_at
from tpc_core.ledger.tally import Tally

FAMILIES = 16
"""How many shapes of region one ledger may hold; the last ones have next to no level left."""


@dataclass(frozen=True)
class Refutation:
    """An attack that was put to the test: place and rival were fixed before the first vote of its own stream."""

    parameter: tuple[float, ...]
    """z in internal units."""
    rival: int
    method: str
    votes: Tally


@dataclass
class Ledger:
    """All votes of one object under one model, smoothing, transform and seed."""

    seed: int
    task: str
    shape: tuple[int, ...]
    """(classes,), or (points, classes) for segmentation."""
    own_seed: bool = True
    """Whether the seed is the hash of cloud, model and transform, as it is unless someone sets it."""
    families: list[tuple[float, ...]] = field(default_factory=list)
    """The proportions of the regions that were asked for, in the order in which they were first asked."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    refutations: list[Refutation] = field(default_factory=list)
    subject: str | None = None
    """Whose votes these are (`subject_of`); a ledger made by hand belongs to the first question that uses it."""
    _chosen: NDArray[np.int64] | None = field(default=None, init=False, repr=False, compare=False)

    # -- votes ---------------------------------------------------------------------------------------------------

    def tally(self, place: str) -> Tally:
        """The votes at a place; an empty tally where none were cast."""
        return self.tallies.get(place) or Tally(self.shape)

    def add(self, place: str, blocks: NDArray[np.int64], start: int) -> None:
        """Put down blocks number `start` and on of a place; those that another run put down meanwhile stay as they are.

        Every block of a stream is one set of votes, so it counts once, however many runs share the ledger.
        """
        if place not in self.tallies:
            self.tallies[place] = Tally(self.shape)
        tally = self.tallies[place]
        if start > tally.size:
            raise ValueError(f"blocks from number {start} on would leave a gap after {tally.size}")
        tally.add(blocks[tally.size - start :])

    @property
    def samples(self) -> int:
        """All votes in the ledger."""
        attacks = sum(refutation.votes.n for refutation in self.refutations)
        return sum(tally.n for tally in self.tallies.values()) + attacks

    # -- y_A -----------------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> NDArray[np.int64] | None:
        """y_A: one class, or one for each point; None until its choice has ended."""
        tally = self.tallies.get(SELECT)
        if self._chosen is None and tally is not None and ends_at(tally, self.task) is not None:
            self._chosen = choose(tally)  # the choice is final: its stream is never lengthened
        return self._chosen

    @property
    def target(self) -> int | None:
        """The index of y_A where there is one for the whole cloud."""
        chosen = self.chosen
        return int(chosen) if chosen is not None and chosen.ndim == 0 else None

    def check(self, own_seed: int) -> None:
        """InvalidCertificate where the ledger cannot have grown by its own rules; `own_seed` is the hash it claims."""
        if self.own_seed and self.seed != own_seed:
            raise InvalidCertificate(
                "the seed is not the hash of cloud, model and transform that it is said to be"
            )
        select = self.tallies.get(SELECT)
        others = [place for place, tally in self.tallies.items() if place != SELECT and tally.n]
        ended = None if select is None else ends_at(select, self.task)
        if ended is None and (others or self.refutations):
            raise InvalidCertificate("votes were cast before the class was chosen")
        if select is not None and ended is not None and select.n != ended:
            raise InvalidCertificate("the choice of the class went on after it had ended")
        for shape in self.families:
            if not shape or not all(0 < part <= 1 for part in shape) or max(shape) != 1:
                raise InvalidCertificate("a shape of region is given by its radii over the largest of them")
        if len({proportions(shape) for shape in self.families}) != len(self.families):
            raise InvalidCertificate("a shape of region is listed twice")
        for refutation in self.refutations:
            if not 0 <= refutation.rival < self.shape[-1]:
                raise InvalidCertificate("a refutation names a class that the model does not have")

    # -- families ------------------------------------------------------------------------------------------------

    def family(self, radii: Sequence[float]) -> int:
        """The number of the family of regions of these proportions; a new shape is put down and gets the next."""
        shape = proportions(radii)
        known = self.find_family(radii)
        if known is not None:
            return known
        if len(self.families) >= FAMILIES:
            raise InvalidValue(
                f"{FAMILIES} shapes of region were tried on this object already; each took half of the level that "
                "was left, so ask for one of them"
            )
        self.families.append(shape)
        return len(self.families)

    def find_family(self, radii: Sequence[float]) -> int | None:
        """The number of the family of these proportions, if it was asked for before."""
        shape = proportions(radii)
        for number, known in enumerate(self.families, start=1):
            if len(known) == len(shape) and np.allclose(known, shape, rtol=1e-9, atol=0):
                return number
        return None


def subject_of(
    cloud: str,
    model: str,
    classes: Sequence[str],
    transform: str,
    smoothing: Mapping[str, Any],
    protocol: str,
) -> str:
    """What votes are about: the digests of cloud and model, its classes, the transform, the noise and the protocol."""
    parts = json.dumps([cloud, model, list(classes), transform, smoothing, protocol], sort_keys=True)
    return hashlib.sha256(f"tpc-subject|{parts}".encode()).hexdigest()


def family_level(alpha: float, family: int, parameters: int) -> float:
    """The level of the k-th shape of region: with one radius there is one shape, and it has all of alpha."""
    if parameters == 1:
        return alpha
    return 0.9 * alpha if family == 1 else 0.1 * alpha * 2.0 ** (1 - family)


def refutation_level(alpha: float, number: int) -> float:
    """The level of the number-th attack that is put to the test in a ledger's whole life."""
    return alpha * 2.0**-number


def proportions(radii: Sequence[float]) -> tuple[float, ...]:
    """The shape of a region: its radii over the largest of them."""
    largest = max(radii)
    return tuple(float(r / largest) for r in radii)


def default_seed(cloud: str, model: str, transform: str, smoothing: Mapping[str, Any]) -> int:
    """The seed that nobody chose: a hash of the digests of cloud and model, of transform and smoothing."""
    parts = json.dumps([cloud, model, transform, smoothing], sort_keys=True)
    return int.from_bytes(hashlib.sha256(f"tpc-seed|{parts}".encode()).digest()[:8], "little") >> 1
