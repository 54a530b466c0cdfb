"""Shaded stills by Open3D, rendered in a process of its own: a missing GL library kills that, not the app."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from app.system import LIBRARIES, install_command, missing_libraries
from tpc_core.errors import TpcError

TIMEOUT = 90.0
INSTEAD = "The interactive view has it all."
ADVICE = (
    f"Open3D could not render here. {INSTEAD} What it builds on: {install_command([*LIBRARIES.values()])}."
)
_ABOVE_APP = Path(__file__).resolve().parents[2]


class CannotRender(TpcError):
    """No still could be made; the message says what to install."""


@dataclass(frozen=True)
class Still:
    """What to render: a mesh (with faces) or splats (without), coloured per vertex, seen by a camera.

    As in Plotly, eye and centre are in units of the side of the drawn cube.
    """

    vertices: NDArray[np.floating]
    colours: NDArray[np.floating]
    faces: NDArray[np.integer] | None
    eye: tuple[float, float, float]
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    half_side: float = 1.15
    background: tuple[float, float, float] = (1.0, 1.0, 1.0)
    size: tuple[int, int] = (1200, 900)

    def encoded(self) -> bytes:
        """The request as the worker reads it."""
        stream = io.BytesIO()
        faces = (
            np.zeros((0, 3), dtype=np.int32) if self.faces is None else np.asarray(self.faces, dtype=np.int32)
        )
        np.savez(
            stream,
            vertices=np.asarray(self.vertices, dtype=np.float64),
            colours=np.asarray(self.colours, dtype=np.float64),
            faces=faces,
            eye=2 * self.half_side * np.asarray(self.eye, dtype=np.float64),
            centre=2 * self.half_side * np.asarray(self.centre, dtype=np.float64),
            background=np.asarray(self.background, dtype=np.float64),
            size=np.asarray(self.size, dtype=np.int64),
        )
        return stream.getvalue()


class Renderer:
    """One worker process, started when first needed and again after it died; one still at a time."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None

    def render(self, still: Still) -> bytes:
        """The still as PNG, or CannotRender."""
        if reason := obstacle():
            raise CannotRender(reason)
        with self._lock:
            worker = self._ensure()
            watchdog = threading.Timer(self.timeout, worker.kill)
            watchdog.start()
            try:
                assert worker.stdin is not None
                assert worker.stdout is not None
                send(worker.stdin, still.encoded())
                answer = receive(worker.stdout)
            except (OSError, EOFError) as error:
                self._discard()
                raise CannotRender(ADVICE) from error
            finally:
                watchdog.cancel()
        if not answer.startswith(b"\x89PNG"):
            raise CannotRender(f"{ADVICE} ({answer[:200].decode(errors='replace')})")
        return answer

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._discard()

    def _ensure(self) -> subprocess.Popen[bytes]:
        if self._worker is None or self._worker.poll() is not None:
            environment = {**os.environ, "EGL_PLATFORM": "surfaceless", "OMP_NUM_THREADS": "1"}
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "app.stills.worker"],
                cwd=_ABOVE_APP,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._worker

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait()
            self._worker = None


def obstacle() -> str | None:
    """Why Open3D cannot render here, as far as that is known before it is tried; None where nothing is in its way."""
    if find_spec("open3d") is None:
        return f"Shaded stills need Open3D, which is made for Python 3.11 and 3.12 on macOS and x86-64 Linux. {INSTEAD}"
    if packages := missing_libraries():
        return f"Shaded stills need system libraries. On Debian or Ubuntu: {install_command(packages)}. {INSTEAD}"
    return None


def send(stream: IO[bytes], content: bytes) -> None:
    """One message: its length, then itself."""
    stream.write(struct.pack("<Q", len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message, or EOFError where the other side is gone."""
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", header)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


Place = tuple[float, float, float]
FIRST_EYE: Place = (1.0, -1.15, 0.6)
FIRST_CENTRE: Place = (0.0, 0.0, -0.1)
NEAREST = 0.2
"""How near an eye may be to what it looks at."""


def view_of(camera: dict[str, Any] | None) -> tuple[Place, Place]:
    """The eye and the centre of a Plotly camera; the first view's where they make no sense."""
    eye, centre = _place(camera, "eye", FIRST_EYE), _place(camera, "center", FIRST_CENTRE)
    apart = np.linalg.norm(np.subtract(eye, centre))
    return (eye, centre) if apart > NEAREST else (FIRST_EYE, FIRST_CENTRE)


def _place(camera: dict[str, Any] | None, name: str, default: Place) -> Place:
    given = (camera or {}).get(name) or {}
    values = [given.get(axis, fallback) for axis, fallback in zip("xyz", default, strict=True)]
    x, y, z = (
        float(v) if isinstance(v, int | float) and abs(v) < 100 else d
        for v, d in zip(values, default, strict=True)
    )
    return x, y, z
