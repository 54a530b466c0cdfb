"""The border: a JSON or TOML document that anyone may have written becomes checked values, or one sentence.

A parser that gathers every mistake of a document does its author's bidding: 800,000 wrong items in a file of one
megabyte were 800,000 errors in 1.7 GB. Here everything stops at the first mistake, and what a document may hold is
counted before anything is made of it.
"""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from tpc_core.errors import InvalidCertificate, InvalidFile, TpcError, one_line

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Items = Annotated[list[T], Field(fail_fast=True)]
"""A list in a record that is read at the border: its check ends at the first wrong item."""


@dataclass(frozen=True)
class Kind:
    """How large a document of one kind may be: several times the largest genuine one."""

    name: str
    size: int
    """Bytes."""
    values: int
    """Numbers, words, lists and tables, all counted."""
    keys: int = 1_000
    """Entries of one table."""
    depth: int = 12
    """Lists and tables inside each other."""
    error: type[TpcError] = InvalidFile


CARD = Kind("a model card", size=256 << 10, values=20_000)
DATA_SET = Kind("the description of a data set", size=256 << 10, values=20_000)
RECIPE = Kind("a recipe", size=64 << 10, values=2_000)
PLAN = Kind("a plan", size=256 << 10, values=20_000)
CERTIFICATE = Kind("a certificate", size=32 << 20, values=3_000_000, keys=250_000, error=InvalidCertificate)
"""The largest cover has 200,000 first cells; each takes about 40 bytes, and 3 values for every block of votes."""
SCENE = Kind("a scene description", size=16 << 20, values=1_000_000, depth=32)


def read_json(content: bytes | str, kind: Kind, name: str) -> Any:
    """The values of a JSON document, or the kind's error in one sentence.

    Stricter than JSON's own rules: a key that comes twice, NaN, infinity and a number too large for a float are
    refused, since two readers could take them for two different things.
    """
    _check_size(content, kind, name)
    _check_count(content, kind, name)
    try:
        values = json.loads(
            content,
            object_pairs_hook=_table,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except RecursionError:
        raise _refused(kind, name, f"it is nested deeper than {kind.depth} levels") from None
    except ValueError as error:  # not JSON, not UTF-8, a number of too many digits
        raise _refused(kind, name, f"not a JSON file: {_reason(error)}") from None
    _check_shape(values, kind, name)
    _check_letters(content, values, kind, name)
    return values


def read_toml(content: bytes | str, kind: Kind, name: str) -> dict[str, Any]:
    """The values of a TOML document, or the kind's error in one sentence."""
    _check_size(content, kind, name)
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        values = tomllib.loads(text)
    except RecursionError:
        raise _refused(kind, name, "it is nested too deeply") from None
    except ValueError as error:  # not TOML, not UTF-8, a number of too many digits
        raise _refused(kind, name, f"not a TOML file: {_reason(error)}") from None
    _check_shape(values, kind, name)
    return values


def checked(model: type[M], values: Any, kind: Kind, name: str) -> M:
    """The values as a record; the first thing that is wrong with them, in one sentence, if anything is."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(piece) for piece in first["loc"]) or "the file"
        raise _refused(kind, name, f"{place}: {first['msg']}") from None


def gathering_lists(model: type[BaseModel]) -> list[str]:
    """The fields of a record whose lists are not `Items`: they would gather an error for every wrong item."""
    found: list[str] = []
    waiting: list[tuple[str, Any]] = [(model.__name__, model.__pydantic_core_schema__)]
    while waiting:
        place, schema = waiting.pop()
        if isinstance(schema, dict):
            if schema.get("type") in ("list", "tuple", "set", "frozenset") and not schema.get("fail_fast"):
                found.append(place)
            inner = {key: value for key, value in schema.items() if key != "metadata"}
            waiting += [
                (f"{place}.{key}" if _names(schema) else place, value) for key, value in inner.items()
            ]
        elif isinstance(schema, list | tuple):
            waiting += [(place, entry) for entry in schema]
    return found


def _names(schema: dict[str, Any]) -> bool:
    """Whether the keys of a part of a schema are the names of fields."""
    return "type" not in schema


def _check_size(content: bytes | str, kind: Kind, name: str) -> None:
    if len(content) > kind.size:
        raise _refused(kind, name, f"it has {len(content):,} bytes, and {kind.size:,} are the most")


def _check_count(content: bytes | str, kind: Kind, name: str) -> None:
    """Count before parsing: a comma or a bracket comes before every value, so there are no more values than these.

    Those inside words are counted as well, which is to the safe side; the limits leave room for them.
    """
    text = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    count = 1 + text.count(b",") + text.count(b"[") + text.count(b"{")
    if count > kind.values:
        raise _refused(kind, name, f"it holds more than {kind.values:,} values")


def _check_shape(values: Any, kind: Kind, name: str) -> None:
    """How deep it goes, how many values there are, how many entries a table has; without recursion."""
    count, layer, depth = 0, [values], 0
    while layer:
        count += len(layer)
        depth += 1
        if count > kind.values:
            raise _refused(kind, name, f"it holds more than {kind.values:,} values")
        if depth > kind.depth:
            raise _refused(kind, name, f"it is nested deeper than {kind.depth} levels")
        below: list[Any] = []
        for value in layer:
            if isinstance(value, dict):
                if len(value) > kind.keys:
                    raise _refused(kind, name, f"a table has more than {kind.keys:,} entries")
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        layer = below


def _check_letters(content: bytes | str, values: Any, kind: Kind, name: str) -> None:
    """Half of a surrogate pair by itself is no text: it cannot be written down again."""
    spelled = (
        content.lower() if isinstance(content, bytes) else content.lower().encode("utf-8", "backslashreplace")
    )
    if b"\\ud" not in spelled:
        return
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise _refused(kind, name, "it holds half of a character, which is not text")


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{one_line(twice, 40)!r} comes twice in one table")
    return table


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{one_line(text, 40)} is not a finite number")
    return value


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return one_line(str(error), 200)


def _refused(kind: Kind, name: str, reason: str) -> TpcError:
    return kind.error(f"{one_line(name, 300)} is not {kind.name}: {reason}")
