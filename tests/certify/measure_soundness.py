"""`make soundness`: 2,000 runs of every certifier, and of every way of going on, on claims that are false by a hair.

Writes docs/soundness.md. The tests run the same cases with fewer runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from tests.certify.test_going_on import WAYS
from tests.certify.test_soundness import (
    ALPHA,
    FALSE_CLAIMS,
    FEW,
    RUNS,
    _gap,
    shrink_the_papers_sample,
)
from tests.classifiers import simulated_votes

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "soundness.md"
HEADER = """# False-certification rates

Each row is a classifier whose probabilities are known in closed form and which truly fails at a point of the claimed
region, by a hair: the hardest case there is. Out of {runs:,} whole runs, how many certified the false claim? A sound
certifier at level alpha = {alpha:g} may do so in {alpha:.0%} of them. The p-value is that of the count under alpha;
small ones would speak against soundness. Cases far below alpha are claims whose many cells must all pass, and covers
spend a quarter of alpha on their first cells; the linear case has a p_A just below what the theorem asks for.

The second table takes one such claim and goes on in every way that there is, as often as it likes, stopping when it
looks good. Draws are keyed by seed, stream and block, as the real noise is, so that a second chance on fresh noise
would show.

Made by `make soundness`; the tests (`tests/certify/test_soundness.py`, `test_going_on.py`) run the same cases, and show
that the usual mistakes exceed alpha (`tests/certify/test_wrong_ways.py`).

"""


def claim(name: str, runs: int) -> str:
    """A row for one certifier."""
    made = FALSE_CLAIMS[name]()
    return row(name, replace(made, options=replace(made.options, budget=FEW)).false_certificates(runs), runs)


def papers_grid(name: str, runs: int) -> str:
    """A row for the paper's own grid, with a smaller sample so that it works near its level."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_the_papers_sample(patch)
        return row(name, _gap(0.1, 4).false_certificates(runs), runs)


def way(name: str, runs: int) -> str:
    """A row for one way of going on."""
    with simulated_votes():
        return row(name, sum(WAYS[name](seed) for seed in range(runs)), runs)


def row(name: str, wrong: int, runs: int) -> str:
    chance = float(stats.binom.sf(wrong - 1, runs, ALPHA))
    return f"| {name} | {wrong} of {runs:,} | {wrong / runs:.2%} | {chance:.2g} |"


def table(
    pool: ProcessPoolExecutor, title: str, work: list[tuple[Callable[[str, int], str], str]], runs: int
) -> Iterator[str]:
    yield f"| {title} | falsely certified | rate | p-value |"
    yield "|---|---|---|---|"
    for done in [pool.submit(make, name, runs) for make, name in work]:
        print(done.result(), flush=True)
        yield done.result()


def main() -> None:
    """Measure, print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    certifiers = [(claim, name) for name in FALSE_CLAIMS] + [(papers_grid, "the paper's grid, z-taper")]
    with ProcessPoolExecutor(asked.workers) as pool:
        lines = [
            *table(pool, "certifier", certifiers, asked.runs),
            "",
            *table(pool, "way of going on", [(way, name) for name in WAYS], asked.runs),
        ]
    header = HEADER.format(runs=asked.runs, alpha=ALPHA)
    DOCUMENT.write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"written to {DOCUMENT}")


if __name__ == "__main__":
    main()
