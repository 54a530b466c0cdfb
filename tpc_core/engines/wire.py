"""Python objects as bytes between this process and its own workers: the one place in the library that pickles.

A pickle can run code, so what it is read from decides. Here both ends are processes of one person and one version: the
local engine starts its workers itself and speaks to them through a pipe that nobody else can open; a Ray cluster moves
its own arguments as pickles already, and whoever can reach it can run code on it by design. Nothing that a user brings
(files, certificates, uploads, links) comes this way: it is read at the border, or in the upload process.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

CANNOT_TRAVEL = (pickle.PicklingError, TypeError, AttributeError, RuntimeError)
"""What `to_bytes` raises for objects that hold an open file, a thread, or code without a name."""


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, name: Callable[[Any], Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._name = name

    def persistent_id(self, obj: Any) -> Any:
        return self._name(obj)


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, find: Callable[[Any], Any]) -> None:
        super().__init__(file)
        self._find = find

    def persistent_load(self, pid: Any) -> Any:
        return self._find(pid)


def to_bytes(content: Any, name: Callable[[Any], Any] | None = None) -> bytes:
    """The content as bytes; objects that `name` gives a name (not None) stay here, and only their names travel."""
    if name is None:
        return pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    file = io.BytesIO()
    _Packer(file, name).dump(content)
    return file.getvalue()


def from_bytes(data: bytes, find: Callable[[Any], Any] | None = None) -> Any:
    """The content again; `find` brings the objects that only their names stand for."""
    return pickle.loads(data) if find is None else _Unpacker(io.BytesIO(data), find).load()
