"""The paper's protocol: a uniform grid, 10,000 votes a cell, every cell at level alpha / M."""

from __future__ import annotations

from collections.abc import Generator

from tpc_core.certificate.schema import Stop
from tpc_core.certify.events import SHOWN_LIMIT, CellDecided, CellStarted, Event, Planned, VotesCounted
from tpc_core.certify.run import Request, Run
from tpc_core.covers.paper import SAMPLES
from tpc_core.proofs import GridProof
from tpc_core.votes import BLOCK


def search_grid(run: Run) -> Generator[Event, None, Stop]:
    """Test every cell of the grid; the first that fails ends the run."""
    proof = run.proof
    assert isinstance(proof, GridProof)
    cells = proof.grid.cells
    waiting = cells if len(cells) <= SHOWN_LIMIT else ()
    yield Planned(len(cells), float(SAMPLES * len(cells)), waiting)
    passed, failed = 0, False
    for cell in cells:
        place = proof.place(cell)
        run.control.cells += 1
        yield CellStarted(cell)
        missing = (SAMPLES - run.ledger.tally(place).n) // BLOCK
        if missing and not run.affordable(missing * BLOCK):
            return "budget"
        for _ in run.cast([Request(place, proof.tested_cloud(place), missing)] if missing else []):
            tally = run.ledger.tally(place)
            hits = int(tally.total[run.target])
            yield VotesCounted(cell, tally.n, hits, proof.level, run.ledger.samples)
        tally = run.ledger.tally(place)
        if tally.n < SAMPLES:
            return run.stop_reason()
        ok = proof.passes(cell, tally, run.target)
        passed += ok
        failed = failed or not ok
        hits = int(tally.total[run.target])
        yield CellDecided(cell, ok, tally.n, hits, proof.level, passed / len(cells))
        if failed and not run.question.options.complete:
            break
    return "hopeless" if failed else "settled"
