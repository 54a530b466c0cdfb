"""What cells with margins prove of the class: nothing of the region may be left out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tpc_core.certificate.certain import CellsRecord
from tpc_core.certificate.schema import Stop
from tpc_core.errors import InvalidCertificate
from tpc_core.exact.cells import Array, Cells, covered_factor, covers
from tpc_core.exact.regions import region_of
from tpc_core.proofs.certain.base import ClassProof
from tpc_core.proofs.judgement import Judgement
from tpc_core.question import Question
from tpc_core.transforms import Region


@dataclass(frozen=True)
class CellsProof(ClassProof):
    """The cells of one question."""

    record: CellsRecord

    @cached_property
    def region(self) -> Region:
        """The region that was asked for; its box is what the cells are parts of."""
        return question_region(self.question)

    @cached_property
    def leaves(self) -> tuple[Cells, Array]:
        """The proved cells with their margins."""
        return self.record.cells(self.region.dim)

    def check(self) -> None:
        leaves, _ = self.leaves
        found = self.record.counterexample
        if found is None:
            return
        self.check_rival(found)
        check_place(found.parameter, self.region, leaves)

    def judge(self, stopped: Stop) -> Judgement:
        record, (leaves, _) = self.record, self.leaves
        if self.question.options.largest:
            part = covered_factor(leaves, self.region)
            return self.judge_largest(part, record.counterexample, stopped, record.bounded)
        proved = record.counterexample is None and covers(leaves, self.region)
        return self.judge_asked(proved, record.counterexample, stopped, record.bounded)

    def check_claimed(self, radius: dict[str, float]) -> None:
        claim = question_region(self.question.with_radius(radius))
        if not covers(self.leaves[0], self.region, claim):
            raise InvalidCertificate("the cells leave a part of the claimed region out, or overlap")

    @property
    def evidence(self) -> str:
        margins = self.record.margins
        least = f", each with a margin of {min(margins):.3g} or more" if margins else ""
        return f"{len(margins):,} proved cells{least}"

    @property
    def on_trust(self) -> str:
        cells = len(self.record.margins)
        margins = f"the margins of {cells:,} cells" if cells else ""
        return self.trusted(margins, self.record.counterexample)


def question_region(question: Question) -> Region:
    """The region whose cells are proved one by one."""
    return region_of(question.family, question.radii)


def check_place(parameter: list[float], region: Region, proved: Cells) -> None:
    """A counterexample lies in the region, and in no cell that is said to be proved."""
    z = np.array([parameter], np.float64)
    if z.shape[1] != region.dim or not bool(region.contains(z)[0]):
        raise InvalidCertificate("the counterexample lies outside of the region")
    low, high = proved.edges(region)
    if bool(((low <= z) & (z <= high)).all(axis=1).any()):
        raise InvalidCertificate("the counterexample lies in a cell that is said to be proved")
