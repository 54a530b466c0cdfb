"""`make soundness`: 2,000 runs of every certifier on a claim that is false by a hair; writes docs/soundness.md.

The tests run the same cases with fewer runs of the slow ones; here each gets the full number.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from tests.certify.test_soundness import ALPHA, FALSE_CLAIMS, FEW, RUNS, FalseClaim, _gap
from tpc_core.certify import Budget

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "soundness.md"
HEADER = f"""# False-certification rates

Each row is a classifier whose probabilities are known in closed form and which truly fails at a point of the claimed
region, by a hair: the hardest case there is. Out of {RUNS:,} whole runs, how many certified the false claim? A sound
certifier at level alpha = {ALPHA:g} may do so in {ALPHA:.0%} of them. The p-value is that of the count under alpha;
small ones would speak against soundness. Cases far below alpha are claims whose many cells must all pass; the linear
case has a p_A just below what the theorem asks for.

Made by `make soundness`; the tests (`tests/certify/test_soundness.py`) run the same cases, and show that the usual
mistakes exceed alpha (`tests/certify/test_wrong_ways.py`).

| certifier | statistics | falsely certified | rate | p-value |
|---|---|---|---|---|
"""


def main() -> None:
    """Measure, print and write the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    rows: list[str] = []
    for name in FALSE_CLAIMS:
        for statistics in ("staged", "anytime"):
            made = FALSE_CLAIMS[name]()
            budget = FEW if name.startswith("cover") else Budget(samples=60_000)
            case = replace(made, options=replace(made.options, statistics=statistics, budget=budget))
            rows.append(_row(name, statistics, case, runs))
            print(rows[-1], flush=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["tpc_core.certify.paper"], "SAMPLES", 400)
        rows.append(_row("the paper's grid, z-taper", "alpha / M", _gap(0.1, 4), runs))
    DOCUMENT.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"written to {DOCUMENT}")


def _row(name: str, statistics: str, case: FalseClaim, runs: int) -> str:
    wrong = case.false_certificates(runs)
    chance = float(stats.binom.sf(wrong - 1, runs, ALPHA))
    return f"| {name} | {statistics} | {wrong} of {runs:,} | {wrong / runs:.2%} | {chance:.2g} |"


if __name__ == "__main__":
    main()
