"""Every lesson runs on the real models, answers to its controls, and says what the library says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.theme import DARK, LIGHT
from app.pages.lessons import live
from app.pages.lessons.formula import Symbol, colour, twofold
from app.pages.lessons.state import FIELDS, LESSON, Choice, Number, fields_of, linked
from app.session import links
from app.words import words
from tpc_core import list_models

NEEDED = {"pointnet64-noise", "pointnet64-z-twist", "pointnet64-so3-group"}
needs_models = pytest.mark.skipif(
    not {card.name for card in list_models()} >= NEEDED, reason=f"needs {', '.join(sorted(NEEDED))}"
)


def lessons_page() -> None:
    """The Lessons page by itself."""
    from app.pages.lessons.page import page

    page()


@pytest.fixture
def lessons() -> AppTest:
    return AppTest.from_function(lessons_page, default_timeout=60)


def at(app: AppTest, lesson: str, step: str = "3", **values: object) -> AppTest:
    """The page at a lesson with some of its fields set, all of its steps shown."""
    app.session_state["lesson"] = lesson
    app.session_state[f"lesson{lesson}_step"] = step
    for name, value in values.items():
        app.session_state[f"lesson{lesson}_{name}"] = value
    app.run()
    assert not app.exception
    return app


def text(app: AppTest) -> str:
    """All words on the page."""
    elements = [*app.markdown, *app.caption, *app.latex, *app.get("html")]
    return "\n".join(str(getattr(element, "value", None) or element.proto.body) for element in elements)


@needs_models
class TestLessons:
    @pytest.mark.parametrize("lesson", LESSON.options)
    def test_it_has_a_formula_with_live_values_and_one_question(self, lessons: AppTest, lesson: str) -> None:
        at(lessons, lesson)
        assert len(lessons.latex) == 1
        assert re.search(r"\\textcolor\{#\w{6}\}\{[^}]*\d", lessons.latex[0].value)

    @pytest.mark.parametrize("lesson", LESSON.options)
    def test_it_begins_with_an_object_and_one_slider_and_shows_its_steps_one_by_one(
        self, lessons: AppTest, lesson: str
    ) -> None:
        at(lessons, lesson, step="1")
        assert not lessons.latex
        assert not lessons.radio
        panel = next(
            key
            for key in (f"lesson{lesson}_drag", f"lesson{lesson}_first")
            if f"{key}_heard" in lessons.session_state
        )
        assert len(lessons.session_state[f"{panel}_heard"]) == 1
        lessons.button(key=f"next_{lesson}_1").click().run()
        assert lessons.latex
        assert not lessons.radio
        lessons.button(key=f"next_{lesson}_2").click().run()
        assert len(lessons.radio) == 1
        assert not lessons.exception

    @pytest.mark.parametrize("lesson", LESSON.options)
    def test_a_question_is_checked_and_explained(self, lessons: AppTest, lesson: str) -> None:
        at(lessons, lesson)
        options = lessons.radio[0].options
        verdicts = []
        for option in options:
            lessons.radio[0].set_value(options.index(option)).run()
            verdicts.append('data-answer="right"' in text(lessons))
        assert sorted(verdicts) == [False] * (len(options) - 1) + [True]
        lessons.radio[0].set_value(verdicts.index(True)).run()
        assert lesson in lessons.session_state["lessons_solved"]

    def test_each_object_that_is_offered_breaks_where_the_lesson_says(self, lessons: AppTest) -> None:
        for name in live.fragile(live.NOISE_MODEL)[:2]:
            spec = f"gallery:{name}"
            line = live.line(live.NOISE_MODEL, spec)
            angle = float(np.degrees(line.breaks(live.target(live.NOISE_MODEL, spec))[0]))
            assert 'data-says="right"' in text(at(lessons, "1", object=name, twist=0.0))
            broken = text(at(lessons, "1", twist=angle))
            assert 'data-says="wrong"' in broken
            assert f"Your smallest attack: **{angle:.0f}°**" in broken

    def test_tries_are_remembered_for_each_object(self, lessons: AppTest) -> None:
        at(lessons, "1", twist=10.0)
        assert "Angles tried: 2" in text(at(lessons, "1", twist=20.0))
        assert "Angles tried: 1" in text(at(lessons, "1", object="lamp-1"))

    def test_more_repetitions_are_asked_for_by_a_button(self, lessons: AppTest) -> None:
        at(lessons, "3")
        assert "of 100" in text(lessons)
        lessons.button(key="lesson3_more").click().run()
        assert "of 200" in text(lessons)

    def test_a_classifier_trained_for_twists_certifies_more(self, lessons: AppTest) -> None:
        usual = _radius(at(lessons, "4", model="pointnet64-noise", sigma=90.0))
        trained = _radius(at(lessons, "4", model="pointnet64-z-twist", sigma=90.0))
        assert trained > 1.5 * usual

    def test_cells_cover_with_the_exact_displacement_and_not_with_the_papers(self, lessons: AppTest) -> None:
        assert "6 of 6 cells pass" in text(at(lessons, "5", object="chair-1", radius=0.5, cells=6.0))
        assert "0 of 6 cells pass" in text(at(lessons, "5", bound="paper"))

    def test_narrow_cells_are_proved_by_bounds_and_wide_ones_are_not(self, lessons: AppTest) -> None:
        assert "0 of 2 cells are proved" in text(at(lessons, "7", object="chair-1", radius=0.5, cells=2.0))
        assert "12 of 12 cells are proved" in text(at(lessons, "7", cells=12.0))

    def test_the_turned_object_gets_the_same_votes(self, lessons: AppTest) -> None:
        at(lessons, "6", angle=75.0)
        after, before = re.findall(r"\{(\d+)\} / ", lessons.latex[0].value)
        assert abs(int(after) - int(before)) <= 1


def _radius(app: AppTest) -> float:
    match = re.search(r"\\textcolor\{#\w+\}\{([\d.]+)\^\\circ\} &= ", app.latex[0].value)
    assert match is not None
    return float(match[1])


class TestState:
    def test_keys_are_unique_and_defaults_fit(self) -> None:
        assert len({field.key for field in FIELDS}) == len(FIELDS)
        assert all(field.clean(field.default) == field.default for field in FIELDS)

    @pytest.mark.parametrize("lesson", LESSON.options)
    def test_each_lesson_has_fields_and_unique_names_in_its_link(self, lesson: str) -> None:
        names = [piece.name for piece in linked(lesson)]
        assert len(fields_of(lesson)) >= 2
        assert len(set(names)) == len(names)
        assert names[:2] == ["lesson", "present"]

    @pytest.mark.parametrize("value", ["nan", "inf", "", None, "twelve", [], "1e999"])
    def test_what_is_no_number_is_not_taken(self, value: object) -> None:
        assert all(field.clean(value) is None for field in FIELDS if isinstance(field, Number))

    def test_numbers_stay_in_their_range_and_choices_among_their_options(self) -> None:
        for field in FIELDS:
            if isinstance(field, Number):
                assert (field.clean(-1e9), field.clean(1e9)) == (field.low, field.high)
            else:
                assert isinstance(field, Choice)
                assert field.clean("<script>") is None

    def test_a_bad_link_is_said_and_the_rest_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        session: dict[str, object] = {}
        monkeypatch.setattr("streamlit.session_state", session)
        notices = links.take(
            linked("2"), {"lesson": "2", "twist": "-40", "sigma": "1e9", "object": "no-such"}
        )
        assert session == {"lesson": "2", "lesson2_twist": -40.0}
        assert len(notices) == 2


class TestFormula:
    def test_letters_and_values_have_one_colour(self) -> None:
        for theme in (LIGHT, DARK):
            latex = twofold(["@r &= 2"], {"r": Symbol("r", "41", "radius")}, theme)
            shade = colour("radius", theme)
            assert rf"\textcolor{{{shade}}}{{r}}" in latex
            assert rf"\textcolor{{{shade}}}{{41}}" in latex

    def test_a_symbol_that_is_not_given_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            twofold(["@missing"], {}, LIGHT)

    def test_colours_can_be_read_on_their_background(self) -> None:
        for theme in (LIGHT, DARK):
            for role in ("attack", "sigma", "p", "radius", "count"):
                assert _contrast(colour(role, theme), theme.paper) >= 4.5


def _contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG."""

    def light(hexadecimal: str) -> float:
        parts = [int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    brighter, darker = sorted((light(one), light(two)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_the_notes_of_all_lessons_take_45_minutes_and_have_exercises_with_solutions() -> None:
    from app.pages.lessons.notes import DOCUMENT, notes

    every = notes(DOCUMENT.read_text(encoding="utf-8"))
    assert list(every) == list(LESSON.options)
    assert sum(each.minutes for each in every.values()) == 45
    for number, each in every.items():
        assert each.title == words(f"lesson{number}.title")
        for part in ("Say", "Do", "Exercise", "Solution"):
            assert f"**{part}.**" in each.text, number


def test_what_a_browser_remembers_is_checked() -> None:
    app = AppTest.from_function(restored_page, default_timeout=30).run()
    assert not app.exception
    assert app.session_state["lesson2_step"] == "3"
    assert app.session_state["lessons_solved"] == {"2"}
    assert "lesson1_step" not in app.session_state


def restored_page() -> None:
    """What a browser sends, part of it damaged."""
    from types import SimpleNamespace

    import streamlit as st

    from app.pages.lessons import progress

    told = {"steps": {"1": "99", "2": "3", "x": "2"}, "solved": ["2", "<b>", 7]}
    st.session_state["lesson_progress"] = SimpleNamespace(restored=told)
    progress._restore()


def test_the_handouts_in_the_repository_are_those_that_the_script_writes() -> None:
    from app.export.handout import HANDOUTS, exercise_of, handout, ideas
    from app.pages.lessons.notes import DOCUMENT, notes

    document = DOCUMENT.read_text(encoding="utf-8")
    every, words = notes(document), ideas(document)
    assert list(HANDOUTS) == list(LESSON.options)
    for lesson, each in every.items():
        exercise = exercise_of(each.text)
        assert exercise
        made = handout(lesson, each.title, words[lesson], exercise)
        kept = DOCUMENT.with_name("handouts") / f"lesson-{lesson}.html"
        if kept.exists():  # a wheel has none
            assert without_pictures(kept.read_text(encoding="utf-8")) == without_pictures(made)
        solution = each.text.rpartition("**Solution.**")[2].strip()
        assert solution not in made


def without_pictures(page: str) -> str:
    """Pixels may differ by the version of the library that draws them."""
    return re.sub(r'src="data:[^"]+"', "", page)
