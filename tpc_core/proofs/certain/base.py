"""What a certain proof of any kind answers: does its evidence hold together, and what follows from it?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.certain import CounterexampleRecord
from tpc_core.certificate.schema import Stop
from tpc_core.certificate.sentence import (
    certain_sentence,
    certainly_refuted_sentence,
    radius_words,
    undecided_sentence,
)
from tpc_core.errors import InvalidCertificate
from tpc_core.proofs.base import PointStanding
from tpc_core.proofs.judgement import Judgement
from tpc_core.question import Question


@dataclass(frozen=True)
class CertainProof(ABC):
    """The evidence of one question, and what follows from it if its margins hold."""

    question: Question
    classes: Sequence[str]

    @abstractmethod
    def check(self) -> None:
        """InvalidCertificate where the evidence contradicts itself, or the question."""

    @abstractmethod
    def judge(self, stopped: Stop) -> Judgement:
        """The verdict, taking the margins as they stand."""

    @abstractmethod
    def check_claimed(self, radius: dict[str, float]) -> None:
        """InvalidCertificate where the region of this radius is not proved, however it was found."""

    @property
    @abstractmethod
    def prediction(self) -> str | None:
        """The class that the proof is about, by name; None for parts."""

    @property
    @abstractmethod
    def evidence(self) -> str:
        """What was proved, in a few words."""

    @property
    @abstractmethod
    def on_trust(self) -> str:
        """What takes the network to check, in a few words."""

    @property
    def points(self) -> PointStanding | None:
        """Which points keep their part; None for proofs about the class."""
        return None

    def why(self, stopped: Stop, bounded: int) -> str:
        """Why there is no verdict, in words that end in what to do."""
        if stopped == "cancelled":
            return "the run was cancelled; ask again to get a verdict"
        if stopped == "budget":
            return f"the budget ended after {bounded:,} cells; allow more cells or seconds"
        return "somewhere the margin is too small for the bounds to tell; take a smaller radius"

    def largest_radius(self, part: float) -> dict[str, float]:
        """This part of the radius that was asked for, in edge units, rounded down."""
        question = self.question
        return {
            p.name: question.radius[p.name] if part == 1.0 else p.to_edge(part * r) * (1 - 1e-12)
            for p, r in zip(question.family.radii, question.radii, strict=True)
        }


@dataclass(frozen=True)
class ClassProof(CertainProof):
    """A proof about the class of the whole object."""

    target: int
    """The index of the class that the network gives to the object."""

    @property
    def prediction(self) -> str:
        return self.classes[self.target]

    def judge_asked(
        self, proved: bool, found: CounterexampleRecord | None, stopped: Stop, bounded: int
    ) -> Judgement:
        """The verdict on the radius that was asked for."""
        question, transform, name = self.question, self.question.family, self.prediction
        if found is not None:
            place = transform.named_values(np.asarray(found.parameter))
            said = certainly_refuted_sentence(transform, place, name, self.classes[found.rival])
            return Judgement("refuted", question.radius, said)
        within = radius_words(transform.radii, question.radius)
        if proved:
            return Judgement("certified", question.radius, certain_sentence(transform, within, name))
        said = undecided_sentence(transform, within, name, self.why(stopped, bounded))
        return Judgement("undecided", question.radius, said)

    def judge_largest(
        self, part: float, found: CounterexampleRecord | None, stopped: Stop, bounded: int
    ) -> Judgement:
        """The verdict on the largest part of the radius that is proved, and what is known from the other side."""
        question, transform, name = self.question, self.question.family, self.prediction
        if part <= 0:
            within = radius_words(transform.radii, question.radius)
            said = undecided_sentence(transform, within, name, self.why(stopped, bounded))
            return Judgement("undecided", dict.fromkeys(question.radius, 0.0), said)
        radius = self.largest_radius(part)
        beyond = ""
        if found is not None:
            named = transform.named_values(np.asarray(found.parameter))
            place = ", ".join(f"{key} {value:.4g}" for key, value in named.items())
            beyond = f"; {place} turns it into {self.classes[found.rival]}"
        within = radius_words(transform.radii, radius)
        return Judgement("certified", radius, certain_sentence(transform, within, name, beyond))

    def trusted(self, margins: str, found: CounterexampleRecord | None) -> str:
        """The margins in words, and the counterexample beyond them, if there is one."""
        words = [margins] if margins else []
        words += ["the counterexample's margin"] if found is not None else []
        return " and ".join(words) or "the class of the object"

    def check_rival(self, found: CounterexampleRecord) -> None:
        """A counterexample names a class, and another one than the object's."""
        if found.rival >= len(self.classes) or found.rival == self.target:
            raise InvalidCertificate("the counterexample names no other class")
