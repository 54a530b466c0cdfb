"""The objects of a data set as a grid of pictures, by class and by words; one click shows an object in Explore."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.components.thumbnails import thumbnails
from app.server import cache
from app.widgets.datasets import Shelf, datasets
from tpc_core import gallery
from tpc_core.errors import TpcError

GALLERY = "Gallery"
PAGE = 60


def browse_objects() -> None:
    """Data set, split, class and words; then the grid."""
    known = {GALLERY: "gallery", **datasets()}
    first, second, third, fourth = st.columns([1.4, 1, 1.4, 2])
    title = str(first.selectbox("Data set", list(known), key="library_set"))
    if title == GALLERY:
        words = (
            fourth.text_input("Search", key="library_words", placeholder="chair, lamp ...").strip().lower()
        )
        classes = sorted({entry.category for entry in gallery()})
        wanted = third.selectbox("Class", ["all", *classes], key="library_gallery_class", format_func=_plain)
        _show(
            [
                (f"gallery:{entry.name}", entry.title)
                for entry in gallery()
                if wanted in ("all", entry.category)
                and words in f"{entry.name} {entry.title} {entry.category}".lower()
            ]
        )
        return
    split = str(second.selectbox("Split", ["test", "train"], key="library_split"))
    try:
        data = cache.dataset(known[title], split)
    except TpcError as error:
        st.info(literal(error))
        return
    category = str(
        third.selectbox("Class", ["all", *data.classes], key=f"library_class_{title}", format_func=_plain)
    )
    words = fourth.text_input("Search", key="library_words", placeholder=data.object_id(0)).strip().lower()
    shelf = Shelf(known[title], split, category, words)
    rows = shelf.rows()
    st.session_state["library_shelf"] = shelf
    _show_rows(shelf, rows)


def _show_rows(shelf: Shelf, rows: np.ndarray) -> None:
    data = cache.dataset(shelf.name, shelf.split)
    shown = _page_of(len(rows))
    items = []
    for row in rows[shown]:
        name = data.object_id(int(row)).rpartition("/")[2]
        items.append((shelf.spec(int(row)), f"{_plain(data.classes[data.label(int(row))])}: {name}"))
    _tiles(items)


def _show(items: list[tuple[str, str]]) -> None:
    _tiles(items[_page_of(len(items))])


def _page_of(count: int) -> slice:
    """Which of them are on the page that is shown."""
    pages = max(1, -(-count // PAGE))
    st.session_state["library_page"] = min(int(st.session_state.get("library_page", 1)), pages)
    number = 1
    if pages > 1:
        number = int(st.number_input(f"Page, of {pages}", 1, pages, key="library_page", width=160))
    st.caption(f"{count:,} object{'' if count == 1 else 's'}. Choose one to see it in Explore.")
    return slice((number - 1) * PAGE, number * PAGE)


def _tiles(items: list[tuple[str, str]]) -> None:
    pictures = [{"name": spec, "title": title, "picture": _picture(spec)} for spec, title in items]
    picked = thumbnails(pictures, selected=None, key="library_grid")
    if picked in {spec for spec, _ in items}:
        st.session_state["object"] = picked
        st.session_state["shelf"] = st.session_state.get("library_shelf")
        st.switch_page(st.session_state["pages"]["explore"])


def _picture(spec: str) -> str:
    if spec.startswith("gallery:"):
        return f"app/static/thumbnails/{spec.removeprefix('gallery:')}.png"
    try:
        return cache.picture(spec)
    except TpcError:  # one file that cannot be read must not hide the others
        return ""


def _plain(name: str) -> str:
    return name.replace("_", " ")
