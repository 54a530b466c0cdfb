"""The landscape of the question on the page, made in the background: its first grid at once, the rest when idle."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.server.jobs import Request
from app.server.visitors import board
from tpc_core.engines import IDLE, PROMPT
from tpc_core.errors import TpcError
from tpc_core.landscape import Landscape, LandscapeWork


@dataclass(frozen=True)
class LandscapeView:
    """The map as it stands, and whether it still grows."""

    landscape: Landscape | None
    live: bool


def landscape_of(visitor: str, request: Request) -> LandscapeView:
    """The map of a question; asking for it starts it, and ends that of the question before."""
    key = f"landscape|{_digest(request)}"
    before = st.session_state.get("landscape")
    if before != key:
        st.session_state["landscape"] = key
        if before is not None:
            _stop(visitor, str(before))
    question, model, cloud = request.question, request.model, request.cloud
    first = board().task(visitor, key)
    if first is None:
        with suppress(TpcError):  # too much is under way: the page works without a map
            work = LandscapeWork(question, model, cloud, first_grid=True)
            first = board().start(visitor, key, "Map", work, rank=PROMPT)
    if first is None:
        return LandscapeView(None, False)
    seen = first.view()
    if seen.live or not isinstance(seen.result, Landscape):
        return LandscapeView(seen.result, seen.live)
    fine = board().task(visitor, f"{key}|fine")
    if fine is None:
        with suppress(TpcError):
            work = LandscapeWork(question, model, cloud, earlier=seen.result)
            fine = board().start(visitor, f"{key}|fine", "Finer map", work, rank=IDLE)
    if fine is None:
        return LandscapeView(seen.result, False)
    finer = fine.view()
    return LandscapeView(finer.result or seen.result, finer.live)


def _stop(visitor: str, key: str) -> None:
    for name in (key, f"{key}|fine"):
        task = board().task(visitor, name)
        if task is not None and task.live:
            task.cancel()


def _digest(request: Request) -> str:
    """What a map depends on: model, cloud, transform, radius, sigmas, level, and whether votes are cast at all."""
    question, options = request.question, request.question.options
    parts: list[Any] = [request.model.digest, request.cloud.digest, question.transform, question.radius]
    parts += [options.sigma, options.alpha, options.proof, options.seed]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
