"""What the first visitor would wait for, done while the server starts: libraries, workers, first answers."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import threading
import time

from streamlit import runtime

from app import pages

PATIENCE = 60.0
"""Seconds until Streamlit's caches must be there; without them nothing could be kept."""


def warm_up() -> None:
    """Begin at once, beside the server; a visitor who comes sooner waits for what is left of it."""
    threading.Thread(target=_prepare, name="warm-up", daemon=True).start()


def _prepare() -> None:
    for room in pkgutil.iter_modules(pages.__path__):  # with them come PyTorch, SciPy and Plotly
        importlib.import_module(f"app.pages.{room.name}.page")
    deadline = time.monotonic() + PATIENCE
    while not runtime.exists():
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)
    # A thread of its own has no page to show a spinner on, and Streamlit says so each time.
    silence = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
    before = silence.level
    silence.setLevel(logging.ERROR)
    try:
        _fill_caches()
    finally:
        silence.setLevel(before)


def _fill_caches() -> None:
    from app.pages.home.twisted_object import answers
    from app.pages.lessons import live
    from app.server.engine import engine

    engine()
    answers()
    live.fragile(live.NOISE_MODEL)
