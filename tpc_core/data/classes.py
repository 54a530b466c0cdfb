"""The classes of a data set, by the names that a model has for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tpc_core.errors import InvalidValue

LONGEST_NAME = 80
_SAME = {
    "plane": "airplane",
    "aeroplane": "airplane",
    "automobile": "car",
    "couch": "sofa",
    "tv": "monitor",
    "display": "monitor",
    "mug": "cup",
    "nightstand": "night stand",
    "flowerpot": "flower pot",
    "shelf": "bookshelf",
}
"""Words of common data sets for the same thing; the right-hand sides are ModelNet40's."""


@dataclass(frozen=True)
class Matching:
    """Which class of the data is which of the model's: by number; and those that the model does not have."""

    pairs: dict[int, int]
    unmatched: tuple[str, ...]

    def sentence(self, data: str) -> str:
        """What is left out, in one sentence."""
        if not self.unmatched:
            return f"every class of {data} is one of the model's"
        names = ", ".join(self.unmatched[:8]) + (", ..." if len(self.unmatched) > 8 else "")
        count = len(self.unmatched)
        return f"the model has no class for {count} of {data}: {names}"


def match_classes(data: Sequence[str], model: Sequence[str]) -> Matching:
    """Match class names, whatever their case, plural and separators: "Night-Stands" is night_stand."""
    known = {_plain(name): number for number, name in reversed(list(enumerate(model)))}
    pairs = {}
    for number, name in enumerate(data):
        if name in model:
            pairs[number] = list(model).index(name)
        elif _plain(name) in known:
            pairs[number] = known[_plain(name)]
    unmatched = tuple(name for number, name in enumerate(data) if number not in pairs)
    return Matching(pairs, unmatched)


def checked_class(name: str) -> str:
    """A name that can stand in a sentence: one printable line without markup."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or set(name) & set("<>&\"'`\\"):
        raise InvalidValue(
            f"{name[:LONGEST_NAME]!r} is no name for a class; letters, digits, spaces and dashes are"
        )
    return name.strip()


def _plain(name: str) -> str:
    words = re.sub(r"[\W_]+", " ", name.lower()).strip()
    words = words.removesuffix("es") if words.endswith(("ches", "shes", "xes")) else words.removesuffix("s")
    return _SAME.get(words, words)
