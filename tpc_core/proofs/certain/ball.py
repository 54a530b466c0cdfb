"""What one pass through the network proves of all clouds whose coordinates moved a little, each on its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.certain import BallRecord
from tpc_core.certificate.schema import Stop
from tpc_core.errors import InvalidCertificate
from tpc_core.proofs.certain.base import ClassProof
from tpc_core.proofs.judgement import Judgement


@dataclass(frozen=True)
class BallProof(ClassProof):
    """The ball of one question, or a smaller one around the same cloud."""

    record: BallRecord

    @property
    def radius(self) -> float:
        """The radius that was asked for."""
        (radius,) = self.question.radii
        return radius

    @property
    def part(self) -> float:
        """The part of it within which the class is proved."""
        return 0.0 if self.record.proved is None else self.record.proved.part

    def check(self) -> None:
        found = self.record.counterexample
        if self.record.proved is not None and not self.question.options.largest and self.part != 1.0:
            raise InvalidCertificate("a smaller ball was proved than the one that was asked for")
        if found is None:
            return
        self.check_rival(found)
        z = np.array(found.parameter, np.float64)
        if len(z) != 3 * self.question.points or float(np.abs(z).max(initial=0.0)) > self.radius:
            raise InvalidCertificate("the counterexample lies outside of the ball")
        if float(np.abs(z).max(initial=0.0)) <= self.part * self.radius:
            raise InvalidCertificate("the counterexample lies in the ball that is said to be proved")

    def judge(self, stopped: Stop) -> Judgement:
        record = self.record
        if self.question.options.largest:
            return self.judge_largest(self.part, record.counterexample, stopped, record.bounded)
        return self.judge_asked(self.part == 1.0, record.counterexample, stopped, record.bounded)

    def check_claimed(self, radius: dict[str, float]) -> None:
        (claimed,) = self.question.family.parse_radius(radius)
        if claimed > self.part * self.radius:
            raise InvalidCertificate("the claimed ball is larger than the one that was proved")

    def why(self, stopped: Stop, bounded: int) -> str:
        if stopped == "hopeless":
            return (
                "no counterexample was found, and the bounds of this network are too wide to prove it; "
                "take a smaller radius, or a network that was trained for it"
            )
        return super().why(stopped, bounded)

    @property
    def evidence(self) -> str:
        proved = self.record.proved
        return (
            "nothing proved" if proved is None else f"one ball with a margin of {proved.margin:.3g} or more"
        )

    @property
    def on_trust(self) -> str:
        margins = "" if self.record.proved is None else "the margin of the ball"
        return self.trusted(margins, self.record.counterexample)
