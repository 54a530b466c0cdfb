"""What goes between the two processes: plain bytes and plain arrays, never a pickle.

A parser that was taken over may send anything, so what comes back is checked as if the stranger had sent it.
"""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Sequence
from socket import socket

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_FACES, MAX_POINTS, MAX_VERTICES
from tpc_core.data.ordered import OrderedPoints
from tpc_core.errors import InvalidCertificate, InvalidCloud, InvalidFile, TpcError

AT_ONCE = 4
"""Small files read at the same time, beside one large one."""
SHARE = 8
"""A small file has one part in so many of the memory that a large one has."""
SMALL, LARGE = b"s", b"l"
"""What is said on the control line for each file."""
_LENGTH = struct.Struct("<Q")
_ERRORS: dict[bytes, type[TpcError]] = {
    b"file": InvalidFile,
    b"cloud": InvalidCloud,
    b"certificate": InvalidCertificate,
}
_LONGEST_MESSAGE = 600
_LARGEST_ANSWER = MAX_VERTICES * 24 + MAX_FACES * 12 + MAX_POINTS * 12 + 4096


class Deadline:
    """The moment at which waiting ends."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def arm(self, link: socket) -> None:
        """Let the next call on the socket fail when the time is over."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        link.settimeout(left)


def send_parts(link: socket, parts: Sequence[bytes], deadline: Deadline | None = None) -> None:
    """Send several pieces, each after its length."""
    for part in parts:
        for piece in (_LENGTH.pack(len(part)), part):
            if deadline is not None:
                deadline.arm(link)
            link.sendall(piece)


def receive_parts(link: socket, count: int, limit: int, deadline: Deadline | None = None) -> list[bytes]:
    """Receive `count` pieces of at most `limit` bytes together; EOFError where the other side is gone."""
    parts: list[bytes] = []
    for _ in range(count):
        (length,) = _LENGTH.unpack(_exactly(link, _LENGTH.size, deadline))
        limit -= length
        if limit < 0:
            raise EOFError("more was announced than can be meant")
        parts.append(_exactly(link, length, deadline))
    return parts


def _exactly(link: socket, size: int, deadline: Deadline | None) -> bytes:
    received = bytearray()
    while len(received) < size:
        if deadline is not None:
            deadline.arm(link)
        chunk = link.recv(min(1 << 20, size - len(received)))
        if not chunk:
            raise EOFError("the other side is gone")
        received += chunk
    return bytes(received)


def answer_of(geometry: Geometry, ordered: OrderedPoints) -> list[bytes]:
    """A parsed file as four pieces: kind, vertices, triangles, points in farthest-point order."""
    faces = np.empty((0, 3)) if geometry.faces is None else geometry.faces
    kind = b"cloud-shape" if geometry.faces is None else b"mesh-shape"
    arrays = (geometry.vertices.astype("<f8"), faces.astype("<i4"), ordered.points.astype("<f4"))
    return [kind, *(_packed(array) for array in arrays)]


def answer_of_error(error: TpcError) -> list[bytes]:
    """A refusal in the same four pieces."""
    kind = next((name for name, type_ in _ERRORS.items() if isinstance(error, type_)), b"file")
    return [kind, str(error).encode("utf-8", "replace")[:_LONGEST_MESSAGE], b"", b""]


def document_answer(content: bytes) -> list[bytes]:
    """A document that was read and found to be good, in the same four pieces."""
    return [b"document", content, b"", b""]


def receive_document(link: socket, name: str, deadline: Deadline) -> bytes:
    """The document that the parser found to be good, or the error that it reports."""
    kind, pieces = _receive(link, deadline)
    if kind != b"document":
        raise _nonsense(name)
    return pieces[0]


def receive_answer(link: socket, name: str, deadline: Deadline) -> tuple[Geometry, OrderedPoints]:
    """The shape that the parser found, or the error that it reports."""
    kind, pieces = _receive(link, deadline)
    damaged = _nonsense(name)
    if kind not in (b"mesh-shape", b"cloud-shape"):
        raise damaged
    try:
        vertices = _unpacked(pieces[0], "<f8", MAX_VERTICES).astype(np.float64)
        faces = _unpacked(pieces[1], "<i4", MAX_FACES).astype(np.int64)
        points = _unpacked(pieces[2], "<f4", MAX_POINTS).astype(np.float32)
    except ValueError as error:
        raise damaged from error
    sound = len(vertices) > 1 and len(points) > 0
    sound = sound and _in_unit_ball(vertices) and _in_unit_ball(points)
    sound = sound and (not faces.size or 0 <= faces.min() <= faces.max() < len(vertices))
    if not sound or bool(len(faces)) != (kind == b"mesh-shape"):
        raise damaged
    return Geometry(vertices, faces if len(faces) else None), OrderedPoints(points)


def _receive(link: socket, deadline: Deadline) -> tuple[bytes, list[bytes]]:
    kind, *pieces = receive_parts(link, 4, _LARGEST_ANSWER, deadline)
    if kind in _ERRORS:
        raise _ERRORS[kind](" ".join(pieces[0].decode("utf-8", "replace").split())[:_LONGEST_MESSAGE])
    return kind, pieces


def _nonsense(name: str) -> InvalidFile:
    return InvalidFile(f"{name} cannot be read: the answer of its parser makes no sense")


def _packed(array: NDArray[np.generic]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _unpacked(data: bytes, dtype: str, most: int) -> NDArray[np.generic]:
    """An (N, 3) array of exactly this type; the header is compared with the size before anything is made."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError
        shape, by_column, found = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # numpy reads the header with Python's tokenizer, which has errors of its own
        raise ValueError("not an array") from error
    body = data[stream.tell() :]
    whole = all(type(side) is int for side in shape)
    if (
        found != np.dtype(dtype)
        or by_column
        or not whole
        or len(shape) != 2
        or shape[1] != 3
        or not 0 <= shape[0] <= most
    ):
        raise ValueError("not the array that was agreed on")
    if shape[0] * 3 * found.itemsize != len(body):
        raise ValueError("the array is not as long as it says")
    return np.frombuffer(body, dtype=found).reshape(shape[0], 3)


def _in_unit_ball(points: NDArray[np.generic]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(points) <= 1.001).all())  # false for NaN as well
