"""The load test's attacker is counted: a run in which it did nothing proves nothing, and does not pass."""

from __future__ import annotations

from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.app_load import attack_table, broken_promises
from benchmarks.attacker import idle_kinds

EFFECTIVE = {
    "certificates: sent": 3,
    "files: of 49 MB, announced, taken": 2,
    "files: of 49 MB, under an invented name, refused (403)": 2,
    "slow files: begun": 1,
    "runs: begun": 9,
    "reruns: begun by the server": 40,
    "connections: opened": 40,
}


def found(**changed: Any) -> dict[str, Any]:
    usual = {
        "at_once": 3, "attack": EFFECTIVE, "lines": [100.0] * 20, "reply": [], "painted": [], "runs": [],
        "troubles": [], "certificates": 0, "memory": SimpleNamespace(largest=900.0),
    }  # fmt: skip
    return {**usual, **changed}


def test_a_run_that_holds_what_is_promised_passes() -> None:
    assert broken_promises(found(), "") == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"lines": [100.0] * 18 + [1200.0] * 2}, "more than 1000 ms"),
        ({"memory": SimpleNamespace(largest=2100.0)}, "more than 2000 MB"),
        ({"troubles": ["marked-001 shows an error: x"]}, "shows an error"),
        ({"lines": []}, "no honest visitor"),
        ({"attack": {}}, "slow files"),
        ({"attack": {**EFFECTIVE, "runs: begun": 0}}, "came through: runs"),
    ],
)
def test_what_does_not_hold_is_named(changed: dict[str, Any], words: str) -> None:
    assert any(words in said for said in broken_promises(found(**changed), ""))


def test_a_stack_in_the_log_does_not_pass() -> None:
    assert broken_promises(found(), "Traceback (most recent call last)")


def test_what_was_only_broken_off_did_not_come_through() -> None:
    assert idle_kinds({"files: broken off (TimeoutError)": 4, "reruns: asked for": 7}) == [
        "certificates", "files", "slow files", "runs", "reruns", "connections",
    ]  # fmt: skip
    assert idle_kinds(EFFECTIVE) == []


def test_every_run_is_a_row_of_the_table() -> None:
    given = Namespace(seconds=60.0, visitors=20, pages=2, load=0.1)
    table = attack_table([found(at_once=0, attack={}), found(), found(at_once=8, lines=[])], given)
    assert "| no attacker | 20 | 0.10 | 0.10 | 0.10 | 0 | 900 | 0 |" in table
    assert "| 8 | 0 | - | - | - | 0 | 900 | 0 |" in table
    assert "| runs: begun | 9 | 9 |" in table
