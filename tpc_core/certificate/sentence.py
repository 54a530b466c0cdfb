"""The verdict in one plain sentence, rounded towards the smaller claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_DOWN, Context, Decimal

from tpc_core.transforms import Parameter, Transform

DIGITS = 4


def confidence_words(alpha: float) -> str:
    """1 - alpha in percent, rounded down, and never 100 %."""
    exact = 100 * (1 - Decimal(repr(alpha)))
    digits = max(DIGITS, 3 - Decimal(repr(alpha)).adjusted())
    rounded = exact.quantize(Decimal(1).scaleb(-max(digits - 2, 0)), rounding=ROUND_DOWN)
    return f"{rounded.normalize():f} % confidence"


def rounded_down(value: float, digits: int = DIGITS) -> float:
    """A number with few digits, never above the true one."""
    if not math.isfinite(value) or value <= 0:
        return value
    return float(Context(prec=digits, rounding=ROUND_DOWN).create_decimal(Decimal(repr(value))))


def radius_words(parameters: Sequence[Parameter], radius: Mapping[str, float]) -> str:
    """A radius as a person would say it, rounded down."""
    named = len(parameters) > 1
    return ", ".join(
        (f"{p.name} " if named else "") + p.describe(rounded_down(radius[p.name])) for p in parameters
    )


def certified_sentence(transform: Transform, within: str, alpha: float, name: str) -> str:
    """The claim that was proved."""
    return f"Every {transform.noun} within {within} keeps the class {name}, with {confidence_words(alpha)}."


def points_sentence(transform: Transform, within: str, alpha: float, passed: int, count: int) -> str:
    """How many points keep their part."""
    who = "Every point keeps its" if passed == count else f"{passed} of {count} points keep their"
    return f"{who} part under every {transform.noun} within {within}, with {confidence_words(alpha)} each."


def refuted_sentence(transform: Transform, place: Mapping[str, float], name: str, winner: str) -> str:
    """A proven attack."""
    where = ", ".join(f"{p.name} {p.describe(float(f'{place[p.name]:.3g}'))}" for p in transform.parameters)
    return f"An attack by {transform.name} ({where}) turns {name} into {winner}."


def undecided_sentence(transform: Transform, within: str, name: str | None, why: str) -> str:
    """What is not known, and why."""
    what = "its class" if name is None else f"the class {name}"
    return f"Undecided whether every {transform.noun} within {within} keeps {what}: {why}."


CERTAINLY = "Proved: no probability of error."


def certain_sentence(transform: Transform, within: str, name: str, beyond: str = "") -> str:
    """What was proved of the plain network, and where that ends, if it is known."""
    return f"Every {transform.noun} within {within} keeps the class {name}{beyond}. {CERTAINLY}"


def certainly_refuted_sentence(
    transform: Transform, place: Mapping[str, float], name: str, winner: str
) -> str:
    """A counterexample of the plain network."""
    return f"{refuted_sentence(transform, place, name, winner)} {CERTAINLY}"


def certain_points_sentence(
    transform: Transform, within: str, passed: int, lost: int, rest: int, why: str
) -> str:
    """How many points of the plain network keep their part, how many do not, and what is not known."""
    count = passed + lost + rest
    who = "Every point keeps its" if passed == count else f"{passed} of {count} points keep their"
    said = f"{who} part under every {transform.noun} within {within}"
    said += f"; {lost} lose{'s' if lost == 1 else ''} it" if lost else ""
    said += f"; {rest} undecided: {why}" if rest else ""
    return f"{said}. {CERTAINLY}"
