"""Damages that know the grammar: the file still parses, and says what its reader never expected.

JSON (alone, at the front of a GLB or of a safetensors file, line by line in a journal), TOML, and the header of a NumPy
array are taken apart, one place is changed, and the file is put together again with its lengths right, so that the
damage reaches the code behind the parser.
"""

from __future__ import annotations

import ast
import json
import random
import re
import struct
from collections.abc import Callable
from typing import Any

NUMBERS = ("1e999", "-1e999", "NaN", "Infinity", "true", "false", "null", "-0", "-1", "0", "1", "1.0", "0.5", "1e0",
           "1E+2", "9007199254740993", "2147483648", "4294967296", "18446744073709551616", "1e308", "5e-324",
           "9" * 400, '"1"', '"nan"', "[1]", '{"1": 1}')  # fmt: skip
WORDS = ('""', '"\\u0000"', '"\\ud800"', '"../../etc/passwd"', '"' + "x" * 5000 + '"', "0", "true", "null", "[]", "{}",
         '["a"]')  # fmt: skip
EXTENSIONS = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization",
              "EXT_mesh_gpu_instancing", "KHR_materials_unlit")  # fmt: skip


class Raw(str):
    """Text that goes into a document as it stands."""


def written(value: Any) -> str:
    """JSON, with raw pieces in it."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{json.dumps(str(key))}: {written(inner)}" for key, inner in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document, as the container and the key in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(found) < 20_000:
        inner = waiting.pop()
        keys = (
            list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else []
        )
        for key in keys:
            found.append((inner, key))
            if isinstance(inner[key], dict | list):
                waiting.append(inner[key])
    return found


def change(document: Any, rng: random.Random) -> Any:
    """One place of a JSON document changed; returned, since the place may be the document itself."""
    places = _places(document)
    if not places:
        return Raw(rng.choice(NUMBERS))
    rng.choice(CHANGES)(*rng.choice(places), rng)
    if isinstance(document, dict) and rng.random() < 0.1:
        document[rng.choice(("extensionsRequired", "extensionsUsed"))] = [rng.choice(EXTENSIONS)]
    return document


def _value(inner: Any, key: Any, rng: random.Random) -> None:
    inner[key] = Raw(rng.choice(WORDS if isinstance(inner[key], str) else NUMBERS))


def _missing(inner: Any, key: Any, rng: random.Random) -> None:
    del inner[key]


def _many(inner: Any, key: Any, rng: random.Random) -> None:
    """A place becomes a list of very many."""
    piece = rng.choice(("[]", "{}", "0", '""', written(inner[key])[:200]))
    inner[key] = Raw("[" + ",".join([piece] * rng.choice((2, 300, 60_000))) + "]")


def _twice(inner: Any, key: Any, rng: random.Random) -> None:
    if isinstance(inner, dict):
        again = json.dumps(str(key))
        inner[key] = Raw(f"{written(inner[key])}, {again}: {rng.choice(NUMBERS)}")
    else:
        inner.insert(key, inner[key])


def _wrapped(inner: Any, key: Any, rng: random.Random) -> None:
    depth = rng.choice((1, 2, 40, 900))
    inner[key] = Raw("[" * depth + written(inner[key]) + "]" * depth)


def _unknown(inner: Any, key: Any, rng: random.Random) -> None:
    if isinstance(inner, dict):
        inner[rng.choice(("sparse", "uri", "extensions", "kind", "__class__", "", "x" * 300))] = Raw(
            rng.choice(NUMBERS)
        )
    else:
        inner.append(Raw(rng.choice(NUMBERS)))


def _elsewhere(inner: Any, key: Any, rng: random.Random) -> None:
    """A value of another place of the same container."""
    other = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
    inner[key] = inner[other]


CHANGES: tuple[Callable[[Any, Any, random.Random], None], ...] = (
    _value, _value, _value, _missing, _many, _twice, _wrapped, _unknown, _elsewhere,
)  # fmt: skip


def _changed_json(text: bytes, rng: random.Random) -> bytes | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict | list):
        return None
    return written(change(document, rng)).encode("utf-8", "replace")


def as_glb(data: bytes, rng: random.Random) -> bytes | None:
    """The scene description at the front of a GLB."""
    if data[:4] != b"glTF" or len(data) < 20:
        return None
    (length,) = struct.unpack("<I", data[12:16])
    text = _changed_json(data[20 : 20 + length], rng)
    if text is None:
        return None
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest


def as_safetensors(data: bytes, rng: random.Random) -> bytes | None:
    """The table of tensors at the front of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= len(data) - 8 or data[8:9] != b"{":
        return None
    text = _changed_json(data[8 : 8 + length], rng)
    return None if text is None else len(text).to_bytes(8, "little") + text + data[8 + length :]


