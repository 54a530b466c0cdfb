"""On a device the votes of many objects share passes: every vote, line and certificate is as without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tpc_core import votes
from tpc_core.certificate import Certificate
from tpc_core.engines.inline import Inline
from tpc_core.engines.shared_passes import SharedPasses
from tpc_core.errors import InvalidValue
from tpc_core.evaluation import Request, prepare
from tpc_core.evaluation.rows import Rows
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.work import ObjectsWork
from tpc_core.models import Model
from tpc_core.models.folded import FoldedPointNet
from tpc_core.votes import BLOCK, Ballot, Voter

Ask = Callable[..., Request]
CPU = torch.device("cpu")
OBJECTS = 8


@pytest.fixture
def on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a device, on the CPU, with passes that a core computes in a moment."""
    monkeypatch.setattr(Voter, "in_passes", True)
    monkeypatch.setattr(votes, "BLOCKS_PER_PASS", 8)


def lines_of(prepared: Any) -> tuple[list[str], list[str]]:
    """The lines of the first objects without their seconds, and all certificates without theirs."""
    numbers = tuple(range(OBJECTS))
    ids = tuple(prepared.dataset.object_id(number) for number in numbers)
    work = ObjectsWork(
        prepared.settings, prepared.model, numbers, ids, prepared.labels, True, tuple(objects(prepared, ids))
    )
    rows, certificates = [], []
    for message in work.run(Inline()):
        assert isinstance(message, Rows)
        rows += [line.rpartition('"seconds"')[0] for line in message.lines.decode().splitlines()]
        made = (text for each in message.certificates.values() for text in each.values())
        certificates += [
            Certificate.from_json(text).model_copy(update={"seconds": 0.0}).to_json() for text in made
        ]
    return rows, certificates


def objects(prepared: Any, ids: tuple[str, ...]) -> list[Any]:
    from tpc_core.evaluation.work import read_object

    return [
        read_object(prepared.dataset, prepared.settings, n, name, prepared.labels)
        for n, name in enumerate(ids)
    ]


def test_lines_and_certificates_are_the_same_to_the_byte(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_a_device: None
) -> None:
    prepared = prepare(ask("tiny-noise", "l2:0.05", "z-taper:0.1", budget_samples=320), tmp_path / "run")
    passes: list[int] = []
    network = FoldedPointNet.__call__

    def counted(self: FoldedPointNet, points: torch.Tensor) -> torch.Tensor:
        passes[-1] += len(points) > 1
        return network(self, points)

    monkeypatch.setattr(FoldedPointNet, "__call__", counted)
    found = []
    for shares in (False, True):
        monkeypatch.setattr(Settings, "shares_passes", shares)
        passes.append(0)
        found.append(lines_of(prepared))
    assert found[0] == found[1]
    assert len(found[0][0]) == OBJECTS
    assert len(found[0][1]) >= OBJECTS
    alone, shared = passes
    assert shared < alone / 2, "eight objects should need far fewer passes together than one after the other"


def voter_of(model: Model, seed: int) -> Voter:
    return Voter(model, model.smoothing, seed=seed, device=CPU)


def test_an_error_is_raised_in_its_place_and_hurts_no_other_run(
    ask: Ask, tmp_path: Path, on_a_device: None
) -> None:
    model = prepare(ask("tiny-noise", "l2:0.05"), tmp_path / "run").model
    voter = voter_of(model, 0)
    network = voter.classifier
    voter.classifier = lambda points: network(points).masked_fill(
        (points > 90).any(-1).any(-1)[:, None], float("nan")
    )
    good, bad = torch.zeros(16, 3), torch.full((16, 3), 100.0)

    def run(number: int) -> int:
        points = bad if number == 3 else good + 0.01 * number
        return int(voter.for_seed(number).count(points, "cell", 0, 3 * BLOCK).sum())

    results = SharedPasses[int]().results([lambda n=n: run(n) for n in range(6)])
    assert [next(results) for _ in range(3)] == [3 * BLOCK] * 3
    with pytest.raises(InvalidValue, match="NaN"):
        next(results)


def test_a_reader_who_stops_leaves_no_thread_waiting(ask: Ask, tmp_path: Path, on_a_device: None) -> None:
    model = prepare(ask("tiny-noise", "l2:0.05"), tmp_path / "run").model
    voter = voter_of(model, 0)
    ended: list[str] = []

    def run(number: int) -> int:
        try:
            for turn in range(1000):
                voter.for_seed(number).count(torch.zeros(16, 3), f"cell {turn}", 0, BLOCK)
                if number == 0:
                    return number
        finally:
            ended.append("over")
        return number

    results = SharedPasses[int](together=4).results([lambda n=n: run(n) for n in range(4)])
    assert next(results) == 0
    results.close()
    patience = time.monotonic() + 20
    while len(ended) < 4 and time.monotonic() < patience:
        time.sleep(0.01)
    assert len(ended) == 4


def test_votes_in_company_are_the_votes_alone(ask: Ask, tmp_path: Path, on_a_device: None) -> None:
    model = prepare(ask("tiny-noise", "l2:0.05"), tmp_path / "run").model
    base = voter_of(model, 0)
    clouds = [0.1 * torch.randn(16, 3, generator=torch.Generator().manual_seed(n)) for n in range(9)]
    alone = [base.for_seed(n).cast([Ballot(c, "cell", 5, 90 + n)])[0] for n, c in enumerate(clouds)]
    together = list(
        SharedPasses[Any]().results(
            [
                lambda n=n, c=c: base.for_seed(n).cast([Ballot(c, "cell", 5, 90 + n)])[0]
                for n, c in enumerate(clouds)
            ]
        )
    )
    assert [x.tolist() for x in alone] == [x.tolist() for x in together]
