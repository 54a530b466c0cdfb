"""What a visitor has set in the lessons: one list of fields, each a plain key of the session.

Streamlit forgets the widgets of a page that is not shown, so no field is a widget's own key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.session import links
from app.words import KEY, LANGUAGES
from tpc_core import gallery

GALLERY = ("", *(entry.name for entry in gallery()))
"""Any object of the gallery; none means the first of those that a lesson picks for its model."""
TAPERED = ("chair-1", "vase-1", "toilet-1", "bottle-1", "airplane-1")
TURNED = ("guitar-1", "airplane-1", "chair-1", "monitor-1", "sofa-1", "toilet-1")


_LONGEST_CODE = 8


@dataclass(frozen=True)
class Number:
    """A value to drag; `role` is the colour of its symbol."""

    key: str
    default: float
    low: float
    high: float
    step: float
    unit: str = ""
    role: str = ""

    def clean(self, value: Any) -> float | None:
        """The value inside its range, or None where it is not a number."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return min(self.high, max(self.low, number)) if math.isfinite(number) else None


@dataclass(frozen=True)
class Choice:
    """One of a few options; they are words, numbers too, so that a link holds them as they are."""

    key: str
    default: str
    options: tuple[str, ...]

    def clean(self, value: Any) -> str | None:
        """The option, or None where it is not one."""
        return str(value) if str(value) in self.options else None


Field = Number | Choice

LESSON = Choice("lesson", "1", ("1", "2", "3", "4", "5", "6", "7"))
PRESENTING = Choice("lesson_present", "no", ("no", "yes"))
LANGUAGE = Choice(KEY, "", ("", *LANGUAGES))
CHALLENGE = Choice("lesson_challenge", "no", ("no", "yes"))
ROOM_OBJECT = Choice("challenge_object", "", GALLERY)
STEPS = {lesson: Choice(f"lesson{lesson}_step", "1", ("1", "2", "3")) for lesson in LESSON.options}
"""How much of each lesson is shown: the object, then its numbers, then the question."""

ATTACK_OBJECT = Choice("lesson1_object", "", GALLERY)
ATTACK_TWIST = Number("lesson1_twist", 0.0, -180.0, 180.0, 1.0, "deg", "attack")
ATTACK_REVEAL = Choice("lesson1_reveal", "no", ("no", "yes"))

VOTE_OBJECT = Choice("lesson2_object", "", GALLERY)
VOTE_TWIST = Number("lesson2_twist", 40.0, -180.0, 180.0, 1.0, "deg", "attack")
VOTE_SIGMA = Number("lesson2_sigma", 40.0, 5.0, 120.0, 1.0, "deg", "sigma")
VOTE_COUNT = Choice("lesson2_votes", "64", ("32", "64", "128", "512"))

TRUTH = Number("lesson3_truth", 0.9, 0.5, 0.999, 0.001, "", "p")
LOOKS = Number("lesson3_looks", 20.0, 1.0, 40.0, 1.0, "", "attack")
SAMPLE = Choice("lesson3_votes", "200", ("50", "100", "200", "500"))
LEVEL = Choice("lesson3_alpha", "0.1", ("0.2", "0.1", "0.05", "0.01"))
REPEATS = Number("lesson3_repeats", 100.0, 100.0, 10_000.0, 100.0)

RADIUS_OBJECT = Choice("lesson4_object", "", GALLERY)
RADIUS_MODEL = Choice("lesson4_model", "pointnet64-noise", ("pointnet64-noise", "pointnet64-z-twist"))
RADIUS_TWIST = Number("lesson4_twist", 20.0, -180.0, 180.0, 1.0, "deg", "attack")
RADIUS_SIGMA = Number("lesson4_sigma", 40.0, 5.0, 120.0, 1.0, "deg", "sigma")
RADIUS_COUNT = Choice("lesson4_votes", "256", ("64", "256", "1024"))

CELL_OBJECT = Choice("lesson5_object", "chair-1", TAPERED)
CELL_RADIUS = Number("lesson5_radius", 0.5, 0.05, 0.9, 0.01, "", "radius")
CELL_COUNT = Number("lesson5_cells", 3.0, 1.0, 16.0, 1.0, "", "count")
CELL_TAPER = Number("lesson5_taper", 0.4, -0.9, 0.9, 0.01, "", "attack")
CELL_BOUND = Choice("lesson5_bound", "exact", ("exact", "paper"))

