"""Asking a question: transform, radius, model and settings, with what it will take and why a model does not fit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import streamlit as st

from app import cache
from app.jobs import Request
from app.widgets.objects import current_shape, current_spec, is_upload, title_of
from app.widgets.poses import describe_preset, poser
from tpc_core import (
    Budget,
    Cloud,
    CoordinateSmoothing,
    Model,
    Options,
    ParameterSmoothing,
    Smoothing,
    Transform,
    all_transforms,
    parse_transform,
)
from tpc_core.certify.estimate import Estimate, estimate
from tpc_core.data import Shape
from tpc_core.errors import TpcError
from tpc_core.models import ModelCard
from tpc_core.transforms import Composition
from tpc_core.votes import BLOCK, Voter, resolve_device

BUDGETS = {"no limit": None, "1,000": 1_000, "10,000": 10_000, "100,000": 100_000, "1,000,000": 1_000_000}
CONFIDENCES = {"95 %": 0.05, "99 %": 0.01, "99.9 %": 0.001, "99.99 %": 0.0001}


@dataclass(frozen=True)
class Fit:
    """Whether a model can answer for a transform, and if not, why."""

    card: ModelCard
    reason: str = ""


def transform_names() -> list[str]:
    """Every transform that can be certified, those about z first."""
    names = [transform.name for transform in all_transforms()]
    return sorted(names, key=lambda name: (name[:2] in ("x-", "y-"), names.index(name)))


def fits(transform: Transform, shape: Shape) -> list[Fit]:
    """All models, each with the reason where it does not fit."""
    return [
        Fit(card, objection or _too_few(card, shape)) for card, objection in cache.fitting(transform.name)
    ]


def _too_few(card: ModelCard, shape: Shape) -> str:
    points = card.num_points or 64
    return (
        f"it needs {points} points, and {shape.name} has {shape.max_points}"
        if points > shape.max_points
        else ""
    )


def ask() -> Request | None:
    """The controls of the left column; the request that they describe, or None with the reason on screen."""
    shape = current_shape()
    transform = _transform()
    largest = (
        st.segmented_control("Question", ["A radius", "The largest"], key="goal", required=True)
        == "The largest"
    )
    radius = _radius(transform, largest)
    model = _model(fits(transform, shape), transform)
    if model is None:
        return None
    options = _settings(model, transform, largest)
    if options is None:
        return None
    spec = current_spec()
    request = Request(
        title=f"{title_of(spec, shape)}, {transform.name}",
        spec="" if is_upload(spec) else spec,
        model=model,
        cloud=shape.cloud(model.num_points or 64),
        transform=transform,
        radius=radius,
        options=options,
    )
    return request if _expect(request) else None


def _transform() -> Transform:
    names = transform_names()
    wanted = st.session_state.pop("certify_transform", None)
    if wanted in names:
        st.session_state["asked_transform"] = wanted
    elif st.session_state.get("asked_transform") not in names:
        posed = poser().pose.transform
        st.session_state["asked_transform"] = posed if posed in names and posed != "z-rotation" else "z-taper"
    return parse_transform(str(st.selectbox("Transform", names, key="asked_transform")))


def _radius(transform: Transform, largest: bool) -> dict[str, float] | None:
    """One number for each radius; the largest region needs them only where it has a direction to grow in."""
    if largest and not isinstance(transform, Composition):
        return None
    presets = {describe_preset(transform, radius): radius for radius in transform.paper_radii}
    start = (
        transform.paper_radii[0]
        if transform.paper_radii
        else tuple(p.largest_radius / 10 for p in transform.radii)
    )
    keys = [f"radius_{transform.name}_{p.name}" for p in transform.radii]
    for key, value in zip(keys, start, strict=True):
        st.session_state.setdefault(key, float(value))

    def take() -> None:
        picked = presets.get(str(st.session_state.get(f"radii_{transform.name}")))
        for key, value in zip(keys, picked or (), strict=False):
            st.session_state[key] = float(value)

    columns = st.columns(len(keys))
    values = {}
    for column, key, p in zip(columns, keys, transform.radii, strict=True):
        name = "Radius" if len(keys) == 1 else p.name
        values[p.name] = float(
            column.number_input(
                f"{name} (°)" if p.unit == "deg" else name,
                min_value=0.0,
                max_value=p.largest_radius,
                step=p.step if p.unit == "deg" else 0.05,
                key=key,
                format="%g",
            )
        )
    if presets:
        st.pills(
            "The paper's radii",
            list(presets),
            key=f"radii_{transform.name}",
            on_change=take,
            label_visibility="collapsed",
        )
    if largest:
        st.caption("The search grows in these proportions and ends at this size.")
    return values


def _model(every: list[Fit], transform: Transform) -> Model | None:
    good = [fit.card.name for fit in every if not fit.reason]
    bad = [fit for fit in every if fit.reason]
    model = None
    if good:
        if st.session_state.get("asked_model") not in good:
            explored = st.session_state.get("model")
            st.session_state["asked_model"] = (
                explored if explored in good else cache.best_fit(transform.name, good)
            )
        model = cache.model(
            str(st.selectbox("Model", good, key="asked_model", help="Only models whose smoothing fits."))
        )
    else:
        st.warning(f"No model here can certify {transform.name}.")
    if bad:
        noun = "model does" if len(bad) == 1 else "models do"
        with st.expander(f"{len(bad)} {noun} not fit"):
            for fit in bad:
                st.markdown(f"**{fit.card.name}**: {fit.reason}.")
    return model


def _settings(model: Model, transform: Transform, largest: bool) -> Options | None:
    with st.expander("Settings"):
        confidence = st.select_slider("Confidence", list(CONFIDENCES), key="confidence")
        protocol = st.segmented_control(
            "Protocol",
            ["adaptive", "paper"],
            key="protocol",
            required=True,
            disabled=largest,
            help="adaptive: cells are split and voted on as needed. paper: a uniform grid, 10,000 votes a cell.",
        )
        statistics = st.segmented_control(
            "Statistics", ["staged", "anytime"], key="statistics", required=True
        )
        budget = st.select_slider("Budget of votes", list(BUDGETS), key="budget")
        complete = st.toggle("Fill the whole map, even after a cell failed", key="complete")
        sigma = _sigma(model.smoothing, model.name)
        seed = st.number_input("Seed", 0, 2**31 - 1, key="seed")
    try:
        return Options(
            alpha=CONFIDENCES[confidence],
            protocol="paper" if protocol == "paper" and not largest else "adaptive",
            statistics="anytime" if statistics == "anytime" else "staged",
            sigma=sigma,
            largest=largest,
            budget=Budget(samples=BUDGETS[budget]),
            seed=int(seed),
            complete=complete,
        )
    except TpcError as error:
        st.warning(str(error))
        return None


def _sigma(smoothing: Smoothing, model: str) -> tuple[float, ...] | None:
    """Another sigma than the model's own; None where it is left alone."""
    if isinstance(smoothing, CoordinateSmoothing):
        own, names = [smoothing.sigma], ["sigma"]
    elif isinstance(smoothing, ParameterSmoothing):
        radii = smoothing.transform.radii
        own = [float(f"{p.to_edge(s):.12g}") for p, s in zip(radii, smoothing.sigmas, strict=True)]
        names = [f"sigma of {p.name}" + (" (°)" if p.unit == "deg" else "") for p in radii]
    else:
        st.caption(f"Smoothing: {smoothing.describe()}; it has no sigma.")
        return None
    for name, value in zip(names, own, strict=True):
        st.session_state.setdefault(f"sigma_{model}_{name}", value)
    chosen = tuple(
        float(st.number_input(name, min_value=1e-4, key=f"sigma_{model}_{name}", format="%g"))
        for name in names
    )
    return None if list(chosen) == own else chosen