def as_npy(data: bytes, rng: random.Random) -> bytes | None:
    """The header of a NumPy array: a Python dictionary, of which the shape is the part that counts."""
    if data[:8] != b"\x93NUMPY\x01\x00":
        return None
    length = int.from_bytes(data[8:10], "little")
    try:
        header = ast.literal_eval(data[10 : 10 + length].decode("latin-1").strip())
    except (ValueError, SyntaxError):
        return None
    side = rng.choice(
        ("True", "False", "-1", "0", "3.0", "None", "10**2", "2**63", "9" * 30, "'3'", "(3,)", "1_0")
    )
    shape = [str(number) for number in header["shape"]]
    shape[rng.randrange(len(shape))] = side
    shown = rng.choice((f"({', '.join(shape)})", f"({', '.join(shape)},)", f"[{', '.join(shape)}]", side))
    kind = rng.choice(
        (header["descr"],) * 3 + ("|O", "<f2", ">f8", "<U3", "|b1", "<c16", "<f9", "<M8[s]", "")
    )
    order = rng.choice(("False", "False", "True", "0", "None"))
    text = f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shown}, }}".encode("latin-1") + b"\n"
    return data[:8] + len(text).to_bytes(2, "little") + text + data[10 + length :]


TOML_VALUES = ("inf", "-nan", "true", "1979-05-27T07:32:00Z", "07:32:00", "0x10", "1e400", "[]", "{}", "''", '"""\n"""',
               "[[1]]", "{a = {b = {c = 1}}}", "-1", "1_000", "9" * 30, "[" * 30 + "]" * 30)  # fmt: skip
_SETTING = re.compile(rb"^[ \t]*[A-Za-z0-9_.\"-]+[ \t]*=")


def as_toml(data: bytes, rng: random.Random) -> bytes | None:
    """One setting of a TOML file changed, repeated, moved or taken out."""
    lines = data.split(b"\n")
    settings = [number for number, line in enumerate(lines) if _SETTING.match(line)]
    if not settings or data[:1] == b"{":
        return None
    number = rng.choice(settings)
    name = lines[number].split(b"=")[0]
    what = rng.randrange(6)
    if what <= 2:
        lines[number] = name + b"= " + rng.choice(TOML_VALUES).encode()
    elif what == 3:
        del lines[number]
    elif what == 4:
        lines.insert(number, lines[number])
    else:
        lines[number] = name.strip() + b".inner = 1"
    return b"\n".join(lines)


def as_json(data: bytes, rng: random.Random) -> bytes | None:
    """A JSON document, or one line of a journal of them."""
    if data[:1] not in b"{[":
        return None
    changed = _changed_json(data, rng)
    if changed is not None:
        return changed
    lines = data.split(b"\n")
    number = rng.choice([number for number, line in enumerate(lines) if line.strip()])
    line = _changed_json(lines[number], rng)
    if line is None:
        return None
    lines[number] = line
    return b"\n".join(lines)


GRAMMARS: tuple[Callable[[bytes, random.Random], bytes | None], ...] = (
    as_glb,
    as_npy,
    as_json,
    as_safetensors,
    as_toml,
)


def changed_by_grammar(data: bytes, rng: random.Random) -> bytes | None:
    """The file after one change that its grammar allows; None where no grammar fits."""
    for grammar in GRAMMARS:
        changed = grammar(data, rng)
        if changed is not None:
            return changed
    return None
