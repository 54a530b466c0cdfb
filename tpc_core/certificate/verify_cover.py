"""Check a cover: every point of the claimed region must lie in a cell that passes on its own counts."""

from __future__ import annotations

import numpy as np

from tpc_core.certificate.checks import Question, agree, best_reading, check_ledger
from tpc_core.certificate.schema import CellRecord, GridEvidence, TreeEvidence
from tpc_core.certify.ledger import grid_ledger, rank_ledger
from tpc_core.certify.strategy import choose_strategy
from tpc_core.covers import Cell, CoverTree, PathLevels
from tpc_core.covers.paper import SAMPLES, paper_grid
from tpc_core.errors import InvalidCertificate
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.statistics import lower_bound


def check_cover(question: Question, evidence: TreeEvidence | GridEvidence) -> bool:
    """Whether the recorded cells certify the claim; InvalidCertificate where they cannot be genuine."""
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


def _check_cell(question: Question, cell: Cell, record: CellRecord, alpha: float, bound: float) -> bool:
    """Whether the cell passes; its box, reach and bound must be what the cloud and the counts give."""
    box = np.array([record.low, record.high])
    if box.shape != (2, len(cell.low)) or not np.allclose(box, [cell.low, cell.high], rtol=1e-9, atol=1e-12):
        raise InvalidCertificate(f"cell {record.path!r} is not where the cover puts it")
    agree(f"the reach of cell {record.path!r}", record.reach, cell.reach)
    agree(f"the needed p_A of cell {record.path!r}", record.needed, cell.needed)
    agree(f"the lower bound of cell {record.path!r}", record.lower_bound, bound)
    passed = bound > cell.needed
    if passed != (record.state == "passed"):
        raise InvalidCertificate(
            f"cell {record.path!r} is recorded as {record.state}, but its counts say otherwise"
        )
    return passed


def recorded_tree(question: Question, evidence: TreeEvidence) -> CoverTree:
    """The tree whose cells a certificate lists; it follows from the cloud, the root region and sigma."""
    assert isinstance(question.smoothing, CoordinateSmoothing)
    points = question.cloud.points.double().numpy()
    root = tuple(evidence.root_radius[p.name] for p in question.transform.radii)
    return CoverTree(
        region=question.transform.region(root),
        reach=question.transform.reach(points),
        sigma=question.smoothing.sigma,
        cloud_norm=float(np.linalg.norm(points)),
        start=evidence.start,
        ranks=len(evidence.path_shares),
    )


def _tree(question: Question, evidence: TreeEvidence, records: dict[str, CellRecord]) -> bool:
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
    levels = PathLevels(tuple(evidence.path_shares))
    tree = recorded_tree(question, evidence)
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
            bound = best_reading(question, record.readings, level, question.monitor.bound)
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
        check_ledger(question, rank_ledger(levels, reached + 1, certificate.alpha))
    if certificate.claim.largest:
        blocked = [float(tree.region.nearest_gauge(np.array(c.low), np.array(c.high))) for c in uncovered]
        return evidence.factor > 0 and all(evidence.factor < gauge for gauge in blocked)
    return not uncovered


def _grid(question: Question, evidence: GridEvidence, records: dict[str, CellRecord]) -> bool:
    assert isinstance(question.smoothing, CoordinateSmoothing)
    points = question.cloud.points.double().numpy()
    grid = paper_grid(
        question.transform, question.radii, points, question.smoothing.sigma, evidence.resolution
    )
    level = question.certificate.alpha / len(grid.cells)
    check_ledger(question, grid_ledger(len(grid.cells), question.certificate.alpha))
    by_path = {cell.path: cell for cell in grid.cells}
    passed = 0
    for path, record in records.items():
        if path not in by_path or [r.n for r in record.readings] != [SAMPLES]:
            raise InvalidCertificate(f"cell {path!r} is not a cell of the paper's grid with {SAMPLES} votes")
        bound = lower_bound(record.readings[0].n_a, SAMPLES, level)
        passed += _check_cell(question, by_path[path], record, level, bound)
    return passed == len(grid.cells)
