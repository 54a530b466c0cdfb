"""The landscape of a question: which map, which class and which noise it takes, for every kind of proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tpc_core.certify import prepare
from tpc_core.cloud import Cloud
from tpc_core.landscape.chart import Chart
from tpc_core.landscape.survey import MOST_VOTES, Landscape, Target, extent, survey, survey_plain
from tpc_core.ledger import look_stream
from tpc_core.proofs import CoverProof, Proof
from tpc_core.question import Question
from tpc_core.smoothing import OneProbability
from tpc_core.votes import BLOCK, BaseClassifier, Voter

_CHOOSING = 2 * BLOCK
"""Votes that choose the class of a map where no run has chosen it yet."""

_MOST_CELLS = 4096


def landscape_events(
    model: BaseClassifier,
    cloud: Cloud,
    question: Question,
    go_on: Callable[[], bool] = lambda: True,
    *,
    target: Target | None = None,
    earlier: Landscape | None = None,
    most_votes: int = MOST_VOTES,
) -> Iterator[Landscape]:
    """The map of p_A around the region of a question, coarse first and ever finer; `target` as a run chose it.

    `earlier` is a map of the same question: it is gone on with.
    A certain proof is about the plain network, so its map is of that. Bad questions are refused at once.
    """
    chart = Chart.of(question.family, len(cloud))
    half = extent(chart, question.radii)
    classes = list(model.classes)
    if question.options.proof == "certain":
        return survey_plain(model.classifier("cpu"), cloud, chart, half, classes, go_on)
    run = prepare(model, cloud, question.transform, question.radius, question.options)
    chosen = target
    if chosen is None:
        chosen = _majority(run.voter, cloud)
    return survey(
        run.voter,
        cloud,
        chart,
        half,
        classes,
        chosen,
        go_on,
        needed=needed_of(run.proof),
        level=question.options.alpha,
        earlier=earlier,
        most_votes=most_votes,
    )


def needed_of(proof: Proof) -> float:
    """The p_A that a proof asks for: of its one probability, or of the cell in the middle of all its first ones."""
    claim = proof.claim
    if isinstance(claim.rule, OneProbability):
        return claim.threshold.q
    if isinstance(proof, CoverProof) and proof.lattice.count_first_cells(proof.region) <= _MOST_CELLS:
        needs = [cell.threshold.q for cell in proof.first_cells if cell.testable]
        return float(np.median(needs)) if needs else 0.5
    return 0.5


def _majority(voter: Voter, cloud: Cloud) -> Target:
    votes = voter.count(cloud.points, look_stream("map|class"), 0, _CHOOSING)
    chosen = np.argmax(votes, axis=-1)
    return int(chosen) if chosen.ndim == 0 else np.asarray(chosen, dtype=np.int64)