def _expect(request: Request) -> bool:
    """Say what the run will take; False, with the reason, where it cannot be asked."""
    try:
        work = estimate(request.model, request.cloud, request.transform, request.radius, request.options)
    except TpcError as error:
        st.warning(str(error))
        return False
    st.caption(in_words(work, votes_per_second(request.model, request.cloud), cache.device_name()))
    return True


def in_words(work: Estimate, rate: float, device: str) -> str:
    """The estimate as a sentence."""
    speed = f"{rate:,.0f} votes/s on {device.upper()}"
    if work.samples is None:
        return f"Cells from the identity outwards until one fails; {speed}."
    if math.isinf(work.samples):
        return f"More than {work.cells:,} cells: this may take long; {speed}."
    cells = f"{work.cells:,} cells, " if work.cells > 1 else ""
    return f"About {cells}{work.samples:,.0f} votes, {duration(work.samples / rate)}; {speed}."


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if math.isinf(seconds):
        return "unknown"
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def votes_per_second(model: Model, cloud: Cloud) -> float:
    """How fast this model votes on clouds of this size, measured once."""
    return _rate(model.digest, len(cloud), model, cloud)


@st.cache_data(ttl=600, show_spinner=False)
def _rate(digest: str, points: int, _model: Model, _cloud: Cloud) -> float:
    voter = Voter(_model, _model.smoothing, seed=0, device=resolve_device("auto"))
    voter.count(_cloud.points, "speed", 0, BLOCK)
    start = time.perf_counter()
    voter.count(_cloud.points, "speed", BLOCK, 3 * BLOCK)
    return 2 * BLOCK / max(time.perf_counter() - start, 1e-6)
