"""What Streamlit works out anew for every run of a page although it never changes."""

from __future__ import annotations

from functools import lru_cache

from streamlit import config


def remember_theme() -> None:
    """Read the sections of the configuration once, and again only when the file itself has changed.

    Every run of a page sends the theme, whose six sections Streamlit picks out of all of its options each time, on the
    one thread that serves everybody: a fifth of all the Python that a class of twenty made the server do.
    """
    remembered = lru_cache(maxsize=None)(config.get_options_for_section)
    config.get_options_for_section = remembered
    config.on_config_parsed(remembered.cache_clear, force_connect=True)
