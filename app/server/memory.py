"""Memory of a server that runs for long: what the collector need not walk over."""

from __future__ import annotations

import gc


def set_libraries_aside() -> None:
    """Spare the collector the objects of the libraries, which live as long as the process does.

    A third of a million objects of torch, scipy and Streamlit would be walked over after every slider movement and
    every poll of a run: 0.17 s with no other thread at work. What visitors bring comes later, and is collected.
    """
    gc.collect()
    gc.freeze()
