"""The question of the Certify page in its address, in the words of `Question.to_query`.

Each word belongs to a control of its own, so that one that makes no sense is left out, and the others count.
"""

from __future__ import annotations

import streamlit as st

from app.server import cache
from app.server.jobs import Request
from app.session import links
from app.session.links import Piece, as_number, written
from app.session.settings import DEFAULTS
from app.widgets.objects import OBJECT
from tpc_core import Smoothing, Transform, parse_transform

BUDGETS = {"no limit": None, "1,000": 1_000, "10,000": 10_000, "100,000": 100_000, "1,000,000": 1_000_000}
CONFIDENCES = {"95 %": 0.05, "99 %": 0.01, "99.9 %": 0.001, "99.99 %": 0.0001}
PROOFS = {"smoothed": "By votes", "certain": "Exact"}
FIRST_TRANSFORM = "z-taper+z-rotation"
LARGEST_SEED = 2**31 - 1


def asked_transform() -> Transform:
    """The transform as it is set."""
    return parse_transform(str(st.session_state.get("asked_transform", FIRST_TRANSFORM)))


def radius_keys(transform: Transform) -> dict[str, str]:
    """Where the session holds each radius of a transform, by its name."""
    return {p.name: f"radius_{transform.name}_{p.name}" for p in transform.radii}


def first_radius(transform: Transform) -> tuple[float, ...]:
    """The radius before a model is known: the paper's smallest."""
    if transform.paper_radii:
        return transform.paper_radii[0]
    return tuple(p.largest_radius / 10 for p in transform.radii)


def sigma_keys(model: str, smoothing: Smoothing) -> dict[str, str]:
    """Where the session holds each sigma, by the words on its field."""
    return {name: f"sigma_{model}_{name}" for name in smoothing.sigmas}


def _read_transform(name: str) -> None:
    # A plus that was not escaped arrives as a space.
    st.session_state["asked_transform"] = parse_transform(name.replace(" ", "+")).name


def _write_transform() -> str:
    name = asked_transform().name
    return "" if name == FIRST_TRANSFORM else name


def _read_radius(text: str) -> None:
    transform = asked_transform()
    radii = transform.parse_radius(text)
    for p, key, value in zip(transform.radii, radius_keys(transform).values(), radii, strict=True):
        st.session_state[key] = min(float(f"{p.to_edge(value):.12g}"), p.largest_radius)


def _write_radius() -> str:
    transform = asked_transform()
    values = [
        float(st.session_state.get(key, start))
        for key, start in zip(radius_keys(transform).values(), first_radius(transform), strict=True)
    ]
    if values == st.session_state.get("proposed_radius"):
        return ""
    pairs = zip(transform.radii, values, strict=True)
    return (
        written(values[0])
        if len(values) == 1
        else ",".join(f"{p.name}={written(value)}" for p, value in pairs)
    )


def _read_model(name: str) -> None:
    exact = st.session_state.get("proof") == PROOFS["certain"]
    fitting = cache.bounded(asked_transform().name) if exact else cache.fitting(asked_transform().name)
    reasons = {card.name: reason for card, reason in fitting}
    if name not in reasons:
        raise ValueError(f"no model of that name is here; there are {', '.join(reasons)}")
    if reasons[name]:
        raise ValueError(f"{reasons[name]}")
    st.session_state["asked_model"] = name


def _write_model() -> str:
    return str(st.session_state.get("asked_model") or "")


def _read_sigma(text: str) -> None:
    name = str(st.session_state.get("asked_model") or "")
    if not name:
        raise ValueError("a sigma belongs to a model, and the link names none")
    keys = sigma_keys(name, cache.model(name).smoothing)
    values = [as_number(value) for value in text.split(",")]
    if len(values) != len(keys) or not all(1e-4 <= value < 1e6 for value in values):
        raise ValueError(f"{name} has {len(keys)} positive numbers for it")
    for key, value in zip(keys.values(), values, strict=True):
        st.session_state[key] = value


def _write_sigma() -> str:
    name = str(st.session_state.get("asked_model") or "")
    if not name:
        return ""
    smoothing = cache.model(name).smoothing
    own = smoothing.sigmas
    values = [st.session_state.get(key, own[label]) for label, key in sigma_keys(name, smoothing).items()]
    return "" if values == list(own.values()) else ",".join(written(value) for value in values)


LINKED = (
    OBJECT,
    Piece("transform", _write_transform, _read_transform),
    links.choice("largest", "goal", {"no": "A radius", "yes": "The largest"}, "no"),
    links.choice("proof", "proof", PROOFS, "smoothed"),
    Piece("radius", _write_radius, _read_radius),
    Piece("model", _write_model, _read_model),
    Piece("sigma", _write_sigma, _read_sigma),
    links.choice(
        "alpha", "confidence", {written(alpha): word for word, alpha in CONFIDENCES.items()}, "0.001"
    ),
    links.choice("protocol", "protocol", ["adaptive", "paper"], "adaptive"),
    links.choice("budget", "budget", {word.replace(",", ""): word for word in BUDGETS}, "no limit"),
    links.switch("complete", "complete", False),
    links.number("seed", "seed", 0, LARGEST_SEED, None, whole=True),
    links.choice("map", "map_look", ["colour", "print"], "colour"),
)


def show_question(request: Request) -> None:
    """Set the controls to the question of a run: whatever page one comes from, they belong together."""
    question = request.question
    words = question.to_query()
    for name in ("points", "budget", *(("object",) if request.private else ())):
        words.pop(name, None)
    for key in ("goal", "confidence", "protocol", "budget", "complete", "seed"):
        st.session_state[key] = DEFAULTS[key]
    st.session_state["proof"] = PROOFS["smoothed"]
    for key in [str(key) for key in st.session_state if str(key).startswith(f"sigma_{question.model}_")]:
        del st.session_state[key]
        st.session_state["kept_settings"].pop(key, None)
    links.take(LINKED, words)
    limit = question.options.budget.samples
    if limit is not None:  # the next larger one of those that can be chosen
        able = [word for word, most in BUDGETS.items() if most is not None and most >= limit]
        st.session_state["budget"] = able[0] if able else "no limit"
