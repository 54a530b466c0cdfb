"""The files that visitors brought: each visitor's own, kept in memory while they are about, and never on disk."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

from tpc_core.data import Shape
from tpc_core.data.sandbox import read_untrusted

KEPT = 4
"""Files of one visitor; the oldest make room."""


class Uploads:
    """Shapes by visitor and name; nobody can ask for another visitor's."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self._lock = threading.Lock()
        self._shapes: dict[str, dict[str, Shape]] = {}

    def put(self, visitor: str, content: bytes, shape: Shape) -> str:
        """Keep a shape; the spec by which its visitor finds it again."""
        spec = f"upload:{hashlib.sha256(content).hexdigest()[:16]}"
        with self._lock:
            mine = self._shapes.setdefault(visitor, {})
            mine.pop(spec, None)
            mine[spec] = shape
            while len(mine) > self.kept:
                del mine[next(iter(mine))]
        return spec

    def get(self, visitor: str, spec: str) -> Shape | None:
        """One of the visitor's own."""
        with self._lock:
            return self._shapes.get(visitor, {}).get(spec)

    def sweep(self, present: Callable[[str], bool]) -> None:
        """Forget the files of visitors who are gone."""
        with self._lock:
            visitors = list(self._shapes)
        for visitor in visitors:
            if not present(visitor):
                with self._lock:
                    self._shapes.pop(visitor, None)


def is_upload(spec: str) -> bool:
    """Whether an object is a visitor's own file."""
    return spec.startswith("upload:")


def read_upload(content: bytes, name: str) -> Shape:
    """The shape in an uploaded file, read in a process of its own; the name is cut down to safe letters."""
    return read_untrusted(content, name)
