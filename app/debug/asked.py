"""The question of the certificate on screen in the page's address; a pasted link offers to run it again.

The words are those of the Certify page. A link holds no votes: the run is made again, with the same seed, so it comes
to the same cells; what was cast on top of it by going on is not part of the link.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app import cache
from app.debug.cases import Case
from app.jobs import Request
from app.links import Piece, as_number, written
from app.uploads import is_upload
from app.widgets.objects import shape_of, title_of
from tpc_core import Budget, Options, parse_transform
from tpc_core.diagnosis.sweep import sigma_of
from tpc_core.errors import TpcError
from tpc_core.smoothing import smoothing_from_json

PANELS = ["Why", "Attack", "What would it take", "Around it", "Points", "Compare"]
_LINK, _WORDS = "debug_link", "debug_words"
_DEFAULTS = Options()


@dataclass(frozen=True)
class Linked:
    """What a link asked for: the run, and the cell to look at."""

    request: Request
    cell: str | None


def request_of(case: Case) -> Request | None:
    """The question behind a case, where a link can hold it: its object is in the gallery or in a data set."""
    if case.request is not None:
        return case.request if case.request.spec else None
    certificate = case.certificate
    spec = f"gallery:{certificate.cloud.name}"
    try:
        shape = shape_of(spec)
        cloud = shape.cloud(certificate.cloud.count)
    except TpcError:
        return None
    if case.model is None or cloud.digest != certificate.cloud.digest or certificate.claim.largest:
        return None
    own, used = sigma_of(case.model.smoothing), sigma_of(smoothing_from_json(certificate.model.smoothing))
    return Request(
        title=title_of(spec, shape),
        spec=spec,
        model=case.model,
        cloud=cloud,
        transform=parse_transform(certificate.claim.transform),
        radius=dict(certificate.claim.radius),
        options=Options(
            alpha=certificate.alpha,
            protocol=certificate.protocol,
            statistics=certificate.statistics.kind if certificate.protocol != "paper" else "staged",
            sigma=None if used == own else used,
            seed=certificate.seed,
        ),
    )


def words_of(request: Request) -> dict[str, str]:
    """A question as the address says it; what is as usual is left out."""
    options, transform = request.options, request.transform
    words = {"object": request.spec, "transform": transform.name, "model": request.model.name}
    if request.radius is not None:
        edges = zip(transform.radii, transform.parse_radius(request.radius), strict=True)
        words["radius"] = ",".join(f"{p.name}={written(p.to_edge(value))}" for p, value in edges)
    if options.largest:
        words["question"] = "largest"
    if options.sigma is not None:
        words["sigma"] = ",".join(written(value) for value in options.sigma)
    if options.alpha != _DEFAULTS.alpha:
        words["confidence"] = written(100 * (1 - options.alpha))
    if options.budget.samples is not None:
        words["budget"] = str(options.budget.samples)
    if options.complete:
        words["complete"] = "yes"
    for name in ("protocol", "statistics", "seed"):
        if getattr(options, name) != getattr(_DEFAULTS, name):
            words[name] = str(getattr(options, name))
    return words


def note_question(case: Case | None, cell: str | None) -> bool:
    """Say what the address is to hold; False where there is a case and no link can hold it."""
    request = None if case is None else request_of(case)
    words = {} if request is None else words_of(request)
    if words and cell is not None:
        words["cell"] = cell or "root"
    st.session_state[_WORDS] = words
    return case is None or request is not None


def linked() -> Linked | None:
    """What the link asks for, until it was run or turned down; one that makes no sense leaves a notice."""
    found: dict[str, Any] = st.session_state.get(_LINK, {})
    if not {"object", "transform", "model"} <= set(found):
        return None
    try:
        return Linked(_request(found), found.get("cell"))
    except TpcError as error:
        st.session_state["debug_notice"] = f"The question of the link makes no sense: {error}"
        forget()
        return None


def forget() -> None:
    """The link was followed, or is not wanted."""
    st.session_state.pop(_LINK, None)


def _request(found: dict[str, Any]) -> Request:
    model, shape = cache.model(found["model"]), shape_of(found["object"])
    transform = parse_transform(found["transform"])
    largest = found.get("question") == "largest"
    return Request(
        title=f"{title_of(found['object'], shape)}, {transform.name}",
        spec=found["object"],
        model=model,
        cloud=shape.cloud(model.num_points or 64),
        transform=transform,
        radius=found.get(
            "radius", transform.paper_radii[0] if transform.paper_radii and not largest else None
        ),
        options=Options(
            alpha=found.get("confidence", _DEFAULTS.alpha),
            protocol=found.get("protocol", _DEFAULTS.protocol),
            statistics=found.get("statistics", _DEFAULTS.statistics),
            sigma=found.get("sigma"),
            largest=largest,
            budget=Budget(samples=found.get("budget")),
            seed=found.get("seed", _DEFAULTS.seed),
            complete=found.get("complete") == "yes",
        ),
    )


# -- the pieces of the address ----------------------------------------------------------------------------------


def _object(text: str) -> str:
    if is_upload(text):
        raise ValueError("it is somebody's own file")
    shape_of(text)
    return text


def _transform(text: str) -> str:
    return parse_transform(text.replace(" ", "+")).name  # a plus that was not escaped arrives as a space


def _radius(text: str) -> str:
    name = st.session_state.get(_LINK, {}).get("transform")
    if name is None:
        raise ValueError("a radius belongs to a transform, and the link names none")
    parse_transform(name).parse_radius(text)
    return text


def _model(text: str) -> str:
    # Only names of shipped checkpoints: a link must not name a path of this machine.
    if text not in {card.name for card in cache.model_cards()}:
        raise ValueError("no model of that name is here")
    return text


def _sigma(text: str) -> tuple[float, ...]:
    values = tuple(as_number(value) for value in text.split(","))
    if not all(1e-4 <= value < 1e6 for value in values):
        raise ValueError("it is one positive number for each parameter")
    return values


def _confidence(text: str) -> float:
    value = as_number(text)
    if not 50 <= value < 100:
        raise ValueError("it lies between 50 and 100")
    return float(f"{1 - value / 100:.12g}")


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise ValueError(f"it is a whole number from {low:,} to {high:,}")
        return int(text)

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"it is one of {', '.join(words)}")
        return text

    return read


def _cell(text: str) -> str:
    if not text.isalnum():
        raise ValueError("it is the path of a cell")
    return "" if text == "root" else text


def _piece(name: str, parse: Callable[[str], Any]) -> Piece:
    def read(text: str) -> None:
        st.session_state.setdefault(_LINK, {})[name] = parse(text)

    return Piece(name, lambda: str(st.session_state.get(_WORDS, {}).get(name, "")), read)


def _read_panel(text: str) -> None:
    st.session_state["debug_panel"] = _one_of(*PANELS)(text)


def _write_panel() -> str:
    panel = str(st.session_state.get("debug_panel") or "")
    return panel if panel != PANELS[0] and st.session_state.get(_WORDS) else ""


LINKED = (
    _piece("object", _object),
    _piece("transform", _transform),
    _piece("question", _one_of("radius", "largest")),
    _piece("radius", _radius),
    _piece("model", _model),
    _piece("sigma", _sigma),
    _piece("confidence", _confidence),
    _piece("protocol", _one_of("adaptive", "paper")),
    _piece("statistics", _one_of("staged", "anytime")),
    _piece("budget", _whole(1, 10**9)),
    _piece("complete", _one_of("yes", "no")),
    _piece("seed", _whole(0, 2**31 - 1)),
    _piece("cell", _cell),
    Piece("panel", _write_panel, _read_panel),
)
