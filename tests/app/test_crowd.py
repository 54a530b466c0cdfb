"""With many pages at work, certificates stand back and looks take fewer votes; alone, nothing changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.pages.explore.ballot import votes_that_fit
from app.server import crowd
from app.server.crowd import MANY, GiveWay, crowded


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


def rested(give_way: GiveWay, batch: float) -> float:
    give_way.rest()
    time.sleep(batch)
    start = time.monotonic()
    give_way.rest()
    return time.monotonic() - start


def test_a_visitor_or_two_are_no_crowd() -> None:
    for count in (0, MANY - 1):
        with pages(count):
            assert not crowded()
            assert rested(GiveWay(), 0.1) < 0.05


def test_a_certificate_rests_as_long_as_it_worked() -> None:
    with pages(MANY):
        assert crowded()
        assert 0.1 <= rested(GiveWay(), 0.1) < 0.35


def test_it_never_rests_for_long(monkeypatch) -> None:
    monkeypatch.setattr(crowd, "LONGEST_WAIT", 0.05)
    with pages(MANY):
        assert rested(GiveWay(), 0.3) < 0.2


def test_streamlit_still_calls_its_threads_so() -> None:
    from streamlit.runtime.scriptrunner import script_runner

    with open(script_runner.__file__, encoding="utf-8") as source:
        assert f'name="{crowd._SCRIPT}"' in source.read()


def test_a_crowd_gets_fewer_votes_at_once() -> None:
    for moving in (True, False):
        assert votes_that_fit(64, moving=moving, crowd=True) < votes_that_fit(64, moving=moving)
