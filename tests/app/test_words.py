"""Every language has every string of the lessons, with the same values in it; and each is what the pages ask for."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.pages.lessons.page import LESSONS
from app.pages.lessons.state import FIELDS, LANGUAGE, LESSON, ROOM_OBJECT
from app.words import LANGUAGES, table, words
from tpc_core.data import MODELNET40_CLASSES

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [language for language in LANGUAGES if language != "en"]


def slots(text: str) -> list[tuple[str, str]]:
    """The values that a string takes, each with its format."""
    return sorted((name, form or "") for _, name, form, _ in string.Formatter().parse(text) if name)


def plotly_slots(text: str) -> list[str]:
    return sorted(re.findall(r"%\{\{.*?\}\}", text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_string_is_there_and_takes_the_same_values(language: str) -> None:
    english, other = table("en"), table(language)
    assert set(other) == set(english)
    assert {key: slots(text) for key, text in other.items()} == {
        key: slots(text) for key, text in english.items()
    }
    assert {key: plotly_slots(text) for key, text in other.items()} == {
        key: plotly_slots(text) for key, text in english.items()
    }
    marks = re.compile(r"<(?:b|sub)>|</(?:b|sub)>|\*\*|\$p_A\$")
    assert {key: set(marks.findall(text)) for key, text in other.items()} == {
        key: set(marks.findall(text)) for key, text in english.items()
    }
    same = [key for key, text in other.items() if text == english[key] and len(text) > 12]
    assert same == []  # a long string that is the same was forgotten


def asked_for() -> set[str]:
    """The keys that the pages and figures name."""
    found: set[str] = set()
    for path in [*(ROOT / "app/pages/lessons").rglob("*.py"), *(ROOT / "app/figures").glob("lesson_*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "words" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


def test_no_string_is_missing_and_none_is_left_over() -> None:
    known = set(table("en"))
    named = asked_for()
    assert named <= known
    composed = {f"tab.{name}" for name in (*LESSONS, "challenge")}
    composed |= {f"label.{field.key}" for field in (*FIELDS, ROOM_OBJECT) if f"label.{field.key}" in known}
    composed |= {f"class.{name}" for name in MODELNET40_CLASSES}
    composed |= {f"lesson{n}.{what}" for n in LESSON.options for what in ("title", "question", "why")}
    composed |= {f"lesson{n}.answer{k}" for n in LESSON.options for k in (1, 2, 3)}
    assert known - named - composed == set()


def lesson_page(language: str, lesson: str) -> None:
    import streamlit as st

    from app.pages.lessons.page import page

    st.session_state["visitor"] = "reader"
    st.session_state["lesson_language"] = language
    st.session_state["lesson"] = lesson
    st.session_state[f"lesson{lesson}_step"] = "3"
    page()


@pytest.mark.parametrize("language", OTHERS)
def test_a_lesson_is_read_in_the_language_that_was_chosen(language: str) -> None:
    for lesson in LESSON.options:
        app = AppTest.from_function(
            lesson_page, default_timeout=120, kwargs={"language": language, "lesson": lesson}
        ).run()
        assert not app.exception
        assert app.radio[0].label == table(language)[f"lesson{lesson}.question"]
        labels = [part.label for part in (*app.button_group, *app.radio, *app.toggle, *app.button)]
        known = set(table(language).values())
        assert [label for label in labels if label not in known] == []


def test_an_unknown_language_is_english() -> None:
    assert LANGUAGE.clean("xx") is None
    assert words("tab.1") == "1 Attack"
