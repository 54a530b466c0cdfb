"""What cells prove of parts: each point keeps its own where the cells in which it was proved leave nothing out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tpc_core.certificate.certain import PartsRecord
from tpc_core.certificate.schema import Stop, Verdict
from tpc_core.certificate.sentence import certain_points_sentence, radius_words
from tpc_core.errors import InvalidCertificate
from tpc_core.exact.cells import Array, Cells, covers
from tpc_core.proofs.base import PointStanding
from tpc_core.proofs.certain.base import CertainProof
from tpc_core.proofs.certain.cells import check_place, question_region
from tpc_core.proofs.judgement import Judgement
from tpc_core.transforms import Region


@dataclass(frozen=True)
class PartsProof(CertainProof):
    """The cells of one question with the margins of every point."""

    record: PartsRecord

    @cached_property
    def region(self) -> Region:
        """The region that was asked for."""
        return question_region(self.question)

    @cached_property
    def leaves(self) -> tuple[Cells, Array]:
        """The cells with the margins (L, N) of the points that were proved in them, NaN for the others."""
        return self.record.cells(self.region.dim)

    @cached_property
    def certified(self) -> NDArray[np.bool_]:
        """Which points keep their part over the whole region."""
        leaves, margins = self.leaves
        proved = ~np.isnan(margins)
        # Points that were proved in the same cells have one answer.
        known: dict[bytes, bool] = {}
        for column in proved.T:
            key = column.tobytes()
            if key not in known:
                known[key] = bool(column.any()) and covers(leaves[column], self.region)
        return np.array([known[column.tobytes()] for column in proved.T], bool)

    @property
    def refuted(self) -> set[int]:
        """The points with a counterexample."""
        return {found.point for found in self.record.counterexamples}

    @property
    def points(self) -> PointStanding:
        certified = tuple(self.certified.tolist())
        # Nothing of it is probable, so what holds of each point holds of all of them at once.
        return PointStanding(tuple(self.record.labels), certified, certified)

    def check(self) -> None:
        leaves, margins = self.leaves
        labels, found = self.record.labels, self.record.counterexamples
        if len(labels) != self.question.points or any(label >= len(self.classes) for label in labels):
            raise InvalidCertificate("every point has one of the model's parts")
        if self.question.options.largest:
            raise InvalidCertificate("part segmentation has no largest radius")
        if len(self.refuted) != len(found) or any(one.point >= len(labels) for one in found):
            raise InvalidCertificate("a point has at most one counterexample, and is one of the cloud")
        for one in found:
            if one.rival >= len(self.classes) or one.rival == labels[one.point]:
                raise InvalidCertificate("a counterexample names no other part")
            check_place(one.parameter, self.region, leaves[~np.isnan(margins[:, one.point])])

    def judge(self, stopped: Stop) -> Judgement:
        transform, radius = self.question.family, self.question.radius
        passed, lost = int(self.certified.sum()), len(self.refuted)
        count = len(self.certified)
        verdict: Verdict = "certified" if passed == count else "refuted" if lost else "undecided"
        within = radius_words(transform.radii, radius)
        rest = count - passed - lost
        why = self.why(stopped, self.record.bounded) if rest else ""
        return Judgement(verdict, radius, certain_points_sentence(transform, within, passed, lost, rest, why))

    def check_claimed(self, radius: dict[str, float]) -> None:
        if radius != self.question.radius:
            raise InvalidCertificate("another radius is claimed than was asked for")

    @property
    def prediction(self) -> None:
        return None

    @property
    def evidence(self) -> str:
        return f"{int(self.certified.sum())} of {len(self.certified)} points in {len(self.record.margins):,} cells"

    @property
    def on_trust(self) -> str:
        margins = int((~np.isnan(self.leaves[1])).sum())
        words = [f"{margins:,} margins of points"] if margins else []
        lost = len(self.refuted)
        words += [f"the counterexamples of {lost} point{'s' if lost > 1 else ''}"] if lost else []
        return " and ".join(words) or "the parts of the points"