TURN_OBJECT = Choice("lesson6_object", "guitar-1", TURNED)
TURN_MODEL = Choice("lesson6_model", "pointnet64-noise", ("pointnet64-noise", "pointnet64-so3-group"))
TURN_ANGLE = Number("lesson6_angle", 40.0, 0.0, 180.0, 1.0, "deg", "attack")
TURN_AZIMUTH = Number("lesson6_azimuth", 45.0, -180.0, 180.0, 5.0, "deg", "attack")
TURN_RADIUS = Number("lesson6_radius", 20.0, 5.0, 90.0, 1.0, "deg", "radius")

FORM_OBJECT = Choice("lesson7_object", "chair-1", TAPERED)
FORM_RADIUS = Number("lesson7_radius", 0.5, 0.05, 0.9, 0.01, "", "radius")
FORM_COUNT = Number("lesson7_cells", 8.0, 1.0, 24.0, 1.0, "", "count")
FORM_TAPER = Number("lesson7_taper", 0.3, -0.9, 0.9, 0.01, "", "attack")

FIELDS: tuple[Field, ...] = (
    LESSON,
    PRESENTING,
    LANGUAGE,
    *STEPS.values(),
    ATTACK_OBJECT,
    ATTACK_TWIST,
    ATTACK_REVEAL,
    VOTE_OBJECT,
    VOTE_TWIST,
    VOTE_SIGMA,
    VOTE_COUNT,
    TRUTH,
    LOOKS,
    SAMPLE,
    LEVEL,
    REPEATS,
    RADIUS_OBJECT,
    RADIUS_MODEL,
    RADIUS_TWIST,
    RADIUS_SIGMA,
    RADIUS_COUNT,
    CELL_OBJECT,
    CELL_RADIUS,
    CELL_COUNT,
    CELL_TAPER,
    CELL_BOUND,
    TURN_OBJECT,
    TURN_MODEL,
    TURN_ANGLE,
    TURN_AZIMUTH,
    TURN_RADIUS,
    FORM_OBJECT,
    FORM_RADIUS,
    FORM_COUNT,
    FORM_TAPER,
)
"""Everything that a link to a lesson has to hold."""


def fields_of(lesson: str) -> tuple[Field, ...]:
    """The fields that one lesson shows."""
    return tuple(field for field in FIELDS if field.key.startswith(f"lesson{lesson}_"))


def linked(lesson: str) -> list[links.Piece]:
    """What the address of a lesson holds: which one it is, and its own fields by their short names."""
    pieces = []
    for field in (LESSON, PRESENTING, LANGUAGE, *fields_of(lesson)):
        name = field.key.removeprefix(f"lesson{lesson}_").removeprefix("lesson_")
        if isinstance(field, Number):
            pieces.append(links.number(name, field.key, field.low, field.high, field.default))
        else:
            pieces.append(links.choice(name, field.key, field.options, field.default))
    return pieces


def linked_challenge() -> list[links.Piece]:
    """Whether the challenge is shown, and in which room."""
    return [
        links.choice("language", LANGUAGE.key, LANGUAGE.options, LANGUAGE.default),
        links.choice("challenge", CHALLENGE.key, CHALLENGE.options, CHALLENGE.default),
        links.Piece("room", room, put_room),
    ]


def room() -> str:
    """The code of the room that the visitor is in; empty outside of any."""
    return str(st.session_state.get("lesson_room", ""))


def put_room(code: str) -> None:
    """Enter a room, or leave it; a code has a few letters."""
    wanted = code.strip().upper()
    if wanted and not (wanted.isascii() and wanted.isalpha() and len(wanted) <= _LONGEST_CODE):
        raise ValueError("a room code has four letters")
    st.session_state["lesson_room"] = wanted


def number(field: Number) -> float:
    """The value as it is set; anything that is not a number within the range falls back."""
    value = field.clean(st.session_state.get(field.key, field.default))
    return field.default if value is None else value


def choice(field: Choice) -> str:
    """The option as it is set, or the default."""
    value = field.clean(st.session_state.get(field.key, field.default))
    return field.default if value is None else value


def put(field: Field, value: Any) -> None:
    """Set a field from a widget; what does not fit is left alone."""
    clean = field.clean(value)
    if clean is not None:
        st.session_state[field.key] = clean
