"""Worker processes on this machine: as many as there are cores, or one for each GPU, with one thread each."""

from __future__ import annotations

import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from tpc_core.engines.crew import Link
from tpc_core.engines.engine import Engine
from tpc_core.engines.messages import Message, encode
from tpc_core.errors import InvalidValue
from tpc_core.lazy_torch import torch

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "GOMP_SPINCOUNT": "0"}
"""Two workers with two threads each would fight for two cores."""

_ROOT = Path(__file__).resolve().parents[2]


class LocalEngine(Engine):
    """Processes of this machine. One that dies costs its work a restart, and nobody else anything."""

    def __init__(self, workers: int | None = None, *, nice: int = 0) -> None:
        """`nice` lets everything else on the machine go first, as far as the system allows."""
        gpus = torch.cuda.device_count() if workers is None else 0
        count = workers if workers is not None else gpus or available_cores()
        if count < 1:
            raise InvalidValue(f"at least one worker is needed, not {count}")
        super().__init__(count)
        self._nice = nice
        self._free_gpus = list(range(gpus))

    def _hire(self) -> Link:
        settings = dict(ONE_THREAD)
        gpu = self._free_gpus.pop(0) if self._free_gpus else None
        if gpu is not None:
            settings["CUDA_VISIBLE_DEVICES"] = _nth_gpu(gpu)
        return _Process(self, settings, self._nice, gpu)

    def died(self, link: Link) -> None:
        if isinstance(link, _Process) and link.gpu is not None:
            self._free_gpus.append(link.gpu)
        super().died(link)

    @property
    def processes(self) -> list[int]:
        """The process numbers of the workers that run now."""
        return [worker.link.process.pid for worker in self.crew if isinstance(worker.link, _Process)]


class _Process(Link):
    """A worker process at the other end of a pipe; one thread reads from it, one writes to it."""

    def __init__(self, engine: Engine, settings: Mapping[str, str], nice: int, gpu: int | None) -> None:
        self.gpu = gpu
        self._engine = engine
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tpc_core.engines.worker", str(theirs.fileno())]
            path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
            self.process = subprocess.Popen(
                ["nice", "-n", str(nice), *command] if nice and shutil.which("nice") else command,
                env={**os.environ, **settings, "PYTHONPATH": path},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in the terminal is the parent's business
            )
        self._pipe = Connection(ours.detach())
        self._outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        name = f"worker-{self.process.pid}"
        threading.Thread(target=self._read, name=f"{name}-read", daemon=True).start()
        threading.Thread(target=self._write, name=f"{name}-write", daemon=True).start()

    def send(self, message: Message) -> None:
        self._outbox.put(message)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _write(self) -> None:
        with suppress(OSError):  # it died; the other thread sees that
            while True:
                self._pipe.send_bytes(encode(self._outbox.get()))

    def _read(self) -> None:
        try:
            while True:
                self._engine.received(self, self._pipe.recv_bytes())
        except (EOFError, OSError):
            self.process.kill()
            self.process.wait()
            self._engine.died(self)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _nth_gpu(number: int) -> str:
    """The name of a GPU for a child process, within what this process may see itself."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = [name for name in visible.split(",") if name]
    return names[number] if number < len(names) else str(number)
