"""Every engine gives the same table, and a worker that dies costs nothing but time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tpc_core.engines import LocalEngine
from tpc_core.engines.ray_cluster import RayEngine
from tpc_core.errors import InvalidFile, MissingDependency
from tpc_core.evaluation import InlineEngine, Request, evaluate, prepare, table
from tpc_core.evaluation.sums import Sums
from tpc_core.evaluation.work import read_object

Ask = Callable[..., Request]


def test_two_workers_give_the_table_of_one_even_if_one_dies(ask: Ask, tmp_path: Path) -> None:
    request = ask("tiny-noise", "l2:0.05", "l2:0.2", limit=10, budget_samples=640)
    evaluate(request, tmp_path / "inline", InlineEngine())
    with LocalEngine(2) as engine:
        killed: list[int] = []

        def kill_once(settings: object, sums: Sums) -> None:
            if sums.done >= 2 and not killed:
                killed.append(engine.processes[0])
                os.kill(engine.processes[0], signal.SIGKILL)

        figures = evaluate(request, tmp_path / "local", engine, progress=kill_once)
        assert killed
        assert figures.finished
    for name in ("objects.csv", "objects.parquet"):
        if (tmp_path / "inline" / name).exists():
            assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "inline" / name).read_bytes()


def test_sums_of_workers_are_the_sums_of_the_rows(ask: Ask, tmp_path: Path) -> None:
    request = ask("tiny-noise", "l2:0.05", "z-taper:0.1", limit=8, budget_samples=640)
    seen: list[int] = []
    with LocalEngine(2) as engine:
        figures = evaluate(request, tmp_path / "run", engine, progress=lambda _, sums: seen.append(sums.done))
    assert seen[-1] == figures.done == 8
    assert sum(figures.claims[0].statuses.values()) == 8


def test_the_table_is_made_of_shards_that_workers_write(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask("tiny-noise", "l2:0.05", "z-taper:0.1", limit=8, budget_samples=640)
    in_one = evaluate(request, tmp_path / "one", InlineEngine())
    monkeypatch.setattr(table, "SHARD", 3)
    monkeypatch.setattr(table, "InlineEngine", None)  # nothing of it is written in this process
    with LocalEngine(2) as engine:
        figures = evaluate(request, tmp_path / "shards", engine)
    assert figures.claims == in_one.claims
    assert figures.clean_accuracy == in_one.clean_accuracy
    made = (tmp_path / "shards" / "objects.csv").read_bytes()
    assert made == (tmp_path / "one" / "objects.csv").read_bytes()
    assert made.count(b"\n") == 1 + 2 * 8
    assert not list((tmp_path / "shards").glob(".*"))
    parquet = pytest.importorskip("pyarrow.parquet")
    read = [parquet.read_table(tmp_path / name / "objects.parquet") for name in ("one", "shards")]
    assert read[0].equals(read[1])


def test_another_edition_of_the_data_is_refused(ask: Ask, tmp_path: Path) -> None:
    prepared = prepare(ask("tiny-noise", "l2:0.05"), tmp_path / "run")
    with pytest.raises(InvalidFile, match="another edition"):
        read_object(prepared.dataset, prepared.settings, 4, "somebody else", {})


def test_ray_is_asked_for_with_a_hint_where_it_is_missing() -> None:
    try:
        import ray  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependency, match="pip install"):
            RayEngine()
