"""Asking a question: transform, radius, model and settings, with what it will take and why a model does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.components.escape_markdown import literal
from app.figures.region_map import LOOKS
from app.pages.certify.estimates import expected, say_cost
from app.pages.certify.landscapes import landscape_of
from app.pages.certify.question_link import (
    BUDGETS,
    CONFIDENCES,
    FIRST_TRANSFORM,
    LARGEST_SEED,
    PROOFS,
    asked_transform,
    first_radius,
    radius_keys,
    sigma_keys,
)
from app.pages.certify.radius_slider import radius_slider
from app.server import cache
from app.server.jobs import Request
from app.session.pose import Pose
from app.session.uploads import is_upload
from app.widgets.objects import current_shape, current_spec, title_of
from app.widgets.poses import describe_preset, poser
from tpc_core import (
    Budget,
    Model,
    Options,
    Question,
    Smoothing,
    Transform,
    all_transforms,
    parse_transform,
)
from tpc_core.data import Shape
from tpc_core.errors import TpcError
from tpc_core.forecast import propose_radius
from tpc_core.models import ModelCard
from tpc_core.transforms import Composition


@dataclass(frozen=True)
class Fit:
    """Whether a model can answer for a transform, and if not, why."""

    card: ModelCard
    reason: str = ""


def transform_names() -> list[str]:
    """Every transform that can be certified, those about z first."""
    names = [transform.name for transform in all_transforms()]
    return sorted(names, key=lambda name: (name[:2] in ("x-", "y-"), names.index(name)))


def fits(transform: Transform, shape: Shape, *, certain: bool = False) -> list[Fit]:
    """All models, each with the reason where it does not fit."""
    every = cache.bounded(transform.name) if certain else cache.fitting(transform.name)
    return [Fit(card, objection or _too_few(card, shape)) for card, objection in every]


def _too_few(card: ModelCard, shape: Shape) -> str:
    points = card.num_points or 64
    return (
        f"it needs {points} points, and {shape.name} has {shape.max_points}"
        if points > shape.max_points
        else ""
    )


@dataclass(frozen=True)
class Asked:
    """What the controls describe, and how to say what it will cost: that may take votes, so the scene comes first."""

    request: Request
    say_cost: Callable[[], None]


def ask() -> Asked | None:
    """The controls of the left column; the request that they describe, or None with the reason on screen."""
    shape = current_shape()
    transform = _transform()
    goal, proof = st.columns([1.085, 1], gap="small")
    with goal:
        largest = (
            st.segmented_control(
                "Radius",
                ["A radius", "The largest"],
                key="goal",
                required=True,
                format_func={"A radius": "Given", "The largest": "Largest"}.__getitem__,
                help="Given: is this radius certified? Largest: what is the largest certified radius?",
            )
            == "The largest"
        )
    with proof:
        certain = _certain()
    place = st.container()
    model = _model(fits(transform, shape, certain=certain), transform, certain)
    if model is None:
        return None
    with place:
        radius = _radius(transform, largest, _proposal(model, shape, transform, certain))
    options = Options(proof="certain", largest=largest) if certain else _settings(model, transform, largest)
    if options is None:
        return None
    spec = current_spec()
    private = is_upload(spec)
    cloud = shape.cloud(model.num_points or 64)
    try:
        question = Question.of(
            model.name, cloud.name if private else spec, len(cloud), transform, radius, options
        )
    except TpcError as error:
        st.warning(literal(error))
        return None
    request = Request(f"{title_of(spec, shape)}, {transform.name}", question, model, cloud, private)
    landscape = landscape_of(str(st.session_state["visitor"]), request).landscape
    if radius is not None:
        with place:
            radius_slider(request, landscape)
    if certain:
        st.caption("Every cell is proved, or a counterexample is found. This mostly takes seconds.")
        return Asked(request, lambda: None)
    cost = st.container()
    with cost:
        work = expected(request)
    if work is None:
        return None

    def say() -> None:
        with cost:
            say_cost(request, work, landscape)

    return Asked(request, say)


def _proposal(model: Model, shape: Shape, transform: Transform, certain: bool) -> tuple[float, ...]:
    """The radius that a newcomer finds: proposed for this object and this model, in edge units."""
    if certain:
        return first_radius(transform)
    try:
        found = propose_radius(model, shape.cloud(model.num_points or 64), transform)
    except TpcError:
        return first_radius(transform)
    return tuple(found[p.name] for p in transform.radii)


def _certain() -> bool:
    """Whether the plain network is asked about, without votes."""
    st.session_state.setdefault("proof", PROOFS["smoothed"])
    words = list(PROOFS.values())
    chosen = st.segmented_control(
        "Proof",
        words,
        key="proof",
        required=True,
        format_func={"By votes": "Votes", "Exact": "Exact"}.__getitem__,
        help="By votes: about the smoothed model, with the confidence that you set. Exact: about the base model, "
        "proved cell by cell, with no probability of error.",
    )
    return bool(chosen == PROOFS["certain"])


def _transform() -> Transform:
    names = transform_names()
    wanted = st.session_state.pop("certify_transform", None)
    if wanted is not None:
        st.session_state["asked_transform"] = wanted
    elif "asked_transform" not in st.session_state:
        posed = poser().pose.transform
        st.session_state["asked_transform"] = FIRST_TRANSFORM if posed == Pose().transform else posed
    asked = asked_transform().name
    if asked not in names:
        names = [*names, asked]  # a composition that the visitor made
    return parse_transform(str(st.selectbox("Transform", names, key="asked_transform")))


def _radius(transform: Transform, largest: bool, proposed: tuple[float, ...]) -> dict[str, float] | None:
    """One number for each radius; the largest region needs them only where it has a direction to grow in."""
    if largest and not isinstance(transform, Composition):
        return None
    presets = {describe_preset(transform, radius): radius for radius in transform.paper_radii}
    keys = list(radius_keys(transform).values())
    before = st.session_state.get("proposed_radius")
    untouched = [st.session_state.get(key) for key in keys] == before
    st.session_state["proposed_radius"] = [float(value) for value in proposed]
    for key, value in zip(keys, proposed, strict=True):
        if untouched or key not in st.session_state:  # another object has another proposal
            st.session_state[key] = float(value)

    def take() -> None:
        picked = presets.get(str(st.session_state.get(f"radii_{transform.name}")))
        for key, value in zip(keys, picked or (), strict=False):
            st.session_state[key] = float(value)

    values = {p.name: float(st.session_state[key]) for p, key in zip(transform.radii, keys, strict=True)}
    if presets:
        st.pills(
            "Radii in the TPC paper",
            list(presets),
            key=f"radii_{transform.name}",
            format_func="paper: {}".format,
            on_change=take,
            label_visibility="collapsed",
        )
    if largest:
        st.caption("The region grows in these proportions, up to this size.")
    return values


def _model(every: list[Fit], transform: Transform, certain: bool) -> Model | None:
    good = [fit.card.name for fit in every if not fit.reason]
    bad = [fit for fit in every if fit.reason]
    model = None
    if good:
        if st.session_state.get("asked_model") not in good:
            explored = st.session_state.get("model")
            st.session_state["asked_model"] = (
                explored if explored in good else cache.best_fit(transform.name, good, certain)
            )
        model = cache.model(
            str(
                st.selectbox(
                    "Model",
                    good,
                    key="asked_model",
                    help="Only models that allow exact proofs."
                    if certain
                    else "Only models whose smoothing can certify this transform.",
                )
            )
        )
    else:
        st.warning(f"No model here can certify {transform.name}.")
    if bad:
        noun = "model" if len(bad) == 1 else "models"
        with st.expander(f"{len(bad)} other {noun}: why not here"):
            for fit in bad:
                st.markdown(f"**{literal(fit.card.name)}**: {literal(fit.reason)}.")
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
            help="adaptive: cells are split and get votes as needed. paper: a grid of equal cells, 10,000 votes each.",
        )
        budget = st.select_slider(
            "Budget of votes",
            list(BUDGETS),
            key="budget",
            help="All votes on this object count, also those of your earlier runs: they are used again.",
        )
        complete = st.toggle("Test all cells, even after one failed", key="complete")
        sigma = _sigma(model.smoothing, model.name)
        st.segmented_control("Map", list(LOOKS), key="map_look", format_func=LOOKS.__getitem__, required=True)
        seed = st.number_input(
            "Seed",
            0,
            LARGEST_SEED,
            key="seed",
            placeholder="automatic",
            help="The start of the random numbers. If empty, it follows from object, model and transform. The "
            "certificate says if it was set by hand.",
        )
    try:
        return Options(
            alpha=CONFIDENCES[confidence],
            protocol="paper" if protocol == "paper" and not largest else "adaptive",
            sigma=sigma,
            largest=largest,
            budget=Budget(samples=BUDGETS[budget]),
            seed=None if seed is None else int(seed),
            complete=complete,
        )
    except TpcError as error:
        st.warning(literal(error))
        return None


def _sigma(smoothing: Smoothing, model: str) -> tuple[float, ...] | None:
    """Another sigma than the model's own; None where it is left alone."""
    own = smoothing.sigmas
    if not own:
        st.caption(f"Smoothing: {smoothing.describe()}; it has no sigma.")
        return None
    chosen = []
    for name, key in sigma_keys(model, smoothing).items():
        st.session_state.setdefault(key, own[name])
        chosen.append(float(st.number_input(name, min_value=1e-4, key=key, format="%g")))
    return None if chosen == list(own.values()) else tuple(chosen)
