"""The strings of the lessons: one plain table for each language, and the language that a visitor reads.

A new language is one file beside these, with every key of en.toml, and its name in LANGUAGES.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LANGUAGES = {"en": "English", "de": "Deutsch", "zh": "中文"}
KEY = "lesson_language"
"""Where the session keeps the language that was chosen; empty for that of the browser."""
_HERE = Path(__file__).parent


@cache
def table(language: str) -> dict[str, str]:
    """Every string of a language, by its section and name."""
    sections = tomllib.loads((_HERE / f"{language}.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": text for section, part in sections.items() for name, text in part.items()}


def language() -> str:
    """The language that was chosen, or that of the browser where there is a table for it, or English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return "en"
    chosen = str(st.session_state.get(KEY) or str(st.context.locale or "")[:2].lower())
    return chosen if chosen in LANGUAGES else "en"


def words(key: str, **values: Any) -> str:
    """A string in the visitor's language, with the values in their places."""
    return table(language())[key].format(**values)


def class_words(name: str) -> str:
    """A class as a person reads it; those that no table knows keep their name."""
    return table(language()).get(f"class.{name}", name.replace("_", " "))
