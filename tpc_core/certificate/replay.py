"""Replay: cast every recorded vote again and compare the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tpc_core import streams
from tpc_core.certificate.schema import (
    CellRecord,
    Certificate,
    GridEvidence,
    GroupEvidence,
    GrownEvidence,
    PointEvidence,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.covers.paper import paper_grid, tested_cloud
from tpc_core.errors import InvalidCertificate
from tpc_core.smoothing import CoordinateSmoothing, smoothing_from_json
from tpc_core.transforms import parse_transform
from tpc_core.votes import BaseClassifier, Counts, Voter, resolve_device


@dataclass(frozen=True)
class _Recount:
    """A series of recorded counts of one stream on one cloud."""

    what: str
    points: Tensor
    stream: str
    sizes: list[int]
    matches: Callable[[int, Counts], bool]
    """Whether the votes of the first `sizes[stage]` samples are what was recorded at that stage."""


def replay(
    certificate: Certificate, model: BaseClassifier, *, on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Cast the votes of a certificate again; the number of votes, or InvalidCertificate where one differs.

    Same seed, same device, same model: every count must come out the same to the vote.
    """
    if model.digest != certificate.model.digest:
        raise InvalidCertificate(
            f"the certificate was made with model {certificate.model.name} "
            f"({certificate.model.digest[:12]}), not with this {model.name} ({model.digest[:12]})"
        )
    if list(model.classes) != certificate.model.classes or model.task != certificate.model.task:
        raise InvalidCertificate("the certificate names other classes or another task than this model has")
    device = resolve_device(certificate.device)
    smoothing = smoothing_from_json(certificate.model.smoothing)
    voter = Voter(model, smoothing, seed=certificate.seed, device=device)
    recounts = list(_recounts(certificate))
    total = sum(max(r.sizes, default=0) for r in recounts)
    done = 0
    for recount in recounts:
        votes: Counts | None = None
        start = 0
        for stage, size in enumerate(recount.sizes):
            more = voter.count(recount.points, recount.stream, start, size)
            votes, start = more if votes is None else votes + more, size
            if not recount.matches(stage, votes):
                raise InvalidCertificate(f"{recount.what}: the votes do not come out as recorded")
        done += start
        if on_progress is not None:
            on_progress(done, total)
    return done


def _recounts(certificate: Certificate) -> Iterator[_Recount]:
    cloud = certificate.cloud.cloud()
    classes = certificate.model.classes
    transform = parse_transform(certificate.claim.transform)
    prediction, evidence = certificate.prediction, certificate.evidence

    def by_name(counts: Counts) -> dict[str, int]:
        return {classes[i]: int(v) for i, v in enumerate(counts) if v > 0}

    def at(z: list[float]) -> Tensor:
        moved = transform.apply(cloud.points.double(), torch.tensor(z, dtype=torch.float64))
        return moved.to(torch.float32)

    if isinstance(evidence, PointEvidence):
        yield from _point_recounts(evidence, cloud.points)
        return
    if prediction is None:
        return
    target = prediction.index
    chosen = prediction.votes
    yield _Recount(
        "the choice of the class",
        cloud.points,
        streams.SELECT,
        [prediction.samples],
        lambda _, votes: by_name(votes) == chosen,
    )
    if isinstance(evidence, GroupEvidence):
        stages = evidence.stages
        sizes = [sum(votes.values()) for votes in stages]
        key = streams.cell(streams.SINGLE)
        yield _Recount("the votes", cloud.points, key, sizes, lambda k, votes: by_name(votes) == stages[k])
    elif isinstance(evidence, SingleEvidence):
        counts = [r.n_a for r in evidence.readings]
        yield _Recount(
            "the votes",
            cloud.points,
            streams.cell(streams.SINGLE),
            [r.n for r in evidence.readings],
            lambda k, votes: int(votes[target]) == counts[k],
        )
    elif isinstance(evidence, TreeEvidence | GrownEvidence | GridEvidence):
        grid = _tested_points(certificate, evidence) if isinstance(evidence, GridEvidence) else None
        for key, cell in _cells(evidence):
            yield _Recount(
                f"cell {key or 'root'}",
                grid(cell.path) if grid is not None else at(_centre(cell.low, cell.high)),
                streams.cell(key),
                [r.n for r in cell.readings],
                lambda k, votes, counts=[r.n_a for r in cell.readings]: int(votes[target]) == counts[k],  # type: ignore[misc]
            )
    if certificate.attack is not None:
        attack = certificate.attack
        yield _Recount(
            "the attack",
            at(attack.parameter),
            streams.attack(attack.parameter),
            [attack.samples],
            lambda _, votes: by_name(votes) == attack.votes,
        )


def _centre(low: list[float], high: list[float]) -> list[float]:
    return [float(v) for v in (np.asarray(low) + np.asarray(high)) / 2]


def _cells(evidence: TreeEvidence | GrownEvidence | GridEvidence) -> Iterator[tuple[str, CellRecord]]:
    """Every recorded cell with the key of its stream."""
    trees = evidence.trees if isinstance(evidence, GrownEvidence) else [evidence]
    for number, tree in enumerate(trees):
        yield from ((streams.shell(number, cell.path), cell) for cell in tree.cells)


def _tested_points(certificate: Certificate, evidence: GridEvidence) -> Callable[[str], Tensor]:
    """The tested clouds of the paper's grid, whose cells do not have their tested point in the middle."""
    cloud = certificate.cloud.cloud()
    transform = parse_transform(certificate.claim.transform)
    smoothing = smoothing_from_json(certificate.model.smoothing)
    assert isinstance(smoothing, CoordinateSmoothing)
    radii = tuple(p.to_internal(certificate.claim.radius[p.name]) for p in transform.radii)
    points = cloud.points.double()
    grid = paper_grid(transform, radii, points.numpy(), smoothing.sigma, evidence.resolution)
    tested = {cell.path: z for cell, z in zip(grid.cells, grid.tested, strict=True)}
    return lambda path: tested_cloud(transform, points, tested[path])


def _point_recounts(evidence: PointEvidence, points: Tensor) -> Iterator[_Recount]:
    rows = np.arange(len(evidence.predictions))
    predictions = np.asarray(evidence.predictions)

    def matches(_: int, votes: Counts) -> bool:
        others = votes.copy()
        others[rows, predictions] = 0
        same_second = np.array_equal(others.max(axis=1), evidence.runner_up)
        return same_second and bool(np.array_equal(votes[rows, predictions], evidence.n_a))

    def chosen(_: int, votes: Counts) -> bool:
        return bool(np.array_equal(votes.argmax(axis=1), predictions))

    if evidence.n:
        yield _Recount("the choice of the parts", points, streams.SELECT, [evidence.selection], chosen)
        yield _Recount("the votes", points, streams.cell(streams.SINGLE), [evidence.n], matches)
