"""Choosing an object: the gallery, the data sets on this machine, or a file of the visitor's own."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import streamlit as st

from app import cache
from app.components.thumbnails import thumbnails
from tpc_core import gallery
from tpc_core.data import Dataset, Shape
from tpc_core.data.files.load import FORMATS
from tpc_core.data.limits import MAX_UPLOAD_BYTES
from tpc_core.data.sandbox import read_untrusted, warm_up
from tpc_core.errors import TpcError

FIRST = "gallery:chair-1"
_DATASETS = {"ModelNet40": "modelnet40", "ShapeNet part": "shapenetpart"}


def current_spec() -> str:
    """The object that this visitor looks at, by name."""
    return str(st.session_state.setdefault("object", FIRST))


def current_shape() -> Shape:
    """The object itself; one that cannot be loaded falls back to the first, with a notice."""
    spec = current_spec()
    uploads: dict[str, Shape] = st.session_state.setdefault("uploads", {})
    if spec in uploads:
        return uploads[spec]
    try:
        return cache.shape(spec)
    except TpcError as error:
        st.warning(f"{error} Showing {FIRST} instead.")
        st.session_state["object"] = FIRST
        return cache.shape(FIRST)


def is_upload(spec: str) -> bool:
    """Whether an object is this visitor's own file."""
    return spec.startswith("upload:")


def title_of(spec: str, shape: Shape) -> str:
    """A few words for people."""
    titles = {f"gallery:{entry.name}": entry.title for entry in gallery()}
    return titles.get(spec, shape.name)


def part_names(spec: str) -> dict[int, str]:
    """Part id -> word, where the gallery knows them."""
    names = {f"gallery:{entry.name}": entry.part_names for entry in gallery()}
    return dict(names.get(spec, {}))


def object_button(shape: Shape) -> None:
    """The current object with its picture, and the button that opens the chooser."""
    spec = current_spec()
    name = spec.removeprefix("gallery:")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if spec.startswith("gallery:"):
            st.html(
                f'<img class="tpc-object" alt="" src="app/static/thumbnails/{name}.png">', width="content"
            )
        else:
            st.html('<div class="tpc-object tpc-blank">●●●</div>', width="content")
        label = f"class *{shape.label.replace('_', ' ')}*" if shape.label else "class unknown"
        st.markdown(f"**{title_of(spec, shape)}**  \n{label}", width="content")
    if st.button("Choose an object", width="stretch", icon=":material/category:", key="choose_object"):
        choose_object()


@st.dialog("Choose an object", width="large")
def choose_object() -> None:
    """Gallery, data sets and upload, one tab each."""
    warm_up()
    tabs = st.tabs(["Gallery", *_DATASETS, "Upload"])
    with tabs[0]:
        _gallery()
    for tab, (title, name) in zip(tabs[1:], _DATASETS.items(), strict=False):
        with tab:
            _dataset(title, name)
    with tabs[-1]:
        _upload()


def _take(spec: str) -> None:
    st.session_state["object"] = spec
    st.rerun()


def _gallery() -> None:
    wanted = (
        st.text_input("Search", placeholder="chair, lamp, airliner ...", key="gallery_search").strip().lower()
    )
    entries = [
        entry for entry in gallery() if wanted in f"{entry.name} {entry.title} {entry.category}".lower()
    ]
    if not entries:
        st.caption("No object of the gallery is called that.")
    items = [
        {"name": entry.name, "title": entry.title, "picture": f"app/static/thumbnails/{entry.name}.png"}
        for entry in entries
    ]
    picked = thumbnails(items, selected=current_spec().removeprefix("gallery:"), key="gallery_grid")
    if picked in {entry.name for entry in entries}:
        _take(f"gallery:{picked}")


def _dataset(title: str, name: str) -> None:
    split = st.segmented_control("Split", ["test", "train"], default="test", key=f"{name}_split") or "test"
    try:
        data = cache.dataset(name, split)
    except TpcError as error:
        st.info(str(error))
        return
    left, middle = st.columns(2)
    category = left.selectbox("Category", ["all", *data.classes], key=f"{name}_category")
    search = middle.text_input("Search by id", key=f"{name}_search", placeholder="chair_0891")
    rows = matching_rows(data, category, search)
    if not len(rows):
        st.caption("Nothing matches.")
        return
    st.caption(f"{len(rows):,} objects of {title} {split}")
    place_key = f"{name}_place"
    place = min(int(st.session_state.get(place_key, 0)), len(rows) - 1)
    before, number, after, chance = st.columns([1, 2, 1, 1], vertical_alignment="bottom")
    if before.button("Previous", key=f"{name}_before", width="stretch"):
        place = (place - 1) % len(rows)
    if after.button("Next", key=f"{name}_after", width="stretch"):
        place = (place + 1) % len(rows)
    if chance.button("Random", key=f"{name}_random", width="stretch"):
        place = random.randrange(len(rows))
    st.session_state[place_key] = place
    place = int(
        number.number_input(
            "Number", 0, len(rows) - 1, place, key=f"{name}_number_{split}_{category}_{place}"
        )
    )
    st.session_state[place_key] = place
    index = int(rows[place])
    st.markdown(f"**{data.object_id(index)}**, class *{data.classes[data.label(index)]}*")
    if st.button("Show this object", type="primary", key=f"{name}_take"):
        _take(f"{name}:{split}/{index}")


def matching_rows(data: Dataset, category: str, search: str) -> np.ndarray:
    """The rows of a category whose id holds the searched words."""
    rows = np.arange(len(data))
    if category != "all":
        rows = rows[data.labels == data.classes.index(category)]
    wanted = search.strip().lower()
    if wanted:
        rows = np.array([row for row in rows if wanted in data.object_id(int(row)).lower()], dtype=np.int64)
    return rows


def _upload() -> None:
    endings = ", ".join(ending.lstrip(".") for ending in sorted(FORMATS))
    st.caption(
        f"A mesh or a cloud, z-up, at most {MAX_UPLOAD_BYTES >> 20} MB: {endings}. "
        "It stays in your session; nobody else sees it."
    )
    given = st.file_uploader("File", type=[ending.lstrip(".") for ending in FORMATS], key="upload_file")
    if given is None:
        return
    content = given.getvalue()
    spec = f"upload:{hashlib.sha256(content + given.name.encode()).hexdigest()[:16]}"
    known, shape = st.session_state.get("last_upload", ("", None))
    if known != spec:  # the dialog runs again with every click in it
        try:
            shape = read_upload(content, given.name)
        except TpcError as error:
            st.error(str(error))
            return
        st.session_state["last_upload"] = (spec, shape)
    kind = "a mesh" if shape.mesh is not None else "a cloud"
    st.success(f"{shape.name}: {kind}, up to {shape.max_points:,} points")
    if st.button("Show this object", type="primary", key="upload_take"):
        st.session_state.setdefault("uploads", {})[spec] = shape
        _take(spec)


def read_upload(content: bytes, name: str) -> Shape:
    """The shape in an uploaded file, read in a process of its own; the name is cut down to safe letters."""
    return read_untrusted(content, name)
