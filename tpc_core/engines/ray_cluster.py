"""The same workers as actors of a Ray cluster. Ray is an optional extra, imported only when it is asked for.

A node needs this library in the same version, and nothing else: models that it lacks are sent to it.
"""

from __future__ import annotations

import os
import queue
import secrets
import sys
import threading
import time
from importlib import import_module
from typing import Any

from tpc_core.engines.crew import Link
from tpc_core.engines.engine import Engine
from tpc_core.engines.local import ONE_THREAD
from tpc_core.engines.messages import Message, encode
from tpc_core.errors import InvalidValue, MissingDependency

_TAKE_SECONDS = 5.0
"""How long a call waits for something to be said."""
_COUNT_SECONDS = 1.0
"""How often the cluster is asked for its size: nodes come and go."""


def import_ray() -> Any:
    """The ray module, or an error that says how to get it."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingDependency("the engine ray needs Ray: pip install 'tpc-explorer[ray]'") from error


def _guard_own_cluster() -> None:
    """Let nobody else speak to a cluster that is started here: its ports are open to the whole network.

    Ray takes the token when it is imported; in a program that has done so before, its owner says who may speak to it.
    """
    if "ray" not in sys.modules:
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))


class RayWorker:
    """A worker inside an actor: one of its two threads takes messages, the other hands them out."""

    def __init__(self) -> None:
        import torch

        from tpc_core.engines.worker import Worker

        torch.set_num_threads(1)
        self._out: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._worker = Worker(self._out.put)
        self._worker.hello()

    def receive(self, data: bytes) -> None:
        self._worker.receive(data)

    def take(self) -> list[bytes]:
        """What the worker has said since the last time; it waits for a while where that is nothing."""
        try:
            said = [self._out.get(timeout=_TAKE_SECONDS)]
        except queue.Empty:
            return []
        while not self._out.empty():
            said.append(self._out.get())
        return said


class RayEngine(Engine):
    """One worker for each CPU of the cluster, or for each share of a GPU; nodes may come, go and die.

    Several servers may use one cluster: each worker asks for `cpus` of a CPU, so with 0.25 there is room for four.
    """

    shares_disk = False

    def __init__(
        self,
        address: str | None = None,
        *,
        gpus: float = 0.0,
        cpus: float = 1.0,
        size: int | None = None,
    ) -> None:
        """`size` bounds a cluster that is started here; None takes every core."""
        if gpus < 0 or cpus <= 0:
            raise InvalidValue(f"a worker cannot have {gpus:g} GPUs and {cpus:g} CPUs")
        if address is None:
            _guard_own_cluster()
        self._ray = import_ray()
        self._gpus, self._cpus = gpus, cpus
        self._mine = not self._ray.is_initialized()
        if self._mine:
            try:
                # Without "local" Ray joins whatever cluster a file in /tmp names, which anyone may have written.
                own = {"num_cpus": size, "include_dashboard": False} if address is None else {}
                self._ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **own)
            except ConnectionError as error:
                raise InvalidValue(f"no Ray cluster answers at {address}: {error}") from error
        self._asked = -_COUNT_SECONDS
        super().__init__(1)
        self._require_gpus()
        actor = self._ray.remote(
            num_cpus=cpus,
            num_gpus=gpus,
            max_restarts=0,
            scheduling_strategy="SPREAD",
            concurrency_groups={"in": 1, "out": 1},
            runtime_env={"env_vars": ONE_THREAD},
        )
        self._actor = actor(_with_groups(self._ray))

    @property
    def count(self) -> int:
        """Workers that the cluster has room for."""
        if time.monotonic() - self._asked > _COUNT_SECONDS:
            self._asked = time.monotonic()
            resources = self._ray.cluster_resources()
            slots = resources.get("CPU", 1.0)
            if self._gpus:
                slots = min(slots, resources.get("GPU", 0.0) / self._gpus)
            self._count = max(1, int(slots))
        return self._count

    @count.setter
    def count(self, value: int) -> None:
        self._count = value

    def _require_gpus(self) -> None:
        """A worker that no node can ever hold would be waited for in silence."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        if self._gpus and not any(node["Resources"].get("GPU", 0.0) >= self._gpus for node in nodes):
            self.close()
            raise InvalidValue(f"no node of the cluster has {self._gpus:g} GPU; leave out --gpus-per-worker")

    def _hire(self) -> Link:
        return _Actor(self, self._ray, self._actor.remote())

    def close(self) -> None:
        super().close()
        if self._mine:
            self._mine = False
            self._ray.shutdown()


def _with_groups(ray: Any) -> type:
    """The worker with a thread for each direction: messages are taken one after the other, in order."""
    grouped = type("GroupedRayWorker", (RayWorker,), {})
    grouped.receive = ray.method(concurrency_group="in")(RayWorker.receive)  # type: ignore[attr-defined]
    grouped.take = ray.method(concurrency_group="out")(RayWorker.take)  # type: ignore[attr-defined]
    return grouped


class _Actor(Link):
    """The way to an actor; a thread of ours listens to it."""

    def __init__(self, engine: Engine, ray: Any, actor: Any) -> None:
        self._engine, self._ray, self._actor = engine, ray, actor
        threading.Thread(target=self._read, name="ray-worker-read", daemon=True).start()

    def send(self, message: Message) -> None:
        self._actor.receive.remote(encode(message))

    def kill(self) -> None:
        self._ray.kill(self._actor)

    def _read(self) -> None:
        try:
            while True:
                for data in self._ray.get(self._actor.take.remote()):
                    self._engine.received(self, data)
        except Exception:
            # An actor, its node or the whole cluster is gone: Ray has an error of its own for each of them.
            self._engine.died(self)
