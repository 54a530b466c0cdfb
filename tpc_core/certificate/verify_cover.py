"""Check a cover: every point of the claimed region must lie in a cell that passes on its own counts."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from tpc_core.certificate.checks import Question, agree, best_reading, check_ledger
from tpc_core.certificate.schema import CellRecord, GridEvidence, GrownEvidence, TreeEvidence
from tpc_core.certify.core import grows, holds
from tpc_core.certify.ledger import grid_ledger, rank_ledger
from tpc_core.certify.strategy import choose_strategy
from tpc_core.covers import Cell, CoverTree, PathLevels
from tpc_core.covers.paper import SAMPLES, paper_grid
from tpc_core.errors import InvalidCertificate
from tpc_core.smoothing import CoordinateSmoothing, CoverSmoothing
from tpc_core.statistics import lower_bound
from tpc_core.transforms import Region


def check_cover(question: Question, evidence: TreeEvidence | GrownEvidence | GridEvidence) -> bool:
    """Whether the recorded cells certify the claim; InvalidCertificate where they cannot be genuine."""
    if not isinstance(question.smoothing, CoverSmoothing):
        raise InvalidCertificate("a cover needs coordinate or cylinder smoothing")
    if choose_strategy(question.transform, question.smoothing, question.cloud).kind != "cover":
        raise InvalidCertificate(f"{question.transform.name} is not certified by a cover")
    if isinstance(evidence, GridEvidence):
        return _grid(question, evidence, _records(evidence))
    if isinstance(evidence, GrownEvidence):
        return _grown(question, evidence)
    return _tree(question, evidence)


def _records(evidence: TreeEvidence | GridEvidence) -> dict[str, CellRecord]:
    records = {record.path: record for record in evidence.cells}
    if len(records) != len(evidence.cells):
        raise InvalidCertificate("a cell is recorded twice")
    return records


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
    assert isinstance(question.smoothing, CoverSmoothing)
    points = question.cloud.points.double().numpy()
    root = tuple(evidence.root_radius[p.name] for p in question.transform.radii)
    return CoverTree(
        region=question.transform.region(root),
        reach=question.smoothing.reach(question.transform, points),
        sigma=question.smoothing.sigma,
        cloud_norm=float(np.linalg.norm(points)),
        start=evidence.start,
        ranks=len(evidence.path_shares),
    )


def _tree(question: Question, evidence: TreeEvidence) -> bool:
    """Every point of the claimed region must lie in a passing cell of the tree fixed beforehand."""
    certificate = question.certificate
    factor = evidence.factor if certificate.claim.largest else 1.0
    if not 0 <= factor <= 1:
        raise InvalidCertificate("the largest region cannot exceed the tree that it was read off")
    tree = _checked_tree(question, evidence)
    _check_claimed(question, tree, factor)
    uncovered, reached = _walk(question, evidence, tree)
    if evidence.cells:
        levels = PathLevels(tuple(evidence.path_shares))
        check_ledger(question, rank_ledger(levels, reached + 1, certificate.alpha))
    if certificate.claim.largest:
        blocked = [float(tree.region.nearest_gauge(np.array(c.low), np.array(c.high))) for c in uncovered]
        return evidence.factor > 0 and all(evidence.factor < gauge for gauge in blocked)
    return not uncovered


def _grown(question: Question, evidence: GrownEvidence) -> bool:
    """Tree after tree, each around the one before: inside that one's region it has nothing to say."""
    certificate = question.certificate
    if certificate.claim.largest:
        raise InvalidCertificate("a region that grew has a given radius; it is not the largest one found")
    last = evidence.trees[-1]
    if any(tree.path_shares != last.path_shares for tree in evidence.trees):
        raise InvalidCertificate("the trees of a region that grew must share one schedule of levels")
    core: Region | None = None
    deepest = 0
    uncovered: list[Cell] = []
    for number, recorded in enumerate(evidence.trees):
        tree = _checked_tree(question, recorded)
        if core is not None and not grows(core, tree.region):
            raise InvalidCertificate("a tree does not reach around the one before it")
        uncovered, reached = _walk(question, recorded, tree, core)
        deepest = max(deepest, reached)
        if uncovered and number + 1 < len(evidence.trees):
            raise InvalidCertificate("a region grew that was not certified")
        core = tree.region
    _check_claimed(question, tree, 1.0)
    check_ledger(question, rank_ledger(PathLevels(tuple(last.path_shares)), deepest + 1, certificate.alpha))
    return not uncovered


def _checked_tree(question: Question, evidence: TreeEvidence) -> CoverTree:
    names = [p.name for p in question.transform.radii]
    if set(evidence.root_radius) != set(names):
        raise InvalidCertificate("the root of the tree does not name the radii of the transform")
    for parameter in question.transform.radii:
        parameter.checked_radius(parameter.to_edge(evidence.root_radius[parameter.name]) * (1 - 1e-12))
    return recorded_tree(question, evidence)


def _check_claimed(question: Question, tree: CoverTree, factor: float) -> None:
    if min(question.radii) > 0:
        claimed = question.transform.region(question.radii).half_widths
        if np.any(claimed > factor * tree.region.half_widths * (1 + 1e-9)):
            raise InvalidCertificate("the claimed radius is larger than the region that the tree covers")


def _walk(
    question: Question, evidence: TreeEvidence, tree: CoverTree, core: Region | None = None
) -> tuple[list[Cell], int]:
    """The cells that nothing vouches for, and the deepest rank with votes; cells inside the core need none."""
    records = _records(evidence)
    levels = PathLevels(tuple(evidence.path_shares))
    ordered = sorted(records)
    passed: dict[str, bool] = {}
    reached = 0
    uncovered: list[Cell] = []
    stack = [tree.root()]
    while stack:
        cell = stack.pop()
        if core is not None and holds(core, cell):
            continue
        record = records.get(cell.path)
        if record is not None:
            if not cell.tested:
                raise InvalidCertificate(f"cell {cell.path!r} is too wide to be tested in this tree")
            reached = max(reached, cell.rank)
            level = levels.level(cell.rank, question.certificate.alpha)
            bound = best_reading(question, record.readings, level, question.monitor.bound)
            passed[cell.path] = _check_cell(question, cell, record, level, bound)
            if passed[cell.path]:
                continue
        children = tree.children(cell) if _leads_on(cell.path, ordered) else []
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
    return uncovered, reached


def _grid(question: Question, evidence: GridEvidence, records: dict[str, CellRecord]) -> bool:
    if not isinstance(question.smoothing, CoordinateSmoothing):
        raise InvalidCertificate("the paper's grid needs coordinate smoothing")
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


def _leads_on(path: str, ordered: list[str]) -> bool:
    """Whether a recorded cell lies at or under this one; a search, as a table of all beginnings could fill memory."""
    place = bisect_left(ordered, path)
    return place < len(ordered) and ordered[place].startswith(path)
