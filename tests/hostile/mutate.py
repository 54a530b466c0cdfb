"""A mutation fuzzer: takes a genuine file and damages it the way that parsers dislike most."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.hostile.grammar import changed_by_grammar

NUMBERS = (b"nan", b"inf", b"-inf", b"1e400", b"-1", b"0", b"1", b"255", b"256", b"65536", b"2147483648",
           b"4294967295", b"4294967296", b"9223372036854775808", b"99999999999999999999", b"1e-320", b"0x10",
           b"1_000", b"+", b"-", b"", b".", b"1e", b"\xd9\xa1", b"true", b"null", b"[]", b"{}",
           b"9" * 5000)  # fmt: skip
WORDS = (b"\0", b"\n", b"\r\n", b" ", b"\t", b"#", b'"', b"'", b"\\", b"%s%n", b"../", b"<b>x</b>", b"\xff\xfe",
         b"\xef\xbb\xbf", b"PK\x03\x04", b"\x1f\x8b", b"\x80\x04", b"[[", b"{{", b"]", b"}", b",",
         b":", b"=")  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def _flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _field(data: bytearray, rng: random.Random) -> None:
    """Overwrite a field as a binary counter would hold it."""
    size = rng.choice((2, 4, 8))
    value = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, rng.randrange(2**16)))
    place = rng.randrange(max(1, len(data) - size))
    order = rng.choice(("little", "big"))
    data[place : place + size] = (value % 2 ** (8 * size)).to_bytes(size, order)  # type: ignore[arg-type]


def _cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def _drop(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 4, 32, 512))]


def _repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    piece = data[start : start + rng.choice((1, 8, 64, 512))]
    data[start:start] = piece * rng.choice((1, 2, 40))


def _insert(data: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(WORDS) * rng.choice((1, 1, 3, 400))


def _number(data: bytearray, rng: random.Random) -> None:
    """Put another number in the place of one, in text formats."""
    found = list(_NUMBER.finditer(data[:65536]))
    if found:
        start, end = rng.choice(found).span()
        data[start:end] = rng.choice(NUMBERS)


def _swap(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    data[:] = b"\n".join(lines)


def _nest(data: bytearray, rng: random.Random) -> None:
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")))
    depth = rng.choice((10, 2000, 60_000))
    place = rng.randrange(len(data) + 1)
    data[place:place] = opening * depth + (closing * depth if rng.random() < 0.5 else b"")


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _flip, _set, _field, _field, _cut, _drop, _repeat, _insert, _number, _number, _number, _swap, _nest,
)  # fmt: skip


def mutated(seed: bytes, rng: random.Random) -> bytes:
    """The file after one to four damages: half of the time such as its grammar allows, where it has one."""
    if rng.random() < 0.5:
        changed = changed_by_grammar(seed, rng)
        if changed is not None:
            seed = changed
            if rng.random() < 0.8:
                return seed[: 8 << 20]
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if data:
            rng.choice(MUTATIONS)(data, rng)
    return bytes(data[: 8 << 20])
