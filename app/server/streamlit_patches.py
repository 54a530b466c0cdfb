"""Where Streamlit takes our own folders, or what never changes, for something else."""

from __future__ import annotations

from functools import lru_cache

from streamlit import config
from streamlit.runtime.pages_manager import PagesManager


def remember_theme() -> None:
    """Read the sections of the configuration once, and again only when the file itself has changed.

    Every run of a page sends the theme, whose six sections Streamlit picks out of all of its options each time, on the
    one thread that serves everybody: a fifth of all the Python that a class of twenty made the server do.
    """
    remembered = lru_cache(maxsize=None)(config.get_options_for_section)
    config.get_options_for_section = remembered
    config.on_config_parsed(remembered.cache_clear, force_connect=True)


def own_the_pages_folder() -> None:
    """Say that app/pages is a package of ours, and not Streamlit's old way to make a page of every file.

    Until the first visitor's first run has told it so, a folder of that name beside the script makes it answer
    "Page not found" to a link to any page but the first.
    """
    PagesManager.uses_pages_directory = False
