"""The question of the certificate on screen in the page's address; a pasted link offers to run it again.

The words are those of `Question.to_query`, as on the Certify page. A link holds no votes: the run is made again, with
the same seed, so it comes to the same cells; what was cast on top of it by going on is not part of the link.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from app.pages.certify.question_link import first_radius
from app.pages.debug.cases import Case
from app.server import cache
from app.server.jobs import Request
from app.session.links import Piece
from app.session.uploads import is_upload
from app.widgets.objects import shape_of, title_of
from tpc_core import Question, parse_transform
from tpc_core.errors import TpcError

PANELS = ["Why", "Attack", "Models", "Votes and sigma", "Neighbours", "Points", "Compare"]
_LINK, _WORDS = "debug_link", "debug_words"
_PLAIN = {"object": "an object", "transform": "z-taper", "model": "a model", "radius": "0.1"}
"""A question in which every other word can be tried out."""
_PATH = re.compile(r"[A-Za-z0-9,:-]+")


@dataclass(frozen=True)
class Linked:
    """What a link asked for: the run, and the cell to look at."""

    request: Request
    cell: str | None


def request_of(case: Case) -> Request | None:
    """The question behind a case, where a link can hold it: its object is in the gallery or in a data set."""
    if case.request is not None:
        return None if case.request.private else case.request
    certificate = case.certificate
    spec = f"gallery:{certificate.cloud.name}"
    try:
        shape = shape_of(spec)
        cloud = shape.cloud(certificate.cloud.count)
    except TpcError:
        return None
    if case.model is None or cloud.digest != certificate.cloud.digest:
        return None
    return Request(title_of(spec, shape), replace(certificate.question, object=spec), case.model, cloud)


def words_of(request: Request) -> dict[str, str]:
    """A question as the address says it; what is as usual is left out, and the model says how many points it sees."""
    return {name: word for name, word in request.question.to_query().items() if name != "points"}


def note_question(case: Case | None, cell: str | None) -> bool:
    """Say what the address is to hold; False where there is a case and no link can hold it."""
    request = None if case is None else request_of(case)
    words = {} if request is None else words_of(request)
    if words and cell is not None:
        words["cell"] = cell
    st.session_state[_WORDS] = words
    return case is None or request is not None


def linked() -> Linked | None:
    """What the link asks for, until it was run or turned down; one that makes no sense leaves a notice."""
    found: dict[str, str] = st.session_state.get(_LINK, {})
    if not {"object", "transform", "model"} <= set(found):
        return None
    try:
        return Linked(_request(found), found.get("cell"))
    except TpcError as error:
        st.session_state["debug_notice"] = f"This link cannot be opened: {error}"
        forget()
        return None


def missing() -> list[str]:
    """What a link to a run lacks; empty where it names a run, or asks for none."""
    found: dict[str, str] = st.session_state.get(_LINK, {})
    return [name for name in ("object", "transform", "model") if found and name not in found]


def forget() -> None:
    """The link was followed, or is not wanted."""
    st.session_state.pop(_LINK, None)


def _request(found: dict[str, str]) -> Request:
    model, shape = cache.model(found["model"]), shape_of(found["object"])
    cloud = shape.cloud(model.num_points or 64)
    words = {name: word for name, word in found.items() if name != "cell"} | {"points": str(len(cloud))}
    if "radius" not in words:
        first = first_radius(parse_transform(found["transform"]))
        words["radius"] = ",".join(f"{value:g}" for value in first)
    question = Question.from_query(words)
    return Request(f"{title_of(question.object, shape)}, {question.transform}", question, model, cloud)


# -- the pieces of the address ----------------------------------------------------------------------------------


def _object(text: str) -> None:
    if is_upload(text):
        raise ValueError("it is somebody's own file")
    shape_of(text)


def _transform(text: str) -> None:
    parse_transform(text.replace(" ", "+"))  # a plus that was not escaped arrives as a space


def _radius(text: str) -> None:
    name = st.session_state.get(_LINK, {}).get("transform")
    if name is None:
        raise ValueError("a radius belongs to a transform, and the link names none")
    Question.from_query({**_PLAIN, "transform": name, "radius": text})


def _model(text: str) -> None:
    # Only names of models that are listed here: a link must not name a path of this machine.
    if not cache.knows(text):
        raise ValueError("no model of that name is here")


def _cell(text: str) -> None:
    if not _PATH.fullmatch(text):
        raise ValueError("it is the path of a cell")


def _piece(name: str, check: Callable[[str], object] | None = None) -> Piece:
    """A word of the link, checked before it is taken: by itself, or as an option of a plain question."""

    def read(text: str) -> None:
        if check is None:
            Question.from_query({**_PLAIN, name: text})
        else:
            check(text)
        st.session_state.setdefault(_LINK, {})[name] = text

    return Piece(name, lambda: str(st.session_state.get(_WORDS, {}).get(name, "")), read)


def _read_panel(text: str) -> None:
    if text not in PANELS:
        raise ValueError(f"it is one of {', '.join(PANELS)}")
    st.session_state["debug_panel"] = text


def _write_panel() -> str:
    panel = str(st.session_state.get("debug_panel") or "")
    return panel if panel != PANELS[0] and st.session_state.get(_WORDS) else ""


LINKED = (
    _piece("object", _object),
    _piece("transform", _transform),
    _piece("largest"),
    _piece("radius", _radius),
    _piece("model", _model),
    _piece("sigma"),
    _piece("alpha"),
    _piece("protocol"),
    _piece("resolution"),
    _piece("budget"),
    _piece("complete"),
    _piece("seed"),
    _piece("cell", _cell),
    Piece("panel", _write_panel, _read_panel),
)
