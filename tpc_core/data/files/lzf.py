"""LZF decompression, the one codec that PCD files use; bounded, in plain Python."""

from __future__ import annotations

from tpc_core.errors import InvalidFile

MAX_COMPRESSED_BYTES = 16 * 2**20
"""Plain Python walks byte runs one by one: beyond this a hostile file would hold the machine for minutes."""


def lzf_decompress(data: bytes, size: int, name: str) -> bytes:
    """Decompress LZF data that must come out at exactly `size` bytes."""
    if len(data) > MAX_COMPRESSED_BYTES:
        raise InvalidFile(f"{name} holds {len(data):,} compressed bytes, more than {MAX_COMPRESSED_BYTES:,}")
    out = bytearray()
    position = 0
    try:
        while position < len(data) and len(out) <= size:
            control = data[position]
            position += 1
            if control < 32:  # a literal run of control + 1 bytes
                out += data[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[position]
                position += 1
            start = len(out) - ((control & 0x1F) << 8) - data[position] - 1
            position += 1
            if start < 0:
                raise InvalidFile(f"{name}: the compressed data refer to before their own beginning")
            _copy_run(out, start, length + 2)
    except IndexError as error:
        raise InvalidFile(f"{name}: the compressed data are cut short") from error
    if len(out) != size:
        raise InvalidFile(f"{name}: the compressed data give {len(out)} bytes, not {size}")
    return bytes(out)


def _copy_run(out: bytearray, start: int, length: int) -> None:
    """Append `length` bytes from `start`; the run may overlap the end, and then it repeats itself."""
    run = bytes(out[start : start + length])
    while len(run) < length:
        run += run
    out += run[:length]
