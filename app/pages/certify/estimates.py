"""What a run will take, said before it starts."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.components.terms import explained
from app.server import cache
from app.server.engine import ask
from app.server.jobs import JobView, Request
from tpc_core import Cloud, Model
from tpc_core.certify import Estimate, estimate, prepare
from tpc_core.errors import TpcError
from tpc_core.forecast import Outlook, outlook, voting_speed
from tpc_core.landscape import Landscape

_TELLING = 512
"""Votes from which on a run says how fast votes are cast."""
_MOST_RATES = 256


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
    if seen is not None and seen.chance == "hopeless" and _another_wins(request, landscape):
        explained(
            "On the map another class wins inside this radius. The run will probably end early, at an attack."
        )
        return True
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


def _another_wins(request: Request, landscape: Landscape | None) -> bool:
    """Whether the map has a place inside the radius at which another class has more votes."""
    if landscape is None:
        return False
    edge = landscape.chart.half_widths(request.question.radii)
    away = np.abs(landscape.nodes.places) / np.maximum(edge, 1e-12)
    inside = (np.linalg.norm(away, axis=1) if landscape.chart.is_round else away.max(axis=1)) <= 1
    return bool((inside & landscape.asked & np.isin(landscape.winner, list(landscape.rivals))).any())


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
    about = "At most" if work.at_most else "About"
    return f"{about} {cells}{work.samples:,.0f} votes, {duration(work.samples / rate)}. {speed}."


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
    """How fast this model votes on clouds of this size: as in its last run, or measured once in a worker before."""
    seen = _seen_rates().get((model.digest, len(cloud)))
    return seen if seen is not None else _rate(model.digest, len(cloud), model, cloud)


def remember_rate(view: JobView) -> None:
    """A run that has ended says best how fast the next one will be; a short one says little."""
    cast = view.samples - view.earlier
    if view.live or cast < _TELLING or view.seconds <= 0:
        return
    rates = _seen_rates()
    rates[view.request.model.digest, len(view.request.cloud)] = cast / view.seconds
    while len(rates) > _MOST_RATES:
        rates.pop(next(iter(rates)), None)


@st.cache_resource(show_spinner=False)
def _seen_rates() -> dict[tuple[str, int], float]:
    """Of models and sizes of clouds: it says nothing of any visitor."""
    return {}


@st.cache_data(ttl=600, show_spinner=False)
def _rate(digest: str, points: int, _model: Model, _cloud: Cloud) -> float:
    return float(ask(voting_speed, _model, _cloud))
