"""Shaded stills by Open3D, rendered in a process of its own: a missing GL library kills that, not the app."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from app.figures.cameras import PLOTLY_FIELD
from app.figures.cloud import LIMIT
from app.server.system import LIBRARIES, install_command, missing_libraries
from tpc_core.errors import TpcError

TIMEOUT = 90.0
INSTEAD = "The interactive view has it all."
ADVICE = (
    f"Open3D could not render here. {INSTEAD} What it builds on: {install_command([*LIBRARIES.values()])}."
)
_ABOVE_APP = Path(__file__).resolve().parents[3]


QUIET = 6.0
"""Seconds that the first page has to itself before Open3D is loaded beside it."""

Place = tuple[float, float, float]


class CannotRender(TpcError):
    """No still could be made; the message says what to install."""


@dataclass(frozen=True)
class Still:
    """What to render: points as little balls, on a mesh in one colour where there is one, seen by a camera."""

    points: NDArray[np.floating]
    colours: NDArray[np.floating]
    """Of each point."""
    eye: Place
    centre: Place = (0.0, 0.0, 0.0)
    field: float = 45.0
    """Degrees that the camera sees from top to bottom."""
    radius: float = 0.016
    """Of the balls."""
    vertices: NDArray[np.floating] | None = None
    faces: NDArray[np.integer] | None = None
    clay: tuple[float, float, float] = (0.9, 0.9, 0.9)
    background: tuple[float, float, float] = (1.0, 1.0, 1.0)
    aspect: float = 4 / 3
    """Width over height."""

    def encoded(self) -> bytes:
        """The request as the worker reads it."""
        stream = io.BytesIO()
        none = np.zeros((0, 3))
        arrays = {
            "points": self.points,
            "colours": self.colours,
            "vertices": none if self.vertices is None else self.vertices,
            "faces": none if self.faces is None else self.faces,
            "eye": self.eye,
            "centre": self.centre,
            "clay": self.clay,
            "background": self.background,
            "numbers": (self.field, self.radius, self.aspect),
        }
        numbers: dict[str, Any] = {
            name: np.asarray(value, dtype=np.float64) for name, value in arrays.items()
        }
        np.savez(stream, **numbers)
        return stream.getvalue()


class Renderer:
    """One worker process, started when first needed and again after it died; one still at a time."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None
        self.warmed = False

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
                [sys.executable, "-m", "app.server.stills.worker"],
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


FIRST_VIEW = {"eye": {"x": 2.0, "y": -3.0, "z": 1.35}, "center": {"x": 0.0, "y": 0.0, "z": 0.0}}
NEAREST = 0.2
"""How near an eye may be to what it looks at."""


@dataclass(frozen=True)
class Seen:
    """A camera: where it is, what it looks at, its field in degrees from top to bottom, and width over height."""

    eye: Place
    centre: Place
    field: float
    aspect: float


def camera_of(told: Any) -> Seen:
    """The camera that the browser told; the first view's numbers where its own make no sense.

    The stage tells places as they are. Plotly, which knows of no field, tells them in units of the drawn cube.
    """
    told = told if isinstance(told, dict) else {}
    of_stage = isinstance(told.get("field"), int | float)
    side = 1.0 if of_stage else 2 * LIMIT
    eye, centre = (_place(told, name, side) for name in ("eye", "center"))
    if np.linalg.norm(np.subtract(eye, centre)) < NEAREST:
        eye, centre = (_place(FIRST_VIEW, name, 1.0) for name in ("eye", "center"))
    field = float(np.clip(told["field"], 5, 120)) if of_stage else PLOTLY_FIELD
    aspect = told.get("aspect")
    return Seen(
        eye, centre, field, float(np.clip(aspect, 0.3, 4)) if isinstance(aspect, int | float) else 4 / 3
    )


def _place(camera: dict[str, Any], name: str, side: float) -> Place:
    given, default = camera.get(name) or {}, FIRST_VIEW[name]
    x, y, z = (
        side * float(given[axis])
        if isinstance(given.get(axis), int | float) and abs(given[axis]) < 100
        else default[axis]
        for axis in "xyz"
    )
    return x, y, z


def prewarm(renderer: Renderer) -> None:
    """Start the worker in the background some seconds after the first visitor came, so that a still comes at once."""
    if renderer.warmed or obstacle():
        return
    renderer.warmed = True
    ball = np.array([[0.0, 0.0, 0.0]])
    tiny = Still(ball, np.ones((1, 3)), (0.0, -3.0, 1.0))

    def warm() -> None:
        with suppress(CannotRender):
            renderer.render(tiny)

    timer = threading.Timer(QUIET, warm)
    timer.daemon = True
    timer.start()
