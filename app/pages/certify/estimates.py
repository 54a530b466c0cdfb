"""What a run will take, said before it starts."""

from __future__ import annotations

import math
import time

import streamlit as st

from app.components.escape_markdown import literal
from app.components.terms import explained
from app.server import cache
from app.server.jobs import Request
from tpc_core import Cloud, Model
from tpc_core.certify import prepare
from tpc_core.certify.estimate import Estimate, estimate
from tpc_core.errors import TpcError
from tpc_core.forecast import Outlook, outlook
from tpc_core.landscape import Landscape
from tpc_core.votes import BLOCK, Voter, resolve_device


def expect(request: Request, landscape: Landscape | None) -> bool:
    """Say what the run will take; False, with the reason, where it cannot be asked.

    Votes of the map say it best; before there are any, the geometry of the cloud does.
    """
    try:
        question = request.question
        work = estimate(request.model, request.cloud, question.transform, question.radius, question.options)
    except TpcError as error:
        st.warning(literal(error))
        return False
    seen = outlook_of(request, landscape)
    if seen is not None and math.isfinite(seen.votes) and work.samples is not None:
        work = Estimate(work.cells, seen.votes)
    explained(in_words(work, votes_per_second(request.model, request.cloud), cache.device_name()))
    return True


def outlook_of(request: Request, landscape: Landscape | None) -> Outlook | None:
    """What the votes of the map say of the radius; None where they cannot."""
    question = request.question
    options = question.options
    usual = options.protocol == "adaptive" and options.proof == "smoothed" and not options.largest
    if landscape is None or not usual or request.model.task != "classification":
        return None
    try:
        run = prepare(request.model, request.cloud, question.transform, question.radius, options)
        return outlook(landscape, run.claim, options.patience)
    except TpcError:
        return None


CHANCES = {
    "likely": "A certificate for this radius is likely.",
    "borderline": "This radius is borderline: it may need many votes, or fail.",
    "hopeless": "A certificate for this radius is not to be expected. Take a smaller radius, or another model.",
}


def outlook_words(request: Request, landscape: Landscape | None) -> str:
    """The same in a sentence."""
    if request.is_certain:
        return "This proof needs no votes."
    if request.question.options.largest:
        return "The search starts at the object and goes outwards."
    seen = outlook_of(request, landscape)
    return "" if seen is None else CHANCES[seen.chance]


def in_words(work: Estimate, rate: float, device: str) -> str:
    """The estimate as a sentence."""
    speed = f"{rate:,.0f} votes/s on {device.upper()}"
    if work.samples is None:
        return f"Cells are tested from the object outwards, until one fails. {speed}."
    if math.isinf(work.samples):
        return f"More than {work.cells:,} cells: this may take long. {speed}."
    cells = f"{work.cells:,} cells, " if work.cells > 1 else ""
    return f"About {cells}{work.samples:,.0f} votes, {duration(work.samples / rate)}. {speed}."


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
