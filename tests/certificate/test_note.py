"""The largest radius says when it is only the end of the search."""

from __future__ import annotations

from tests.certificate.made import genuine


def test_the_end_of_the_range_is_said_and_a_smaller_radius_is_not() -> None:
    plain = genuine("cover")
    assert plain.verdict == "certified"
    assert plain.note == ""  # a radius was given
    end = plain.model_copy(update={"question": plain.question.with_radius(plain.radius, largest=True)})
    assert "end of the range" in end.note
    further = {name: 1.2 * value for name, value in plain.radius.items()}
    within = plain.model_copy(update={"question": plain.question.with_radius(further, largest=True)})
    assert within.note == ""
