"""Who does the work: a Ray cluster. Ray is an optional extra, imported only when it is asked for."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tpc_core.errors import InvalidFile, InvalidValue, MissingDependency, TpcError
from tpc_core.evaluation.engines import THREADS, TRIES, WorkerLost
from tpc_core.evaluation.objects import Result, Task, evaluate_with
from tpc_core.models import Model, load_model
from tpc_core.models.precision import split_precision, with_precision
from tpc_core.models.store import weights_path

PER_SLOT = 2
"""Objects handed out per free slot: one at work and one on its way."""


def import_ray() -> Any:
    """The ray module, or an error that says how to get it."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingDependency("the engine ray needs Ray: pip install 'tpc-explorer[ray]'") from error


def _model(name: str, digest: str, files: tuple[bytes, bytes]) -> Model:
    """The model of a card and its weights, loaded once per worker process; load_model checks the weights."""
    if digest not in _LOADED:
        _LOADED.clear()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint, precision = split_precision(name)
            weights = Path(folder) / f"{Path(checkpoint).stem}.safetensors"
            weights.with_suffix(".json").write_bytes(files[0])
            weights.write_bytes(files[1])
            model = load_model(with_precision(str(weights), precision))
        if model.digest != digest:
            raise InvalidFile(
                f"the checkpoint {name} changed during the evaluation; start again with the new one"
            )
        _LOADED[digest] = model
    return _LOADED[digest]


_LOADED: dict[str, Model] = {}


def evaluate_remotely(task: Task, files: tuple[bytes, bytes]) -> Result | TpcError:
    """One object on a worker of the cluster, which needs neither data set nor checkpoint on its disk."""
    import torch

    torch.set_num_threads(1)
    try:
        model = _model(task.settings.model, task.settings.model_digest, files)
        return evaluate_with(model, task)
    except TpcError as error:  # returned, not raised: Ray would wrap it and change its type
        return type(error)(f"object {task.index} ({task.id}): {error}")


class RayEngine:
    """Every object is a task of one CPU (and `gpus` GPUs); the model travels once per node.

    Ray gives a lost worker's objects to another one; where it gives up, they are handed out again here.
    """

    def __init__(self, address: str | None = None, *, gpus: float = 0.0, cpus: int | None = None) -> None:
        """`cpus` bounds a cluster that is started here; None takes every core."""
        if gpus < 0:
            raise InvalidValue(f"a worker cannot have {gpus:g} GPUs")
        self._ray = import_ray()
        self._gpus = gpus
        self._mine = not self._ray.is_initialized()
        if self._mine:
            try:
                self._ray.init(
                    address=address,
                    num_cpus=cpus,
                    runtime_env={"env_vars": THREADS},
                    log_to_driver=False,
                    logging_level="ERROR",
                    include_dashboard=False if address is None else None,
                )
            except ConnectionError as error:
                raise InvalidValue(f"no Ray cluster answers at {address}: {error}") from error
        self._require_gpus()
        self._function = self._ray.remote(
            num_cpus=1, num_gpus=gpus, max_retries=TRIES, scheduling_strategy="SPREAD"
        )(evaluate_remotely)
        self._files: dict[str, Any] = {}

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Results as they are ready; a reader that stops early cancels what is under way."""
        source = iter(tasks)
        pending: dict[Any, Task] = {}
        losses: Counter[int] = Counter()
        try:
            while True:
                while len(pending) < self._window():
                    task = next(source, None)
                    if task is None:
                        break
                    pending[self._submit(task)] = task
                if not pending:
                    return
                ready, _ = self._ray.wait(list(pending), num_returns=1)
                task = pending.pop(ready[0])
                try:
                    answer = self._ray.get(ready[0])
                except self._lost_errors() as error:
                    losses[task.index] += 1
                    if losses[task.index] >= TRIES:
                        raise WorkerLost(
                            f"object {task.index} ({task.id}) was lost {TRIES} times: {error}"
                        ) from error
                    pending[self._submit(task)] = task
                    continue
                if isinstance(answer, TpcError):
                    raise answer
                yield answer
        finally:
            for reference in pending:
                self._ray.cancel(reference, force=True)

    def _require_gpus(self) -> None:
        """A task that no node can ever run would wait in silence."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        if self._gpus and not any(node["Resources"].get("GPU", 0.0) >= self._gpus for node in nodes):
            self.__exit__(None, None, None)
            raise InvalidValue(f"no node of the cluster has {self._gpus:g} GPU; leave out --gpus-per-worker")

    def _submit(self, task: Task) -> Any:
        digest = task.settings.model_digest
        if digest not in self._files:
            self._files = {digest: self._ray.put(checkpoint_files(task.settings.model))}
        return self._function.remote(task, self._files[digest])

    def _window(self) -> int:
        """How many objects to have under way; asked anew each time, because nodes come and go."""
        resources = self._ray.cluster_resources()
        slots = resources.get("CPU", 1.0)
        if self._gpus:
            slots = min(slots, resources.get("GPU", 0.0) / self._gpus)
        return max(1, int(PER_SLOT * slots))

    def _lost_errors(self) -> tuple[type[Exception], ...]:
        errors = self._ray.exceptions
        return (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._mine:
            self._ray.shutdown()


def checkpoint_files(name: str) -> tuple[bytes, bytes]:
    """The card and the weights of a checkpoint, as they lie on the driver's disk."""
    weights = weights_path(name)
    return weights.with_suffix(".json").read_bytes(), weights.read_bytes()
