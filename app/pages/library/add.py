"""Adding a model or a data set from the page, for whoever runs the server. Files lie on the server's machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.escape_markdown import literal
from app.server import cache
from app.server.owner import may_run_code
from app.widgets.datasets import datasets
from app.widgets.untrained import untrained_note
from tpc_core.data import CLASSES_BY_SET, match_classes
from tpc_core.data.own import add_set
from tpc_core.errors import InvalidValue, TpcError
from tpc_core.models.brought import (
    CODE_FORMATS,
    bring,
    check_name,
    format_of,
    keep_model,
    with_clean_accuracy,
)
from tpc_core.smoothing import parse_smoothing

FOUND = "found by trying"
NO_DATA = "what fits, if it is here"
REFUSED = (
    "This file holds code, and opening it runs that code. So this server refuses such files. The person who runs the "
    "server can allow them: start it with TPC_RUN_CODE=1."
)


def add_a_model() -> None:
    """The questions of `tpc models add`, and what was recognised."""
    st.caption(
        "An ONNX file, or weights (.safetensors, .pth) in a public layout: PointNet, PointNet++, DGCNN, PointMLP, "
        "CurveNet. "
        + (
            "Factories (package.module:make), .pt2 and TorchScript files are allowed here, too."
            if may_run_code()
            else "Files that hold code (factories, .pt2, TorchScript) take a server that was started with "
            "TPC_RUN_CODE=1."
        )
    )
    with st.form("library_model"):
        left, right = st.columns(2)
        name = left.text_input("Name", placeholder="my-network", max_chars=64)
        source = right.text_input("File on this machine", placeholder="~/networks/net.onnx", max_chars=400)
        weights = folder = ""
        if may_run_code():
            weights = left.text_input(
                "Weights of a factory", placeholder="~/networks/net.safetensors", max_chars=400
            )
            folder = right.text_input(
                "Folder of a factory's package", placeholder="~/networks", max_chars=400
            )
        classes = left.text_input(
            "Classes",
            placeholder="chair,lamp,bed",
            help="In their order; or modelnet40, modelnet10.",
            max_chars=4000,
        )
        smoothing = right.text_input(
            "Smoothing", "noise:0.05", help="noise:0.05, z-twist:20, group:z-rotation."
        )
        points = left.number_input("Points (0: any)", 0, 2048, 0)
        layout = right.selectbox("Layout", [FOUND, "points-first", "channels-first"])
        up = left.selectbox("Its clouds' up axis", ["z", "y"])
        scale = right.selectbox("Its clouds' scale", ["ball", "cube", "half-cube"])
        sets = [NO_DATA, *datasets().values()]
        data = left.selectbox(
            "Measure its accuracy on", sets, help="The test split, at most 400 objects of it."
        )
        replace = right.checkbox("Put it in the place of one that has this name")
        asked = st.form_submit_button("Add the model", type="primary")
    if not asked:
        return
    try:
        said = _added_model(
            name.strip(), source.strip(), classes.strip(), smoothing.strip(),
            {
                "layout": None if layout == FOUND else layout, "up": up, "scale": scale,
                "num_points": int(points) or None, "weights": _place(weights), "folder": _place(folder),
            },
            data=None if data == NO_DATA else str(data), replace=replace,
        )  # fmt: skip
    except TpcError as error:
        st.error(literal(error))
        return
    cache.model_cards.clear()
    cache.fitting.clear()
    st.success(f"Added {literal(name.strip())}: it is one more model on every page.")
    for note in said:
        st.markdown(f"- {literal(note)}")
    untrained_note(name.strip(), None)


def _added_model(
    name: str,
    source: str,
    classes: str,
    smoothing: str,
    options: dict[str, Any],
    *,
    data: str | None,
    replace: bool,
) -> list[str]:
    if not name or not source:
        raise InvalidValue("give the model a name, and say which file it is")
    check_name(name, replace=replace)
    place = os.path.expanduser(source)  # unlike Path.expanduser, it never raises
    if format_of(place) in CODE_FORMATS and not may_run_code():
        raise InvalidValue(REFUSED)
    names = CLASSES_BY_SET.get(classes) or [piece for piece in classes.split(",") if piece.strip()] or None
    model = bring(
        place,
        name=name,
        classes=names,
        smoothing=parse_smoothing(smoothing),
        run_code=may_run_code(),
        **options,
    )
    model, measured = with_clean_accuracy(model, data)
    keep_model(model, replace=replace)
    assert model.card.brought is not None
    return [*model.card.brought.notes, *measured]


def _place(text: str) -> str | None:
    return os.path.expanduser(text.strip()) or None


def add_a_data_set() -> None:
    """The questions of `tpc data add`, and what was found."""
    st.caption(
        "A folder with one subfolder for each class (train and test inside, if you have them), a CSV or Parquet table "
        "with the columns file and label, ScanObjectNN's h5 or ModelNet40-C's npy files, or a Hugging Face data set on "
        "disk. The files stay where they are."
    )
    with st.form("library_data"):
        left, right = st.columns(2)
        name = left.text_input("Name", placeholder="my-objects", max_chars=64)
        path = right.text_input("Folder or file on this machine", placeholder="~/objects", max_chars=400)
        up = left.selectbox("Up axis", ["as the release has it, or z", "z", "y"])
        model = right.selectbox("Match its classes with", [card.name for card in cache.model_cards()])
        replace = st.checkbox("Put it in the place of one that has this name")
        asked = st.form_submit_button("Add the data set", type="primary")
    if not asked:
        return
    try:
        if not name.strip() or not path.strip():
            raise InvalidValue("give the data set a name, and say where it lies")
        axis: Any = up if up in ("z", "y") else None
        made = add_set(name.strip(), Path(path.strip()), up=axis, replace=replace)
    except TpcError as error:
        st.error(literal(error))
        return
    cache.dataset.clear()
    card = next(card for card in cache.model_cards() if card.name == model)
    st.success(
        literal(
            f"Added {made.name}: {made.kind}, {len(made.classes)} classes, {made.train} objects for training and "
            f"{made.test} for testing."
        )
    )
    st.caption(literal(match_classes(made.classes, card.classes).sentence(made.name)))
