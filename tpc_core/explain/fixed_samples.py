"""The paper's protocol takes samples of one fixed size: what did not pass there is asked again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy import special

from tpc_core.case_view import CaseView
from tpc_core.covers.lattice import MOST_FIRST_CELLS
from tpc_core.covers.paper import SAMPLES
from tpc_core.explain.findings import Finding, Remedy
from tpc_core.explain.words import probability
from tpc_core.forecast.nearby import between
from tpc_core.forecast.remaining_cost import cover_cost
from tpc_core.proofs import CellStanding, CoverProof, GridProof, proof_of
from tpc_core.statistics import lower_bound
from tpc_core.transforms import ZYXRotation

_NEW_ALPHA = "A new run has an alpha of its own."
_FINEST = 64.0


def adaptive_run(view: CaseView) -> Remedy:
    """The same question to the adaptive protocol."""
    return Remedy(
        "new-run",
        "ask again with the adaptive protocol",
        votes=_adaptive_votes(view),
        note=f"It refines its cells as needed, and may always go on. {_NEW_ALPHA}",
        protocol="adaptive",
    )


def explain_coarse_grid(view: CaseView, cell: CellStanding, lines: tuple[str, ...]) -> Finding:
    """A cell of the paper's grid whose p_A is too small for its width, though not for a smaller one."""
    assert cell.cell is not None
    finer = _finer_grid(view, cell)
    remedies = [adaptive_run(view)]
    if finer is not None:
        resolution, votes = finer
        words = f"ask again with a finer grid, M = {resolution:,}"
        remedies.append(
            Remedy("new-run", words, votes=votes, note=_NEW_ALPHA, protocol="paper", resolution=resolution)
        )
    needed, looks = probability(cell.needed, cell.guess), probability(cell.guess, cell.needed)
    return Finding(
        "too-coarse",
        f"The votes at one place must prove the whole cell, which reaches {cell.cell.reach:.2f} sigma from there. That "
        f"needs a p_A above {needed}; here p_A is about {looks}.",
        lines,
        tuple(remedies),
        (cell.path,),
    )


def _adaptive_votes(view: CaseView) -> float:
    """What the adaptive protocol would take by the votes at hand; infinite where they lie in other coordinates."""
    proof = proof_of(replace(view.claim, protocol="adaptive", resolution=None))
    voted = [c for c in view.leaves if c.n and c.kind == "cell"]
    if not isinstance(proof, CoverProof) or not voted or isinstance(view.transform, ZYXRotation):
        return math.inf
    if proof.lattice.count_first_cells(proof.region) > MOST_FIRST_CELLS:
        return math.inf
    known, values = np.array([c.z for c in voted]), np.array([c.guess for c in voted])
    cells = proof.first_cells
    looks = between(known, values, proof.region.half_widths)(np.array([c.centre for c in cells]))
    return cover_cost(proof, looks, cells, math.inf)


def _finer_grid(view: CaseView, cell: CellStanding) -> tuple[int, float] | None:
    """The M at which a cell would pass if p_A is as it looks, and the votes that its grid takes."""
    proof, box = view.proof, cell.cell
    assert isinstance(proof, GridProof)
    assert box is not None
    finer = 1.0
    while finer <= _FINEST:
        cells = len(proof.grid.cells) * finer ** len(box.centre)
        bound = lower_bound(math.floor(cell.guess * SAMPLES), SAMPLES, view.claim.alpha / cells)
        if bound > 0.5 and float(special.ndtri(bound)) > box.reach / finer:
            return math.ceil(finer * proof.resolution), SAMPLES * cells
        finer *= 1.05
    return None
