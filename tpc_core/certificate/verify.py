"""Check a certificate: does its verdict follow from its own counts, and do the votes come out again?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.schema import (
    CellRecord,
    Certificate,
    GridEvidence,
    GroupEvidence,
    LedgerEntry,
    PointEvidence,
    Reading,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.certificate.sentence import verdict_sentence
from tpc_core.certify.ledger import grid_ledger, point_ledger, rank_ledger, stage_ledger
from tpc_core.certify.points import evidence_from_counts
from tpc_core.certify.strategy import choose_strategy
from tpc_core.cloud import Cloud
from tpc_core.covers import Cell, CoverTree, PathLevels
from tpc_core.covers.paper import SAMPLES, paper_grid
from tpc_core.errors import InvalidCertificate, TpcError
from tpc_core.smoothing import CoordinateSmoothing, Smoothing, smoothing_from_json
from tpc_core.statistics import (
    AnytimeMonitor,
    Monitor,
    StagedMonitor,
    lower_bound,
    top_class_p_value,
)
from tpc_core.transforms import CoordinateNoise, Transform, parse_transform

_TOLERANCE = 1e-9
"""Recorded bounds may differ from re-derived ones by this much: another libm rounds another way."""


@dataclass(frozen=True)
class Verified:
    """What a check established."""

    verdict: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class _Question:
    """The parts of a certificate that its evidence is judged by, parsed and checked."""

    certificate: Certificate
    cloud: Cloud
    transform: Transform
    radii: tuple[float, ...]
    smoothing: Smoothing
    monitor: Monitor


def verify(certificate: Certificate) -> Verified:
    """Re-derive the verdict from the recorded counts alone, or raise InvalidCertificate with the reason.

    Statistics, displacement and cover are computed anew from the recorded cloud; nothing that was recorded
    as a result is trusted.
    """
    if certificate.checksum != certificate.content_digest:
        raise InvalidCertificate("the checksum does not match: the file was changed after it was made")
    try:
        question = _parse(certificate)
        checks = _check_evidence(question) + _check_refutation(question)
        _check_sentence(question)
    except InvalidCertificate:
        raise
    except (TpcError, ValueError, ArithmeticError, TypeError, LookupError, AssertionError) as error:
        raise InvalidCertificate(f"the certificate is not consistent: {error}") from error
    return Verified(certificate.verdict, ("checksum", "cloud digest", *checks))


def _parse(certificate: Certificate) -> _Question:
    transform = parse_transform(certificate.claim.transform)
    names = [p.name for p in transform.radii]
    if set(certificate.claim.radius) != set(names):
        raise InvalidCertificate(
            f"the radius of {transform.name} names {names}, not {list(certificate.claim.radius)}"
        )
    edge = [certificate.claim.radius[name] for name in names]
    radii = tuple(p.to_internal(value) for p, value in zip(transform.radii, edge, strict=True))
    if certificate.verdict == "certified" and min(radii) <= 0:
        raise InvalidCertificate("a certified radius must be positive")
    statistics = certificate.statistics
    sizes = tuple(statistics.sizes)
    monitor: Monitor = (
        StagedMonitor(sizes, tuple(statistics.shares))
        if statistics.kind == "staged"
        else AnytimeMonitor(sizes)
    )
    prediction = certificate.prediction
    classes = certificate.model.classes
    if len(set(classes)) != len(classes):
        raise InvalidCertificate("the model has two classes of the same name")
    if prediction is not None:
        if not 0 <= prediction.index < len(classes) or classes[prediction.index] != prediction.name:
            raise InvalidCertificate(f"class {prediction.index} of the model is not {prediction.name!r}")
        if sum(prediction.votes.values()) != prediction.samples:
            raise InvalidCertificate("the votes that chose the class do not add up to their number")
        if max(prediction.votes.values(), default=0) != prediction.votes.get(prediction.name, 0):
            raise InvalidCertificate(f"the votes that chose the class do not favour {prediction.name}")
    smoothing = smoothing_from_json(certificate.model.smoothing)
    return _Question(certificate, certificate.cloud.cloud(), transform, radii, smoothing, monitor)


def _check_sentence(question: _Question) -> None:
    certificate = question.certificate
    said = verdict_sentence(
        question.transform,
        question.radii,
        certificate.alpha,
        certificate.verdict,
        certificate.prediction,
        certificate.evidence,
        certificate.reasons,
        certificate.attack,
    )
    if certificate.sentence != said:
        raise InvalidCertificate("the sentence does not say what the certificate shows")


def _check_ledger(question: _Question, expected: list[LedgerEntry]) -> None:
    recorded = question.certificate.ledger
    if [entry.what for entry in recorded] != [entry.what for entry in expected]:
        raise InvalidCertificate("the ledger of alpha does not list what was tested")
    for entry, derived in zip(recorded, expected, strict=True):
        _agree(f"the level of {entry.what}", entry.level, derived.level)


def _check_evidence(question: _Question) -> tuple[str, ...]:
    certificate = question.certificate
    evidence = certificate.evidence
    if certificate.prediction is None and not isinstance(evidence, PointEvidence):
        if certificate.verdict != "undecided":
            raise InvalidCertificate("without a predicted class nothing can be certified or refuted")
        return ("no class was predicted",)
    if isinstance(evidence, SingleEvidence):
        derived = _single(question, evidence)
    elif isinstance(evidence, GroupEvidence):
        derived = _group(question, evidence)
    elif isinstance(evidence, PointEvidence):
        derived = _points(question, evidence)
    else:
        derived = _cover(question, evidence)
    if (certificate.verdict == "certified") != derived:
        said = "certified" if certificate.verdict == "certified" else "not certified"
        raise InvalidCertificate(f"the file says {said}, but its counts say otherwise")
    return (f"{evidence.kind} evidence",)


def _read(
    question: _Question, readings: list[Reading], alpha: float, read: Callable[[int, int, float], float]
) -> float:
    """The best bound of a series of readings: stages in order, counts that can follow one another."""
    best, previous = 0.0, Reading(n=0, n_a=0)
    for stage, reading in enumerate(readings):
        if stage >= len(question.monitor.sizes) or reading.n != question.monitor.sizes[stage]:
            raise InvalidCertificate(f"a bound was read at {reading.n} votes, which is not stage {stage + 1}")
        gained, cast = reading.n_a - previous.n_a, reading.n - previous.n
        if not 0 <= gained <= cast:
            raise InvalidCertificate(
                f"{reading.n_a} of {reading.n} votes cannot follow {previous.n_a} of {previous.n}"
            )
        best, previous = max(best, read(reading.n_a, stage, alpha)), reading
    return best


def _agree(name: str, recorded: float, derived: float) -> None:
    # No absolute tolerance: levels and p-values are small by nature.
    if not math.isclose(recorded, derived, rel_tol=_TOLERANCE, abs_tol=0.0):
        raise InvalidCertificate(f"{name} is recorded as {recorded:.12g}, but the counts give {derived:.12g}")


def _single(question: _Question, evidence: SingleEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    if strategy.rule is None or strategy.rule.name != evidence.rule:
        raise InvalidCertificate(f"a {evidence.rule} certificate does not apply to {question.transform.name}")
    best = _read(question, evidence.readings, question.certificate.alpha, question.monitor.bound)
    _agree("the lower bound of p_A", evidence.lower_bound, best)
    _check_ledger(
        question, stage_ledger(question.monitor, len(evidence.readings), question.certificate.alpha)
    )
    if question.certificate.claim.largest:
        largest = strategy.rule.largest(
            best, question.radii if min(question.radii) > 0 else (1.0,) * len(question.radii)
        )
        certified = all(r <= big * (1 + _TOLERANCE) for r, big in zip(question.radii, largest, strict=True))
        return certified and min(question.radii) > 0
    needed = strategy.rule.needed(question.radii)
    _agree("the needed p_A", evidence.needed, needed)
    return best > needed


def _group(question: _Question, evidence: GroupEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    if strategy.kind != "group":
        raise InvalidCertificate(f"a group certificate does not apply to {question.transform.name}")
    classes, prediction = question.certificate.model.classes, question.certificate.prediction
    assert prediction is not None
    previous = dict.fromkeys(classes, 0)
    certified, p_value, level = False, 1.0, 0.0
    for stage, votes in enumerate(evidence.stages):
        if stage >= len(question.monitor.sizes) or sum(votes.values()) != question.monitor.sizes[stage]:
            raise InvalidCertificate(f"stage {stage + 1} does not hold the number of votes fixed beforehand")
        if set(votes) - set(classes) or any(votes.get(n, 0) < before for n, before in previous.items()):
            raise InvalidCertificate(f"the votes of stage {stage + 1} cannot follow those before")
        previous = {name: votes.get(name, 0) for name in classes}
        p_value = question.monitor.top_class([previous[name] for name in classes], prediction.index)
        level = question.monitor.level(stage, question.certificate.alpha)
        certified = certified or p_value <= level
    if evidence.stages:
        _agree("the p-value", evidence.p_value, p_value)
        _agree("the level of the test", evidence.level, level)
    _check_ledger(question, stage_ledger(question.monitor, len(evidence.stages), question.certificate.alpha))
    return certified


def _points(question: _Question, evidence: PointEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    rule = "group" if strategy.kind == "group" else strategy.rule.name if strategy.rule else "cover"
    if rule != evidence.rule or len(evidence.predictions) != len(question.cloud):
        raise InvalidCertificate("the evidence does not fit the cloud and the smoothing")
    classes = len(question.certificate.model.classes)
    if any(not 0 <= label < classes for label in evidence.predictions):
        raise InvalidCertificate("a point is predicted to be of a part that the model does not have")
    if evidence.n == 0:
        if any(evidence.certified) or any(evidence.jointly_certified):
            raise InvalidCertificate("a point is certified without a single vote")
        return False
    if evidence.n != question.monitor.sizes[-1]:
        raise InvalidCertificate("the number of votes is not the one fixed beforehand")
    needed = 0.5 if strategy.rule is None else strategy.rule.needed(question.radii)
    _agree("the needed p_A", evidence.needed, needed)
    for own, rival in zip(evidence.n_a, evidence.runner_up, strict=True):
        # All votes are for the predicted part or for one of the others, none of which beats the runner-up.
        if not own + rival <= evidence.n <= own + rival * (classes - 1):
            raise InvalidCertificate(
                f"{own} and {rival} of {evidence.n} votes cannot be the two largest counts"
            )
    derived = evidence_from_counts(
        evidence.rule,
        evidence.predictions,
        evidence.selection,
        evidence.n,
        evidence.n_a,
        evidence.runner_up,
        needed,
        question.certificate.alpha,
    )
    if derived.certified != evidence.certified or derived.jointly_certified != evidence.jointly_certified:
        raise InvalidCertificate("the certified points do not follow from the counts")
    for recorded, bound in zip(evidence.lower_bounds, derived.lower_bounds, strict=True):
        _agree("the lower bound of a point", recorded, bound)
    _check_ledger(question, point_ledger(len(question.cloud), question.certificate.alpha))
    return all(derived.certified)


def _cover(question: _Question, evidence: TreeEvidence | GridEvidence) -> bool:
    if not isinstance(question.smoothing, CoordinateSmoothing):
        raise InvalidCertificate("a cover needs coordinate smoothing")
    if choose_strategy(question.transform, question.smoothing, question.cloud).kind != "cover":
        raise InvalidCertificate(f"{question.transform.name} is not certified by a cover")
    records = {record.path: record for record in evidence.cells}
    if len(records) != len(evidence.cells):
        raise InvalidCertificate("a cell is recorded twice")
    if isinstance(evidence, GridEvidence):
        return _grid(question, evidence, records)
    return _tree(question, evidence, records)


def _check_cell(question: _Question, cell: Cell, record: CellRecord, alpha: float, bound: float) -> bool:
    """Whether the cell passes; its box, reach and bound must be what the cloud and the counts give."""
    box = np.array([record.low, record.high])
    if box.shape != (2, len(cell.low)) or not np.allclose(box, [cell.low, cell.high], rtol=1e-9, atol=1e-12):
        raise InvalidCertificate(f"cell {record.path!r} is not where the cover puts it")
    _agree(f"the reach of cell {record.path!r}", record.reach, cell.reach)
    _agree(f"the needed p_A of cell {record.path!r}", record.needed, cell.needed)
    _agree(f"the lower bound of cell {record.path!r}", record.lower_bound, bound)
    passed = bound > cell.needed
    if passed != (record.state == "passed"):
        raise InvalidCertificate(
            f"cell {record.path!r} is recorded as {record.state}, but its counts say otherwise"
        )
    return passed


def _tree(question: _Question, evidence: TreeEvidence, records: dict[str, CellRecord]) -> bool:
    """Every point of the claimed region must lie in a passing cell of the tree fixed beforehand."""
    assert isinstance(question.smoothing, CoordinateSmoothing)
    certificate = question.certificate
    names = [p.name for p in question.transform.radii]
    if set(evidence.root_radius) != set(names):
        raise InvalidCertificate("the root of the tree does not name the radii of the transform")
    root_radii = tuple(evidence.root_radius[name] for name in names)
    factor = evidence.factor if certificate.claim.largest else 1.0
    if not 0 <= factor <= 1:
        raise InvalidCertificate("the largest region cannot exceed the tree that it was read off")
    for parameter, root in zip(question.transform.radii, root_radii, strict=True):
        parameter.checked_radius(parameter.to_edge(root) * (1 - 1e-12))
    points = question.cloud.points.double().numpy()
    levels = PathLevels(tuple(evidence.path_shares))
    tree = CoverTree(
        region=question.transform.region(root_radii),
        reach=question.transform.reach(points),
        sigma=question.smoothing.sigma,
        cloud_norm=float(np.linalg.norm(points)),
        start=evidence.start,
        ranks=len(evidence.path_shares),
    )
    if min(question.radii) > 0:
        claimed = question.transform.region(question.radii).half_widths
        if np.any(claimed > factor * tree.region.half_widths * (1 + 1e-9)):
            raise InvalidCertificate("the claimed radius is larger than the region that the tree covers")
    prefixes = {path[:depth] for path in records for depth in range(len(path) + 1)}
    passed: dict[str, bool] = {}
    reached = 0
    uncovered: list[Cell] = []
    stack = [tree.root()]
    while stack:
        cell = stack.pop()
        record = records.get(cell.path)
        if record is not None:
            if not cell.tested:
                raise InvalidCertificate(f"cell {cell.path!r} is too wide to be tested in this tree")
            reached = max(reached, cell.rank)
            level = levels.level(cell.rank, certificate.alpha)
            bound = _read(question, record.readings, level, question.monitor.bound)
            passed[cell.path] = _check_cell(question, cell, record, level, bound)
            if passed[cell.path]:
                continue
        children = tree.children(cell) if cell.path in prefixes else []
        if (
            children
            and (record is None or record.state == "refined")
            and not (record is None and cell.tested)
        ):
            stack.extend(children)
        else:
            uncovered.append(cell)
    strangers = set(records) - set(passed)
    if strangers:
        raise InvalidCertificate(
            f"cell {min(strangers)!r} is not part of the tree, or lies under a cell that passed"
        )
    if records:
        _check_ledger(question, rank_ledger(levels, reached + 1, certificate.alpha))
    if certificate.claim.largest:
        blocked = [float(tree.region.nearest_gauge(np.array(c.low), np.array(c.high))) for c in uncovered]
        return evidence.factor > 0 and all(evidence.factor < gauge for gauge in blocked)
    return not uncovered


def _grid(question: _Question, evidence: GridEvidence, records: dict[str, CellRecord]) -> bool:
    assert isinstance(question.smoothing, CoordinateSmoothing)
    points = question.cloud.points.double().numpy()
    grid = paper_grid(
        question.transform, question.radii, points, question.smoothing.sigma, evidence.resolution
    )
    level = question.certificate.alpha / len(grid.cells)
    _check_ledger(question, grid_ledger(len(grid.cells), question.certificate.alpha))
    by_path = {cell.path: cell for cell in grid.cells}
    passed = 0
    for path, record in records.items():
        if path not in by_path or [r.n for r in record.readings] != [SAMPLES]:
            raise InvalidCertificate(f"cell {path!r} is not a cell of the paper's grid with {SAMPLES} votes")
        bound = lower_bound(record.readings[0].n_a, SAMPLES, level)
        passed += _check_cell(question, by_path[path], record, level, bound)
    return passed == len(grid.cells)


def _check_refutation(question: _Question) -> tuple[str, ...]:
    """A refuted verdict needs an attack inside the region whose votes prove it."""
    certificate, transform = question.certificate, question.transform
    attack, prediction = certificate.attack, certificate.prediction
    if (certificate.verdict == "refuted") != (attack is not None):
        raise InvalidCertificate("a refuted verdict and a recorded attack go together")
    if attack is None or prediction is None:
        return ()
    parameter = np.asarray(attack.parameter, dtype=np.float64)
    if not _is_inside(parameter, transform, question.radii):
        raise InvalidCertificate("the recorded attack lies outside the claimed region")
    if set(attack.edge) != {p.name for p in transform.parameters}:
        raise InvalidCertificate("the recorded attack does not name the transform's parameters")
    for name, value in transform.named_values(parameter).items():
        _agree(f"{name} of the attack", attack.edge[name], value)
    if attack.winner not in certificate.model.classes or set(attack.votes) - set(certificate.model.classes):
        raise InvalidCertificate("the recorded attack leads to a class that the model does not have")
    if attack.winner == prediction.name or sum(attack.votes.values()) != attack.samples:
        raise InvalidCertificate("the votes of the recorded attack do not add up")
    pair = [attack.votes.get(attack.winner, 0), attack.votes.get(prediction.name, 0)]
    _agree("the p-value of the attack", attack.p_value, top_class_p_value(pair, 0))
    if top_class_p_value(pair, 0) > certificate.alpha:
        raise InvalidCertificate("the votes of the recorded attack do not prove that another class wins")
    return ("attack",)


def _is_inside(z: np.ndarray, transform: Transform, radii: tuple[float, ...]) -> bool:
    """Whether a parameter lies in the claimed region, up to rounding."""
    if isinstance(transform, CoordinateNoise):
        size = float(np.linalg.norm(z) if transform.norm == "l2" else np.abs(z).max(initial=0.0))
        return size <= radii[0] * (1 + 1e-6)
    region = transform.region(radii)
    return z.shape == (region.dim,) and bool(region.gauge(z[None])[0] <= 1 + 1e-6)
