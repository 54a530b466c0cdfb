"""The files that visitors brought: each visitor's own, kept in memory while they are about, and never on disk.

All of them are parsed in a process of their own (tpc_core/data/sandbox), never in the server's.
"""

from __future__ import annotations

import atexit
import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from tpc_core import Certificate
from tpc_core.border import CERTIFICATE, read_json
from tpc_core.data import Shape
from tpc_core.data.sandbox import Sandbox, read_untrusted, receive_document, safe_name

KEPT = 4
"""Files of one visitor; the oldest make room."""
TOGETHER = 512 << 20
"""Bytes that the files of all visitors may take in memory; who holds most makes room."""


CERTIFICATE_MEMORY = 768 << 20
"""Bytes that reading the largest certificate may take; an eighth of it for those of up to 4 MB."""


class Uploads:
    """Shapes by visitor and name; nobody can ask for another visitor's."""

    def __init__(self, kept: int = KEPT, together: int = TOGETHER) -> None:
        self.kept, self.together = kept, together
        self._lock = threading.Lock()
        self._shapes: dict[tuple[str, str], Shape] = {}
        """By visitor and spec; what was looked at last comes last."""

    def put(self, visitor: str, content: bytes, shape: Shape) -> str:
        """Keep a shape; the spec by which its visitor finds it again."""
        spec = f"upload:{hashlib.sha256(content).hexdigest()[:16]}"
        with self._lock:
            self._shapes.pop((visitor, spec), None)
            self._shapes[visitor, spec] = shape
            mine = [key for key in self._shapes if key[0] == visitor]
            for key in mine[: -self.kept]:
                del self._shapes[key]
            self._make_room((visitor, spec))
        return spec

    def get(self, visitor: str, spec: str) -> Shape | None:
        """One of the visitor's own."""
        with self._lock:
            shape = self._shapes.pop((visitor, spec), None)
            if shape is not None:
                self._shapes[visitor, spec] = shape
        return shape

    def _make_room(self, newest: tuple[str, str]) -> None:
        """Whoever holds most gives up the file that they looked at least lately; the newest stays."""
        while True:
            held: dict[str, int] = {}
            for (visitor, _), shape in self._shapes.items():
                held[visitor] = held.get(visitor, 0) + size_of(shape)
            others = [key for key in self._shapes if key != newest]
            if sum(held.values()) <= self.together or not others:
                return
            del self._shapes[max(others, key=lambda key: held[key[0]])]

    def sweep(self, present: Callable[[str], bool]) -> None:
        """Forget the files of visitors who are gone."""
        with self._lock:
            visitors = {visitor for visitor, _ in self._shapes}
        gone = {visitor for visitor in visitors if not present(visitor)}
        with self._lock:
            self._shapes = {key: shape for key, shape in self._shapes.items() if key[0] not in gone}


def size_of(shape: Shape) -> int:
    """The bytes of a shape in memory, near enough."""
    mesh = 0 if shape.mesh is None else shape.mesh.vertices.nbytes + shape.mesh.faces.nbytes
    return mesh + shape.ordered.points.nbytes


def is_upload(spec: str) -> bool:
    """Whether an object is a visitor's own file."""
    return spec.startswith("upload:")


def read_upload(content: bytes, name: str) -> Shape:
    """The shape in an uploaded file, read in a process of its own; the name is cut down to safe letters."""
    return read_untrusted(content, name)


@lru_cache(maxsize=1)
def certificate_process() -> Sandbox:
    """The one process that reads certificates; it starts with the first of them."""
    sandbox = Sandbox("app.server.certificate_reader", memory=CERTIFICATE_MEMORY)

    def stop() -> None:
        with suppress(Exception):
            sandbox.stop()

    atexit.register(stop)
    return sandbox


def read_certificate(content: bytes, name: str) -> Certificate:
    """The certificate in an uploaded file; its counts are still to be verified.

    What comes back is parsed once more, since a parser that was taken over may send anything: it passes the border
    first, so this costs what a genuine certificate of its size costs.
    """
    shown = safe_name(name)
    document = certificate_process().ask(content, shown, receive_document)
    read_json(document, CERTIFICATE, shown)
    return Certificate.from_json(document)
