"""Every reader promises: a damaged file is read, or refused in one sentence; nothing else ever happens.

`make fuzz` runs the same for as long as you like.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.fuzz import run_batch, try_case
from tests.hostile.targets import TARGETS

CASES = 30


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "forged certificate"])
def test_the_genuine_files_are_read(name: str, tmp_path: Path) -> None:
    for seed in TARGETS[name].seeds():
        assert try_case(TARGETS[name], seed, tmp_path) == "accepted"


@pytest.mark.parametrize("name", list(TARGETS))
def test_damaged_files_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    tally = run_batch(name, seed=2026, cases=CASES, workshop=tmp_path)
    assert tally.outcomes.total() == CASES
    assert tally.outcomes["refused"] > 0
