"""A certificate taken apart for a closer look: what was asked, and what the votes show at each of its places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from tpc_core.certificate.schema import Certificate
from tpc_core.certificate.sentence import radius_words
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidValue
from tpc_core.ledger import WHOLE, Ledger, Refutation, cell_place, refutation_place
from tpc_core.proofs import CellStanding, Claim, CoverProof, GridProof, Proof, proof_of
from tpc_core.smoothing import Smoothing, Threshold
from tpc_core.statistics import upper_bound
from tpc_core.transforms import CoordinateNoise, GeneralRotation, Region, Transform, ZYXRotation
from tpc_core.verify import Case, case_of
from tpc_core.verify.replay import check_model
from tpc_core.votes import BaseClassifier, Voter, resolve_device

Array = NDArray[np.float64]

ATTACK = "attack"
"""The path under which a proven attack is looked at, as if it were a cell."""

_SURE = 1e-3
"""Level at which a cell is said to be lost, or to be short of what it needs, beyond doubt."""


def is_lost(cell: CellStanding) -> bool:
    """Whether another class has most of the votes here, beyond doubt."""
    return cell.n > 0 and upper_bound(cell.n_a, cell.n, _SURE) < 0.5


def is_short(cell: CellStanding) -> bool:
    """Whether p_A itself is too small for this cell, beyond doubt: more votes would not help."""
    return cell.n > 0 and upper_bound(cell.n_a, cell.n, _SURE) <= cell.needed


def shortfall(cell: CellStanding) -> float:
    """By how many sigmas p_A, as it looks, is short of what is needed; negative where it is beyond."""
    if not cell.n:
        return math.nan
    return float(special.ndtri(min(cell.needed, 1 - 1e-12)) - special.ndtri(cell.guess))


def named(counts: NDArray[np.int64], classes: Sequence[str]) -> dict[str, int]:
    """Votes by class, most first; classes without a vote are left out."""
    order = np.argsort(-counts, kind="stable")
    return {classes[index]: int(counts[index]) for index in order if counts[index]}


@dataclass(frozen=True)
class CaseView:
    """A verified certificate, its places and the words for them."""

    case: Case

    @staticmethod
    def of(certificate: Certificate) -> CaseView:
        """Take a certificate apart; one that does not hold together raises InvalidCertificate."""
        return CaseView(case_of(certificate))

    # -- the question --------------------------------------------------------------------------------------------

    @property
    def certificate(self) -> Certificate:
        return self.case.certificate

    @property
    def cloud(self) -> Cloud:
        return self.case.cloud

    @property
    def smoothing(self) -> Smoothing:
        return self.case.smoothing

    @property
    def ledger(self) -> Ledger:
        return self.case.ledger

    @property
    def transform(self) -> Transform:
        return self.case.claim.transform

    @property
    def class_name(self) -> str | None:
        """y_A by name; None for part segmentation, and where the run ended before it was chosen."""
        return self.certificate.prediction

    @property
    def target(self) -> int:
        """The index of y_A."""
        target = self.ledger.target
        if target is None:
            what = (
                "part segmentation has one class for each point"
                if self.ledger.chosen is not None
                else ("the run ended before the class was known; continue it first")
            )
            raise InvalidValue(what)
        return target

    @cached_property
    def proof(self) -> Proof:
        """The proof about the region that was looked at: the one asked for, or where a search for the largest ended."""
        proof = self.case.proof
        if not (isinstance(proof, CoverProof) and self.certificate.question.options.largest):
            return proof
        own = cell_place(proof.claim.family, "")
        boxes = [
            proof.lattice.box(proof.path(place)) for place in self.ledger.tallies if place.startswith(own)
        ]
        centres = np.array([(low + high) / 2 for low, high in boxes]).reshape(-1, proof.region.dim)
        farthest = float(proof.region.gauge(centres).max(initial=0.0)) or 1.0
        claimed = zip(self.transform.radii, proof.claim.radii, strict=True)
        certified = min(p.to_internal(self.certificate.radius[p.name]) / r for p, r in claimed)
        part = min(max(farthest, certified), proof.feasible_factor)
        if part >= 1.0:
            return proof
        return proof_of(replace(proof.claim, radii=tuple(part * r for r in proof.claim.radii)))

    @property
    def cover(self) -> CoverProof | None:
        """The proof by cells of the canonical tree; None for other proofs."""
        return self.proof if isinstance(self.proof, CoverProof) else None

    @property
    def claim(self) -> Claim:
        """The claim about the region that was looked at."""
        return self.proof.claim

    @property
    def radii(self) -> tuple[float, ...]:
        """That region's radii, in internal units."""
        return self.claim.radii

    @cached_property
    def region(self) -> Region | None:
        """That region as a set of parameters; None for coordinate noise, which has 3N of them."""
        return None if isinstance(self.transform, CoordinateNoise) else self.transform.region(self.radii)

    @property
    def is_cover(self) -> bool:
        """Whether there are cells: a cover, or the paper's grid."""
        return self.proof.kind in ("cover", "grid")

    @property
    def is_polar(self) -> bool:
        """Whether cells are (polar, azimuth, angle): the paper's grid of rotations."""
        return self.proof.kind == "grid" and isinstance(self.transform, GeneralRotation | ZYXRotation)

    @cached_property
    def certified_part(self) -> float:
        """The part of the region that the votes at hand certify already: the same ledger, read at smaller radii."""
        certificate = self.certificate
        if certificate.verdict == "certified":
            said = zip(self.transform.radii, self.radii, strict=True)
            return min(1.0, *(p.to_internal(certificate.radius[p.name]) / r for p, r in said))
        if self.ledger.chosen is None or certificate.stopped == "too-many-cells":
            return 0.0
        return self.proof.largest_part(self.ledger)

    # -- who votes -----------------------------------------------------------------------------------------------

    def check_model(self, model: BaseClassifier) -> None:
        """Only the model that cast the votes may cast more of them; InvalidCertificate for another."""
        check_model(self.certificate, model)

    def voter(self, model: BaseClassifier, smoothing: Smoothing | None = None) -> Voter:
        """The model of the certificate under its smoothing, or under another one."""
        device = resolve_device(self.certificate.device)
        return Voter(model, smoothing or self.smoothing, seed=self.ledger.seed, device=device)

    # -- places --------------------------------------------------------------------------------------------------

    @cached_property
    def attack(self) -> Refutation | None:
        """The attack that refutes the claim."""
        number = self.case.judgement.attack
        return None if number is None else self.ledger.refutations[number]

    @property
    def rival(self) -> str | None:
        """The class that the attack leads to."""
        return None if self.attack is None else self.certificate.model.classes[self.attack.rival]

    @cached_property
    def cells(self) -> tuple[CellStanding, ...]:
        """The attack, every place with votes, and the parts of the region that no vote was cast in."""
        found = []
        if self.attack is not None:
            hits, totals = self.attack.votes.readings(self.target)
            found.append(
                CellStanding(
                    ATTACK, "attack", "open", Threshold(0.5, 0.5), self.certificate.alpha, hits, totals,
                    tested=self.attack.parameter,
                )
            )  # fmt: skip
        if self.ledger.chosen is None or self.certificate.stopped == "too-many-cells":
            return tuple(found)
        return (*found, *self.proof.standing(self.ledger).cells)

    @cached_property
    def by_path(self) -> Mapping[str, CellStanding]:
        return {cell.path: cell for cell in self.cells}

    def cell(self, path: str) -> CellStanding:
        """The place of a path."""
        if path not in self.by_path:
            raise InvalidValue(f"this certificate has no cell {path!r}")
        return self.by_path[path]

    @cached_property
    def leaves(self) -> tuple[CellStanding, ...]:
        """The places that stand: refined cells are stood for by their parts."""
        return tuple(c for c in self.cells if c.state != "refined" and c.kind != "attack")

    @cached_property
    def failing(self) -> tuple[CellStanding, ...]:
        """What stands in the way of a certificate, worst first: an attack, then places with votes that do not pass."""
        attack = [c for c in self.cells if c.kind == "attack"]
        tried = [c for c in self.leaves if c.state == "open"]
        return (*attack, *sorted(tried, key=lambda c: (-shortfall(c), c.path)))

    @cached_property
    def untested(self) -> tuple[CellStanding, ...]:
        """The parts of the region that no vote was cast in."""
        return tuple(c for c in self.leaves if c.state == "untested")

    def neighbours(self, cell: CellStanding) -> tuple[CellStanding, ...]:
        """The standing cells that touch a cell."""
        boxes = [(c, c.cell) for c in self.leaves if c.cell is not None and c.path != cell.path]
        if cell.cell is None or not boxes:
            return ()
        low, high = np.array([box.low for _, box in boxes]), np.array([box.high for _, box in boxes])
        slack = 1e-9 * (1 + np.abs(high).max())
        near = (low <= np.array(cell.cell.high) + slack) & (high >= np.array(cell.cell.low) - slack)
        return tuple(other for (other, _), touches in zip(boxes, near.all(axis=1), strict=True) if touches)

    def history(self, cell: CellStanding) -> tuple[CellStanding, ...]:
        """The cells above this one that have votes, the cell itself, and its parts: how the search came here."""
        if self.cover is None or cell.kind != "cell":
            return (cell,)
        cells = [c for c in self.cells if c.kind == "cell" and c.path != cell.path]
        above = [c for c in cells if cell.path.startswith(c.path) and c.n]
        return (*above, cell, *(c for c in cells if c.path.startswith(cell.path)))

    def votes_of(self, cell: CellStanding) -> dict[str, int]:
        """The votes of a place by class, as the ledger has them."""
        if cell.kind == "attack" and self.attack is not None:
            votes = self.attack.votes.total
        else:
            votes = self.ledger.tally(self.stream_of(cell)).total
        return named(votes[int(cell.path)] if cell.kind == "point" else votes, self.certificate.model.classes)

    def stream_of(self, cell: CellStanding) -> str:
        """The name of the place in the ledger, which is the name of its noise."""
        if cell.kind == "attack":
            return refutation_place((self.case.judgement.attack or 0) + 1)
        if cell.cell is None:
            return WHOLE
        assert isinstance(self.proof, CoverProof | GridProof)
        return self.proof.place(cell.cell)

    def points_of(self, cell: CellStanding) -> Tensor:
        """The cloud (N, 3) on which the votes of a place were cast, to the bit."""
        return self.at(cell.z) if cell.kind == "attack" else self.proof.tested_cloud(self.stream_of(cell))

    def at(self, z: Array) -> Tensor:
        """phi(x, z), computed in float64 and rounded once."""
        return self.claim.at(z)

    def size(self, z: Array) -> float:
        """How large an attack is: the factor by which the region would have to shrink to touch it."""
        flat = np.asarray(z, dtype=np.float64).ravel()
        if isinstance(self.transform, CoordinateNoise):
            norm = np.linalg.norm(flat) if self.transform.norm == "l2" else np.abs(flat).max(initial=0.0)
            return float(norm) / self.radii[0]
        assert self.region is not None
        return float(self.region.gauge(flat[None])[0])

    # -- words ---------------------------------------------------------------------------------------------------

    def place(self, cell: CellStanding) -> str:
        """Where a cell is tested, in words."""
        if cell.kind == "point":
            return f"point {cell.path}"
        if not cell.tested:
            return "the object itself"
        if self.is_polar and cell.kind == "cell":
            # The paper covers Euler boxes by rotation vectors, too.
            return GeneralRotation().describe(cell.z)
        return self.describe(cell.z)

    def describe(self, z: Array) -> str:
        """A parameter in words; coordinate noise by its size."""
        if isinstance(self.transform, CoordinateNoise):
            return f"{self.transform.name} {self.size(z) * self.radii[0]:.3g}"
        return self.transform.describe(z)

    def radius_words(self, part: float = 1.0) -> str:
        """A part of the region in the transform's own units, rounded down."""
        parameters = self.transform.radii
        edge = {p.name: p.to_edge(part * r) for p, r in zip(parameters, self.radii, strict=True)}
        return radius_words(parameters, edge)
