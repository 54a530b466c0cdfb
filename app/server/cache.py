"""What all visitors share, loaded once: models and public objects. A visitor's own uploads never come here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from torch import Tensor

from app.figures.portraits import portrait
from tpc_core import Model, list_models, load_model, load_shape, open_dataset, parse_transform
from tpc_core.bounds import bounded_model_for, bounded_models
from tpc_core.data import Dataset, Shape
from tpc_core.errors import TpcError
from tpc_core.models import FULL_PRECISION, ModelCard, fitting_models, model_for, parse_variant
from tpc_core.smoothing import parse_smoothing
from tpc_core.votes import resolve_device


@st.cache_data(ttl=10, show_spinner=False)
def model_cards() -> list[ModelCard]:
    """The shipped checkpoints; read again now and then, since training may add some."""
    return list_models()


@st.cache_data(ttl=10, show_spinner=False)
def fitting(transform: str) -> list[tuple[ModelCard, str | None]]:
    """Every checkpoint, each with the reason why it cannot certify this transform, or None."""
    return fitting_models(parse_transform(transform))


@st.cache_data(ttl=10, show_spinner=False)
def bounded(transform: str) -> list[tuple[ModelCard, str | None]]:
    """Every checkpoint, each with the reason why nothing certain can be said of it under this transform, or None."""
    return bounded_models(parse_transform(transform))


@st.cache_data(ttl=10, show_spinner=False)
def best_fit(transform: str, among: list[str], certain: bool = False) -> str:
    """The checkpoint whose certificate reaches farthest."""
    try:
        best = (bounded_model_for if certain else model_for)(parse_transform(transform)).name
    except TpcError:
        return among[0]
    return best if best in among else among[0]


def knows(name: str) -> bool:
    """Whether a name is that of a model here, or of one under another smoothing: NAME@z-twist:20. It opens nothing."""
    try:
        variant = parse_variant(name)
        if variant.smoothing is not None:
            parse_smoothing(variant.smoothing)
    except TpcError:
        return False
    return variant.precision == FULL_PRECISION and variant.checkpoint in {card.name for card in model_cards()}


def model(name: str) -> Model:
    """A checkpoint by name; another file under the same name is another model."""
    checkpoint = name.partition("@")[0]
    digest = next((card.sha256 for card in model_cards() if card.name == checkpoint), "")
    return _model(name, digest)


@st.cache_resource(max_entries=16, show_spinner=False)
def _model(name: str, digest: str) -> Model:
    return load_model(name)


def classifier(name: str) -> Callable[[Tensor], Tensor]:
    """The fast path of a checkpoint on the CPU, where a single look is quickest."""
    loaded = model(name)
    return _classifier(loaded.digest, loaded)


@st.cache_resource(max_entries=16, show_spinner=False)
def _classifier(digest: str, _model: Model) -> Callable[[Tensor], Tensor]:
    return _model.classifier("cpu")


@st.cache_resource(max_entries=128, show_spinner=False)
def shape(spec: str) -> Shape:
    """An object of the gallery or of a data set."""
    return load_shape(spec)


@st.cache_resource(max_entries=4, show_spinner="Opening the data set ...")
def dataset(name: str, split: str) -> Dataset:
    """One split of a data set, from the folder that the environment names."""
    return open_dataset(name, split)


@st.cache_data(max_entries=64, show_spinner=False)
def rows(name: str, split: str, category: str, search: str) -> np.ndarray:
    """The numbers of the objects of a category ("all" for any) whose id holds the searched words."""
    data = dataset(name, split)
    found = np.arange(len(data))
    if category != "all":
        found = found[data.labels == data.classes.index(category)]
    return np.array([row for row in found if search in data.object_id(int(row)).lower()], dtype=np.int64)


@st.cache_data(max_entries=4096, show_spinner=False)
def picture(spec: str) -> str:
    """A small picture of an object of the gallery or of a data set, as an address."""
    loaded = shape(spec)
    return portrait(loaded.cloud(min(512, loaded.max_points)).array)


@st.cache_data(show_spinner=False)
def device_name() -> str:
    """The device that certificates run on."""
    return resolve_device("auto").type
