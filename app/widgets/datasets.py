"""Browsing the data sets that lie on this machine: find an object, then step from one to the next."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.server import cache
from app.server.owner import may_add
from app.widgets.object_stage import object_stage
from tpc_core import parse_transform
from tpc_core.data import FOLDER_VARIABLES, Dataset, open_dataset
from tpc_core.data.own import own_names
from tpc_core.errors import TpcError

KNOWN = {"ModelNet40": "modelnet40", "ShapeNet part": "shapenetpart"}


def datasets() -> dict[str, str]:
    """Title -> name of every data set: the known ones, and those that were added to this server."""
    return {**KNOWN, **{name: name for name in own_names()}}


@dataclass(frozen=True)
class Shelf:
    """The objects that were searched for: a category of a split, or the ids that hold some words."""

    name: str
    split: str
    category: str = "all"
    search: str = ""

    def rows(self) -> np.ndarray:
        """Their numbers in the split."""
        return cache.rows(self.name, self.split, self.category, self.search)

    def spec(self, row: int) -> str:
        """An object of the split, as the command line calls it."""
        return f"{self.name}:{self.split}/{row}"


def parsed_spec(spec: str) -> tuple[str, str, int] | None:
    """Data set, split and number of an object; None for one of another kind."""
    name, _, rest = spec.partition(":")
    split, _, number = rest.partition("/")
    return (name, split, int(number)) if name in datasets().values() and number.isdecimal() else None


def step(spec: str, shelf: Shelf | None, by: int | None) -> str:
    """The object before or after this one on its shelf; any other where `by` is None."""
    found = parsed_spec(spec)
    assert found is not None
    name, split, row = found
    if shelf is None or (shelf.name, shelf.split) != (name, split):
        shelf = Shelf(name, split)
    rows = shelf.rows()
    if not len(rows):
        return spec
    if by is None:
        return shelf.spec(int(random.choice(rows)))
    place = int(np.searchsorted(rows, row))
    if by > 0 and (place == len(rows) or rows[place] != row):
        place -= 1  # the object itself is not on the shelf: its successor stands at its place
    return shelf.spec(int(rows[(place + by) % len(rows)]))


def browse(title: str, name: str) -> str | None:
    """One tab of the chooser; the object that was taken, if any."""
    split = st.segmented_control("Split", ["test", "train"], default="test", key=f"{name}_split") or "test"
    try:
        data = cache.dataset(name, split)
    except TpcError as error:
        st.info(literal(error))
        _folder(name)
        return None
    left, right = st.columns(2)
    category = left.selectbox("Category", ["all", *data.classes], key=f"{name}_category", format_func=_plain)
    search = right.text_input("Search by id", key=f"{name}_search", placeholder=data.object_id(0))
    shelf = Shelf(name, split, str(category), search.strip().lower())
    rows = shelf.rows()
    if not len(rows):
        st.caption("Nothing matches; try another word or category.")
        return None
    found = "1 object" if len(rows) == 1 else f"{len(rows):,} objects"
    st.caption(f"{found} of {title}, {split} split, read from its {data.release} release.")
    row = _pick(shelf, rows)
    _preview(data, row)
    if st.button("Show this object", type="primary", key=f"{name}_take"):
        st.session_state["shelf"] = shelf
        return shelf.spec(row)
    return None


def _pick(shelf: Shelf, rows: np.ndarray) -> int:
    """Previous, number, next and random; the row they lead to."""
    key = f"{shelf.name}_number"

    def go(to: int) -> None:
        st.session_state[key] = to % len(rows)

    place = min(max(int(st.session_state.get(key, 0)), 0), len(rows) - 1)
    st.session_state[key] = place
    before, number, after, chance = st.columns([1.2, 2, 1.2, 1.2], vertical_alignment="bottom")
    before.button("Previous", key=f"{key}_before", width="stretch", on_click=go, args=(place - 1,))
    after.button("Next", key=f"{key}_after", width="stretch", on_click=go, args=(place + 1,))
    chance.button(
        "Random", key=f"{key}_random", width="stretch", on_click=lambda: go(random.randrange(len(rows)))
    )
    number.number_input(f"Number, 0 to {len(rows) - 1}", 0, len(rows) - 1, key=key)
    return int(rows[int(st.session_state[key])])


def _preview(data: Dataset, row: int) -> None:
    shape = data[row]
    st.markdown(f"**{literal(shape.name)}**, class *{literal(_plain(str(shape.label)))}*")
    object_stage(
        shape,
        min(1024, shape.max_points),
        parse_transform("z-rotation"),
        key=f"{data.name}_preview",
        height="240px",
        title=shape.name,
        epoch=shape.name,
    )


def _folder(name: str) -> None:
    """Whoever runs the server may say where the data lie."""
    if not may_add() or name not in FOLDER_VARIABLES:
        return
    given = st.text_input("The folder that holds it", key=f"{name}_folder", placeholder="~/data")
    if not st.button("Look there", key=f"{name}_look", disabled=not given.strip()):
        return
    before = os.environ.get(FOLDER_VARIABLES[name])
    os.environ[FOLDER_VARIABLES[name]] = str(Path(given.strip()).expanduser())
    try:
        open_dataset(name, "test")
    except TpcError as error:
        if before is None:
            del os.environ[FOLDER_VARIABLES[name]]
        else:
            os.environ[FOLDER_VARIABLES[name]] = before
        st.error(literal(error))
        return
    cache.dataset.clear()
    st.rerun(scope="fragment")


def _plain(name: str) -> str:
    return name.replace("_", " ")
