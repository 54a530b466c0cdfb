"""The paper's protocol: a uniform grid, 10,000 votes a cell, every cell at level alpha / M."""

from __future__ import annotations

from collections.abc import Generator

from tpc_core.certificate.schema import CellRecord, GridEvidence, Prediction, Reason
from tpc_core.certify.events import SHOWN_LIMIT, CellDecided, CellStarted, Event, Planned, VotesCounted
from tpc_core.certify.ledger import grid_ledger
from tpc_core.certify.run import Outcome, Run, Tally, cast_stage
from tpc_core.covers.paper import SAMPLES, feasible_resolution, paper_grid, tested_cloud
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.statistics import lower_bound


def certify_paper(
    run: Run, prediction: Prediction, resolution: int | None
) -> Generator[Event, None, Outcome]:
    """Test every cell of the grid; the first that fails ends the run."""
    smoothing = run.voter.smoothing
    assert isinstance(smoothing, CoordinateSmoothing)
    cloud = run.cloud.points.double()
    resolution = grid_resolution(run, resolution)
    grid = paper_grid(run.transform, run.radii, cloud.numpy(), smoothing.sigma, resolution)
    level = run.alpha / len(grid.cells)
    waiting = tuple(grid.cells) if len(grid.cells) <= SHOWN_LIMIT else ()
    yield Planned(len(grid.cells), float(SAMPLES * len(grid.cells)), waiting)
    records: list[CellRecord] = []
    reasons: list[Reason] = []
    passed = 0
    for cell, z in zip(grid.cells, grid.tested, strict=True):
        run.control.cells += 1
        tally = Tally(cell.path, tested_cloud(run.transform, cloud, z), prediction.index, cell)
        yield CellStarted(cell)
        if not (yield from cast_stage(run, tally, SAMPLES)):
            reasons.append(
                run.control.stop_reason() or Reason(code="budget", message="the budget of samples ended")
            )
            break
        bound = lower_bound(tally.n_a, tally.n, level)
        ok = bound > cell.needed
        passed += ok
        yield VotesCounted(cell, tally.n, tally.n_a, bound, run.control.samples)
        yield CellDecided(cell, ok, tally.n, tally.n_a, bound, passed / len(grid.cells))
        records.append(tally.record(cell, bound, "passed" if ok else "failed"))
        if not ok:
            text = f"cell {cell.path}: p_A is at least {bound:.4f} only, and {cell.needed:.4f} is needed"
            reasons.append(
                Reason(code="not-confident", message=f"{text}; a finer grid (larger M) needs less")
            )
            if not run.complete:
                break
    evidence = GridEvidence(resolution=resolution, cells=records)
    ledger = grid_ledger(len(grid.cells), run.alpha)
    done = passed == len(grid.cells)
    return Outcome("certified" if done else "undecided", evidence, ledger, reasons[:1])


def grid_resolution(run: Run, resolution: int | None) -> int:
    """M as asked for, or the smallest that can certify."""
    if resolution is not None:
        return resolution
    smoothing = run.voter.smoothing
    assert isinstance(smoothing, CoordinateSmoothing)
    points = run.cloud.points.double().numpy()
    return feasible_resolution(run.transform, run.radii, points, smoothing.sigma, run.alpha)
