"""The names of networks that one recipe makes with other seeds."""

from __future__ import annotations

import re
from pathlib import Path

_NAMED = re.compile(r"(?P<recipe>.+)-seed-(?P<seed>\d+)")


def seed_name(recipe: str, seed: int) -> str:
    """What the model is called that a recipe makes with another seed than its own."""
    return f"{recipe}-seed-{seed}"


def recipe_of(model: str) -> tuple[str, int | None]:
    """The recipe that made a model, and the seed in its name; None is the recipe's own."""
    named = _NAMED.fullmatch(Path(model).stem)
    return (Path(model).stem, None) if named is None else (named["recipe"], int(named["seed"]))
