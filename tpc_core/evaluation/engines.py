"""Who does the work: this process, or several on this machine. (Ray is in ray_engine.)"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import TracebackType
from typing import Protocol, Self

from tpc_core.errors import InvalidValue, TpcError
from tpc_core.evaluation.objects import Result, Task, evaluate_object

TRIES = 3
"""How often an object is given to a new worker after its worker died."""

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "GOMP_SPINCOUNT": "0"}
"""One thread per worker: two workers with two threads each would fight for two cores."""


class Engine(Protocol):
    """Turns tasks into results, in whatever order they are ready; kept open over several evaluations."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class WorkerLost(TpcError):
    """Workers died again and again on the same object."""


class InlineEngine:
    """One object after the other in this process, on one thread: the reference for all other engines."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        import torch

        for task in tasks:
            threads = torch.get_num_threads()
            # One thread here too: another number would round differently and could move a vote.
            torch.set_num_threads(1)
            try:
                result = evaluate_object(task)
            finally:
                torch.set_num_threads(threads)
            yield result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    task: Task | None = None


class LocalEngine:
    """Worker processes on this machine, each with one thread and one object at a time.

    A worker that dies (out of memory, killed) is replaced and its object tried again.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.count = workers if workers is not None else available_cores()
        if self.count < 1:
            raise InvalidValue(f"at least one worker is needed, not {self.count}")
        self._context: SpawnContext = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Results as they are ready; a reader that stops early stops the work."""
        try:
            yield from self._results(iter(tasks))
        finally:
            for worker in [worker for worker in self._workers if worker.task is not None]:
                self._retire(worker)

    def _results(self, source: Iterator[Task]) -> Iterator[Result]:
        again: deque[Task] = deque()
        deaths: Counter[int] = Counter()
        while True:
            for worker in self._idle():
                task = again.popleft() if again else next(source, None)
                if task is None:
                    break
                self._give(worker, task)
            busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
            if not busy:
                return
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                task, answer = worker.task, _receive(worker)
                assert task is not None
                if answer is None:
                    self._retire(worker)
                    deaths[task.index] += 1
                    if deaths[task.index] >= TRIES:
                        raise WorkerLost(
                            f"{TRIES} workers died on object {task.index} ({task.id}); is memory short?"
                        )
                    again.append(task)
                    continue
                worker.task = None
                if isinstance(answer, Exception):
                    raise answer
                yield answer

    def _idle(self) -> Iterator[_Worker]:
        yield from [worker for worker in self._workers if worker.task is None]
        while len(self._workers) < self.count:
            yield self._start()

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        before = {name: os.environ.get(name) for name in THREADS}
        os.environ.update(THREADS)  # read when the child imports torch
        try:
            process = self._context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        theirs.close()  # so that the pipe breaks when the worker dies
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _give(self, worker: _Worker, task: Task) -> None:
        worker.task = task
        with suppress(BrokenPipeError):  # it died while idle; the wait below sees the closed pipe
            worker.connection.send(task)

    def _retire(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.kill()
        worker.process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._workers):
            self._retire(worker)


def work(connection: Connection) -> None:
    """The life of a worker: it ends when the pipe does, so a killed parent leaves no orphans."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    import torch

    torch.set_num_threads(1)
    with suppress(EOFError, BrokenPipeError):
        while True:
            task: Task = connection.recv()
            answer: Result | Exception
            try:
                answer = evaluate_object(task)
            except TpcError as error:
                answer = type(error)(f"object {task.index} ({task.id}): {error}")
            except Exception:  # a bug: it is shown where the person looks, not lost with the worker
                answer = RuntimeError(f"object {task.index} ({task.id}):\n{traceback.format_exc()}")
            connection.send(answer)


def _receive(worker: _Worker) -> Result | Exception | None:
    """The answer of a worker; None where it died."""
    try:
        answer: Result | Exception = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        return None
    return answer


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
