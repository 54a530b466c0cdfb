"""What the model says: the votes by class, and the random draws behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.cloud import MeshView

Tally = dict[str, Any]
"""What components/votes shows."""
Strip = dict[str, Any]
"""What components/draws shows."""
Meaning = Literal["right", "wrong", "other", "unknown"]
"""What a colour says of an answer, the same in the whole app: the true class, another one that was answered, a class
that was not answered, and an answer where nobody knows the true class."""
MOST_POINTS = 256
"""Points of each draw in the strip: more would not be told apart."""
MOST_FACES = 6000
"""Triangles of a surface behind the draws: more would take longer to draw than the draws."""


def tally(
    base: NDArray[np.floating],
    votes: NDArray[np.integer],
    classes: Sequence[str],
    truth: str | None,
    *,
    shown: int = 5,
) -> Tally:
    """Both answers, and shares by class: the base model's confidence beside the smoothed model's votes.

    The classes with the most votes are shown, and the true class always, where the model knows it.
    """
    truth = known_class(truth, classes)
    cast = int(votes.sum())
    share = votes / max(cast, 1)
    ranked = np.argsort(-(share + 1e-3 * base), kind="stable")
    chosen = list(ranked[:shown])
    if truth in classes and classes.index(truth) not in chosen:
        chosen[-1] = classes.index(truth)
    winner = int(np.argmax(votes))
    answered = (winner, int(np.argmax(base)))
    rows = [
        {
            "name": words(classes[i]),
            "truth": classes[i] == truth,
            "meaning": meaning(classes[i], truth, answered=i in answered),
            "base": round(float(base[i]), 4),
            "smoothed": round(float(share[i]), 4),
        }
        for i in chosen
    ]
    return {
        "base": _answer("Base says", classes[int(np.argmax(base))], truth, ""),
        "smoothed": _answer("Smoothed says", classes[winner], truth, f"{votes[winner]} of {cast} votes"),
        "rows": rows,
    }


def known_class(label: str | None, classes: Sequence[str]) -> str | None:
    """The model's own word for a class: ShapeNet's Airplane is ModelNet's airplane. None where it has none."""
    return next((name for name in classes if label is not None and name.lower() == label.lower()), None)


def _answer(who: str, says: str, truth: str | None, rest: str) -> dict[str, str]:
    mark = "" if truth is None else "✓" if says == truth else "✗"
    meant = meaning(says, truth, answered=True)
    return {"who": who, "says": words(says), "mark": mark, "rest": rest, "meaning": meant}


def meaning(says: str, truth: str | None, *, answered: bool) -> Meaning:
    """What an answer, or a class that got none, is to be coloured as."""
    if truth is not None and says == truth:
        return "right"
    if not answered:
        return "other"
    return "unknown" if truth is None else "wrong"


def words(name: str) -> str:
    """A class as people write it."""
    return name.replace("_", " ")


def strip(
    draws: NDArray[np.floating],
    answers: Sequence[int],
    classes: Sequence[str],
    truth: str | None,
    surface: MeshView | None = None,
    *,
    with_faces: bool = True,
) -> Strip:
    """Random draws (k, N, 3), seen from the front right, each with its vote and whether that is right.

    `surface` is the object's own, which is drawn faintly behind every draw; its faces stay as they were sent last.
    """
    flat = _from_the_front(draws[:, :MOST_POINTS])
    truth = known_class(truth, classes)
    named = [
        {"name": words(classes[answer]), "meaning": meaning(classes[answer], truth, answered=True)}
        for answer in answers
    ]
    shown: Strip = {"points": packed(flat.ravel()), "draws": named}
    if surface is not None and len(surface.faces) <= MOST_FACES:
        shown["surface"] = packed(_from_the_front(surface.vertices).ravel())
        if with_faces:
            shown["faces"] = packed(surface.faces.ravel(), "i4")
    return shown


def _from_the_front(draws: NDArray[np.floating]) -> NDArray[np.floating]:
    """(k, N, 3) -> (k, N, 2): right and up on the page."""
    x, y, z = draws[..., 0], draws[..., 1], draws[..., 2]
    return np.stack([(x + y) * 0.7071, z + 0.25 * (y - x)], axis=-1)
