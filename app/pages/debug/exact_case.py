"""A certain proof in Debug: its cells, the cloud that refutes it, and both kinds of proof beside each other."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st
import torch

from app.components.escape_markdown import literal
from app.components.plot import PNG, SVG, plot
from app.components.stage import HOME, stage
from app.components.stage import PNG as PICTURE
from app.components.style import theme
from app.figures.arrays import packed
from app.figures.looks import stage_look
from app.figures.margins import margin_map
from app.figures.scene import scene_of
from app.pages.debug.cases import Case, cases
from app.server.jobs import BoxView
from tpc_core import Certificate
from tpc_core.certificate import CounterexampleRecord, radius_words
from tpc_core.proofs.certain import CellsProof, CertainProof
from tpc_core.verify import certain_case_of

_HEIGHT = 380
_MARKS = {"certified": "✓ Certified", "refuted": "✗ Refuted", "undecided": "? Undecided"}


def exact_workbench(visitor: str, case: Case) -> None:
    """What is proved, cell by cell; the counterexample, if there is one; and what votes say of the same question."""
    certificate = case.certificate
    said = f"{certificate.sentence} {certificate.note}".strip()
    st.html(
        f'<div class="tpc-verdict {certificate.verdict}" data-verdict="{certificate.verdict}">'
        f"<b>{_MARKS[certificate.verdict]}.</b> {html.escape(said)}</div>"
    )
    proof = certain_case_of(certificate).proof
    left, right = st.columns([6, 5], gap="medium")
    with left:
        _cells(certificate, proof)
    with right:
        found = counterexample_of(certificate)
        if found is None:
            st.caption("No counterexample is known.")
        else:
            _attacked(certificate, found)
    both_kinds(visitor, certificate)


def counterexample_of(certificate: Certificate) -> CounterexampleRecord | None:
    """The attack that refutes a proof, or the end of its radius; of parts, the clearest one."""
    record = certificate.certain
    assert record is not None
    if record.kind == "parts":
        return min(record.counterexamples, key=lambda found: found.margin, default=None)
    return record.counterexample


def _cells(certificate: Certificate, proof: CertainProof) -> None:
    if not isinstance(proof, CellsProof) or proof.region.dim > 2:
        st.caption(f"{proof.evidence[:1].upper()}{proof.evidence[1:]}.")
        return
    leaves, margins = proof.leaves
    low, high = proof.region.trim(*leaves.edges(proof.region))
    rows = zip(low.tolist(), high.tolist(), margins.tolist(), strict=True)
    boxes = [BoxView(tuple(a), tuple(b), margin) for a, b, margin in rows]
    transform, half = proof.question.family, proof.region.half_widths
    found = proof.record.counterexample
    figure = margin_map(boxes, transform, half, theme(), None if found is None else found.parameter)
    plot(figure, key="debug_exact_map", height=_HEIGHT, stamp=certificate.checksum, actions=(PNG, SVG))
    st.caption(f"{len(boxes):,} proved cells. A star is a counterexample.")


def _attacked(certificate: Certificate, found: CounterexampleRecord) -> None:
    """The cloud that the network gets wrong, and as a ghost the object itself."""
    transform, points = certificate.question.family, certificate.cloud.cloud().points
    z = torch.tensor(found.parameter, dtype=torch.float64)
    moved = transform.apply(points.double(), z[None])[0].float()
    stage(
        scene_of(points.numpy(), None),
        transform,
        [0.0] * len(transform.parameters),
        key="debug_exact_cloud",
        height=f"{_HEIGHT}px",
        look=stage_look(theme()),
        settings={
            "colouring": "displacement",
            "surface": False,
            "ghost": True,
            "side_by_side": False,
            "point_size": 3.0,
        },
        epoch=certificate.checksum,
        parts={"served": packed(moved.numpy().ravel())},
        farthest=max(0.01, float((moved - points).norm(dim=1).max())),
        camera_of=certificate.checksum,
        title="the counterexample",
        actions=(HOME, PICTURE),
        filename="counterexample",
    )
    rival = certificate.model.classes[found.rival].replace("_", " ")
    place = transform.describe(np.asarray(found.parameter))
    st.caption(
        f"At {literal(place)} the plain network says **{literal(rival)}**, by {-found.margin:.3g} in its logits. "
        "The colour shows how far each point moved. The pale shape is the original object."
    )


def both_kinds(visitor: str, certificate: Certificate) -> None:
    """Exact proofs and proofs by votes of the same object and transform, side by side."""
    same = [
        other.certificate
        for other in cases(visitor).values()
        if other.certificate.cloud.digest == certificate.cloud.digest
        and other.certificate.question.transform == certificate.question.transform
    ]
    every = {each.checksum: each for each in [certificate, *same]}.values()
    st.markdown("**Exact and by votes, for this object**")
    st.dataframe([kind_row(each) for each in every], hide_index=True, width="stretch")
    if len({each.certain is None for each in every}) < 2:
        other = "By votes, smoothed" if certificate.certain is not None else "Exact, plain network"
        st.caption(f"Ask the same question on the Certify page with **{other}** to see both here.")


def kind_row(certificate: Certificate) -> dict[str, str]:
    """What one proof claims, about which network, how sure it is, and what it cost."""
    record, transform = certificate.certain, certificate.question.family
    exact = record is not None
    cost = f"{certificate.samples:,} votes"
    if record is not None:
        cost = f"{record.bounded:,} {'passes' if record.kind == 'ball' else 'cells'}"
    return {
        "Proof": "exact" if exact else "by votes",
        "About": "the plain network" if exact else "the smoothed network",
        "Model": certificate.model.name,
        "Verdict": certificate.verdict,
        "Radius": radius_words(transform.radii, certificate.radius),
        "Chance of error": "none" if exact else f"{100 * certificate.alpha:g} %",
        "Cost": cost,
        "Time": f"{certificate.seconds:.2f} s",
    }
