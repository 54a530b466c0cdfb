"""What cells with margins prove of the plain network: no votes, no probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tpc_core.certificate.certain import CertainRecord, CounterexampleRecord
from tpc_core.certificate.schema import Stop
from tpc_core.certificate.sentence import (
    certain_sentence,
    certainly_refuted_sentence,
    radius_words,
    undecided_sentence,
)
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.exact.cells import Array, Cells, covered_factor, covers
from tpc_core.exact.regions import region_of
from tpc_core.proofs.judgement import Judgement
from tpc_core.question import Question
from tpc_core.transforms import CoordinateNoise, Region, parts_of


@dataclass(frozen=True)
class CertainProof:
    """The cells of one question, and what follows from them if their margins hold."""

    question: Question
    record: CertainRecord
    target: int
    """The index of the class that the network gives to the object."""
    classes: Sequence[str]

    @cached_property
    def region(self) -> Region:
        """The region that was asked for; its box is what the cells are parts of."""
        return certain_region(self.question)

    @cached_property
    def leaves(self) -> tuple[Cells, Array]:
        """The proved cells with their margins."""
        return self.record.cells(self.region.dim)

    def check(self) -> None:
        """InvalidCertificate where the counterexample cannot be one, or lies in a cell that is said to be proved."""
        found = self.record.counterexample
        if found is None:
            return
        z = np.array([found.parameter], np.float64)
        if z.shape[1] != self.region.dim or not bool(self.region.contains(z)[0]):
            raise InvalidCertificate("the counterexample lies outside of the region")
        if found.rival >= len(self.classes) or found.rival == self.target:
            raise InvalidCertificate("the counterexample names no other class")
        low, high = self.leaves[0].edges(self.region)
        if bool(((low <= z) & (z <= high)).all(axis=1).any()):
            raise InvalidCertificate("the counterexample lies in a cell that is said to be proved")

    def judge(self, stopped: Stop) -> Judgement:
        """The verdict, taking the margins as they stand."""
        return self._largest(stopped) if self.question.options.largest else self._asked(stopped)

    def claimed(self, radius: dict[str, float]) -> Region:
        """The region of a radius in edge units."""
        return certain_region(self.question.with_radius(radius))

    def _asked(self, stopped: Stop) -> Judgement:
        question, transform = self.question, self.question.family
        found, name = self.record.counterexample, self.classes[self.target]
        if found is not None:
            place = transform.named_values(np.asarray(found.parameter))
            said = certainly_refuted_sentence(transform, place, name, self.classes[found.rival])
            return Judgement("refuted", question.radius, said)
        within = radius_words(transform.radii, question.radius)
        if covers(self.leaves[0], self.region):
            return Judgement("certified", question.radius, certain_sentence(transform, within, name))
        said = undecided_sentence(transform, within, name, self._why(stopped))
        return Judgement("undecided", question.radius, said)

    def _largest(self, stopped: Stop) -> Judgement:
        question, transform = self.question, self.question.family
        found, name = self.record.counterexample, self.classes[self.target]
        part = covered_factor(self.leaves[0], self.region)
        if part <= 0:
            within = radius_words(transform.radii, question.radius)
            said = undecided_sentence(transform, within, name, self._why(stopped))
            return Judgement("undecided", dict.fromkeys(question.radius, 0.0), said)
        radius = {
            p.name: question.radius[p.name] if part == 1.0 else p.to_edge(part * r) * (1 - 1e-12)
            for p, r in zip(transform.radii, question.radii, strict=True)
        }
        beyond = "" if found is None else f"; {self._place(found)} turns it into {self.classes[found.rival]}"
        within = radius_words(transform.radii, radius)
        return Judgement("certified", radius, certain_sentence(transform, within, name, beyond))

    def _place(self, found: CounterexampleRecord) -> str:
        named = self.question.family.named_values(np.asarray(found.parameter))
        return ", ".join(f"{key} {value:.4g}" for key, value in named.items())

    def _why(self, stopped: Stop) -> str:
        if stopped == "cancelled":
            return "the run was cancelled; ask again to get a verdict"
        if stopped == "budget":
            return f"the budget ended after {self.record.bounded:,} cells; allow more cells or seconds"
        return "somewhere the margin is too small for the bounds to tell; take a smaller radius"


def certain_region(question: Question) -> Region:
    """The region of a question, or an UnsupportedRequest where it has no cells."""
    if any(isinstance(part, CoordinateNoise) for part in parts_of(question.family)):
        raise UnsupportedRequest(
            f"{question.transform} moves every coordinate on its own: there are no few parameters to split; "
            "ask for a smoothed certificate"
        )
    return region_of(question.family, question.radii)
