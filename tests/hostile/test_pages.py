"""Pages promise: a link may hold anything, and a page that breaks says so in one sentence and shows the way back."""

from __future__ import annotations

import re
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from app.session import links
from tests.hostile.fuzz import check_sentence

ROOT = Path(__file__).resolve().parents[2]


def test_a_link_with_very_many_values_is_left_out_at_once() -> None:
    values = {f"name{number}": "x" * 50 for number in range(100_000)}
    started = time.process_time()
    (notice,) = links.take([], values)
    assert time.process_time() - started < 0.5
    check_sentence(notice)


def test_a_link_with_long_and_strange_values_costs_a_few_sentences() -> None:
    values = {f"\x1b[31m{number}": "9" * 100_000 for number in range(links.MOST)}
    notices = links.take([links.number("size", "size", 0, 1, 0)], {**values, "size": "1e999"})
    assert len(notices) == 1
    notices = links.take([links.number("size", "size", 0, 1, 0)], {"size": "9" * 100_000, "<b>": ""})
    assert len(notices) == 2
    assert max(map(len, notices)) < 1000


def _broken_page() -> None:
    from app.server.protection.failures import show_one_sentence

    assert show_one_sentence(KeyError("secret/path <b>bold</b>"))


def _refused_page() -> None:
    from app.server.protection.failures import show_one_sentence
    from tpc_core.errors import InvalidCertificate

    assert show_one_sentence(InvalidCertificate("the counts of <cell> 3 do not fit"))


def test_a_page_that_breaks_shows_one_sentence_and_the_way_back() -> None:
    page = AppTest.from_function(_broken_page).run()
    (error,) = page.error
    assert "secret" not in error.value
    assert "Something on this page went wrong" in error.value
    assert not page.exception
    assert page.get("link_button")


def test_an_error_of_ours_is_shown_as_the_text_that_it_is() -> None:
    (error,) = AppTest.from_function(_refused_page).run().error
    assert "the counts of \\<cell\\> 3 do not fit" in error.value


def test_workflow_actions_are_pinned_to_what_was_read() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)


def test_the_base_image_is_pinned_to_a_digest() -> None:
    file = (ROOT / "Dockerfile").read_text()
    (base,) = re.findall(r"^ARG BASE=(\S+)", file, re.MULTILINE)
    assert re.fullmatch(r"python:3\.11-slim@sha256:[0-9a-f]{64}", base)
    assert set(re.findall(r"^FROM (\S+)", file, re.MULTILINE)) == {"${BASE}"}
