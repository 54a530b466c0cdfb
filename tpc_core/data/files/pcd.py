"""PCD clouds of the Point Cloud Library: ascii, binary and binary_compressed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.files.content import as_text
from tpc_core.data.files.lzf import lzf_decompress
from tpc_core.data.files.xyz import parse_table
from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_VERTICES
from tpc_core.errors import InvalidFile

_DATA_LINE = re.compile(rb"^DATA[ \t]+(\w+)[ \t]*\r?\n", re.MULTILINE)
_KINDS = {"F": "f", "I": "i", "U": "u"}


@dataclass(frozen=True)
class _Header:
    """What the header declares: the fields of a point, and how many points follow."""

    names: list[str]
    formats: list[str]
    counts: list[int]
    points: int

    def dtype(self) -> np.dtype[np.void]:
        """One point as a packed record."""
        return np.dtype(
            [
                (f"{i}:{n}", f, (c,))
                for i, (n, f, c) in enumerate(zip(self.names, self.formats, self.counts, strict=True))
            ]
        )

    def xyz(self) -> list[int]:
        """The positions of the x, y and z fields."""
        return [self.names.index(axis) for axis in "xyz"]


def parse_pcd(content: bytes, name: str) -> Geometry:
    """Read the x, y and z fields of a PCD cloud."""
    found = _DATA_LINE.search(content[:65536])
    if found is None:
        raise InvalidFile(f"{name} has no PCD header")
    header = _header(as_text(content[: found.start()], name), name)
    encoding = found.group(1).decode("ascii", "replace")
    if encoding not in _READERS:
        raise InvalidFile(f"{name}: PCD data of kind {encoding!r} is unknown")
    # Widening a signalling NaN warns; the border check behind us refuses every NaN in a sentence anyway.
    with np.errstate(invalid="ignore"):
        return Geometry(_READERS[encoding](content[found.end() :], header, name))


def _header(text: str, name: str) -> _Header:
    """Check the declared fields, sizes and counts against each other."""
    entries: dict[str, list[str]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            entries[words[0].upper()] = words[1:]
    names = [field.lower() for field in entries.get("FIELDS", [])]
    if not {"x", "y", "z"} <= set(names):
        raise InvalidFile(f"{name}: the PCD fields {' '.join(names)!r} lack x, y or z")
    try:
        sizes = [int(size) for size in entries["SIZE"]]
        counts = [int(count) for count in entries.get("COUNT", ["1"] * len(names))]
        formats = [f"<{_KINDS[kind]}{size}" for kind, size in zip(entries["TYPE"], sizes, strict=True)]
        for entry in formats:
            np.dtype(entry)
        points = (
            int(entries["POINTS"][0])
            if "POINTS" in entries
            else (int(entries["WIDTH"][0]) * int(entries["HEIGHT"][0]))
        )
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InvalidFile(f"{name}: the PCD header is incomplete or contradicts itself") from error
    if not len(names) == len(formats) == len(counts) or not all(1 <= count <= 4096 for count in counts):
        raise InvalidFile(f"{name}: the PCD header lists {len(names)} fields but {len(formats)} types")
    if not 0 < points <= MAX_VERTICES:
        raise InvalidFile(f"{name} declares {points:,} points; between 1 and {MAX_VERTICES:,} can be read")
    return _Header(names, formats, counts, points)


def _from_ascii(body: bytes, header: _Header, name: str) -> NDArray[np.float64]:
    table = parse_table(body, name, sum(header.counts))
    if len(table) != header.points:
        raise InvalidFile(f"{name} declares {header.points} points but holds {len(table)}")
    starts = np.cumsum([0, *header.counts])
    return np.ascontiguousarray(table[:, [int(starts[axis]) for axis in header.xyz()]])


def _from_binary(body: bytes, header: _Header, name: str) -> NDArray[np.float64]:
    record = header.dtype()
    if len(body) < header.points * record.itemsize:
        raise InvalidFile(f"{name} is cut short: {header.points} points are declared")
    rows = np.frombuffer(body, dtype=record, count=header.points)
    fields = record.names or ()
    return np.column_stack([rows[fields[axis]][:, 0].astype(np.float64) for axis in header.xyz()])


def _from_compressed(body: bytes, header: _Header, name: str) -> NDArray[np.float64]:
    """LZF-compressed, and column by column: all x, then all y, and so on."""
    record = header.dtype()
    packed, plain = (int(size) for size in np.frombuffer(body[:8].ljust(8, b"\0"), dtype="<u4"))
    if plain != header.points * record.itemsize or packed > len(body) - 8:
        raise InvalidFile(f"{name}: the sizes of the compressed PCD data do not fit its header")
    data = lzf_decompress(body[8 : 8 + packed], plain, name)
    widths = [
        np.dtype(f).itemsize * c * header.points for f, c in zip(header.formats, header.counts, strict=True)
    ]
    starts = np.cumsum([0, *widths])
    columns = []
    for axis in header.xyz():
        column = np.frombuffer(
            data, header.formats[axis], header.points * header.counts[axis], int(starts[axis])
        )
        columns.append(column[:: header.counts[axis]].astype(np.float64))
    return np.column_stack(columns)


_READERS: dict[str, Callable[[bytes, _Header, str], NDArray[np.float64]]] = {
    "ascii": _from_ascii,
    "binary": _from_binary,
    "binary_compressed": _from_compressed,
}
