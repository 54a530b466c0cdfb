"""Every engine gives the same table, and a worker that dies costs nothing but time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tpc_core.errors import InvalidValue, MissingDependency, TpcError
from tpc_core.evaluation import InlineEngine, LocalEngine, Request, evaluate, prepare
from tpc_core.evaluation.objects import Result, Task
from tpc_core.evaluation.ray_engine import RayEngine, checkpoint_files, evaluate_remotely
from tpc_core.evaluation.run import _tasks

Ask = Callable[..., Request]


def broken_tasks(ask: Ask, tmp_path: Path) -> list[Task]:
    """A task whose checkpoint is not the one that it was made for."""
    prepared = prepare(ask("tiny-noise", "l2:0.05"), tmp_path / "broken")
    changed = replace(prepared, settings=prepared.settings.model_copy(update={"model_digest": "0" * 64}))
    return list(_tasks(changed, [4], certificates=False))


def test_two_workers_give_the_table_of_one_even_if_one_dies(ask: Ask, tmp_path: Path) -> None:
    request = ask("tiny-noise", "l2:0.05", "l2:0.2", limit=10, budget_samples=640)
    evaluate(request, tmp_path / "inline", InlineEngine())
    with LocalEngine(2) as engine:
        killed = []

        def kill_once(settings: object, rows: dict[int, object]) -> None:
            # Both may have answered at the same moment, and have no task just then; the next answer will do.
            busy = [worker for worker in engine._workers if worker.task is not None]
            if len(rows) >= 2 and busy and not killed:
                killed.append(busy[0].process.pid)
                os.kill(busy[0].process.pid or 0, signal.SIGKILL)

        evaluate(request, tmp_path / "local", engine, progress=kill_once)
        processes = [worker.process for worker in engine._workers]
        assert killed
        with pytest.raises(TpcError, match=r"object 4 \(table_0004\).*changed"):
            list(engine.run(broken_tasks(ask, tmp_path)))
    assert (tmp_path / "local" / "objects.csv").read_bytes() == (
        tmp_path / "inline" / "objects.csv"
    ).read_bytes()
    assert not any(process.is_alive() for process in processes)


def test_no_worker_is_no_engine() -> None:
    with pytest.raises(InvalidValue):
        LocalEngine(0)


def test_a_remote_worker_needs_nothing_but_the_task_and_the_checkpoint(ask: Ask, tmp_path: Path) -> None:
    prepared = prepare(ask("tiny-group", "general-rotation:180"), tmp_path / "run")
    (task,) = _tasks(prepared, [3], certificates=False)
    remote = evaluate_remotely(task, checkpoint_files(prepared.settings.model))
    (local,) = InlineEngine().run([task])
    assert isinstance(remote, Result)
    assert remote.row.model_copy(update={"seconds": 0}) == local.row.model_copy(update={"seconds": 0})


def test_ray_is_asked_for_with_a_hint_where_it_is_missing() -> None:
    try:
        import ray  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependency, match="pip install"):
            RayEngine()
