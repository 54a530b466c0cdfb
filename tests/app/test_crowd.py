"""With many pages at work, looks take fewer votes; alone, nothing changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.pages.explore.ballot import votes_that_fit
from app.server import crowd
from app.server.crowd import MANY, crowded


@contextmanager
def pages(count: int) -> Iterator[None]:
    """Threads named as Streamlit names those that work on a page."""
    over = threading.Event()
    threads = [threading.Thread(target=over.wait, name="ScriptRunner.scriptThread") for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_a_visitor_or_two_are_no_crowd() -> None:
    for count in (0, MANY - 1):
        with pages(count):
            assert not crowded()


def test_many_are() -> None:
    with pages(MANY):
        assert crowded()


def test_streamlit_still_calls_its_threads_so() -> None:
    from streamlit.runtime.scriptrunner import script_runner

    with open(script_runner.__file__, encoding="utf-8") as source:
        assert f'name="{crowd._SCRIPT}"' in source.read()


def test_a_crowd_gets_fewer_votes_at_once() -> None:
    for moving in (True, False):
        assert votes_that_fit(64, moving=moving, crowd=True) < votes_that_fit(64, moving=moving)
