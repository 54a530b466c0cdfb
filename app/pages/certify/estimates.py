"""What a run will take, said before it starts."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.components.terms import explained
from app.server import cache
from app.server.engine import engine
from app.server.jobs import JobView, Request
from tpc_core import Cloud, Model
from tpc_core.certify import Estimate, estimate, prepare
from tpc_core.engines import PROMPT, Call, Handle, Report
from tpc_core.errors import TpcError
from tpc_core.forecast import Outlook, outlook, voting_speed
from tpc_core.landscape import Landscape

_TELLING = 512
"""Votes from which on a run says how fast votes are cast."""
_MOST_RATES = 256
_SOON = 1.0
"""Seconds that the page waits for a speed: on a busy machine the button must not wait for it."""
_STALE = 600.0
"""Seconds after which a measured speed is measured again."""


def expected(request: Request) -> Estimate | None:
    """What the run will take by the geometry of the cloud; None, with the reason, where it cannot be asked."""
    question = request.question
    try:
        return estimate(request.model, request.cloud, question.transform, question.radius, question.options)
    except TpcError as error:
        st.warning(literal(error))
        return None


def say_cost(request: Request, work: Estimate, landscape: Landscape | None) -> None:
    """Say what the run will take: votes of the map say it best; before there are any, the geometry does."""
    seen = outlook_of(request, landscape)
    if seen is not None and math.isfinite(seen.votes) and work.samples is not None:
        work = Estimate(work.cells, seen.votes)
    if seen is not None and seen.chance == "hopeless" and _another_wins(request, landscape):
        explained(
            "On the map another class wins inside this radius. The run will probably end early, at an attack."
        )
        return
    rate = speed_within(_SOON, request.model, request.cloud)
    explained(in_words(work, rate, cache.device_name()))


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
    "hopeless": "A certificate for this radius is unlikely. Take a smaller radius, or another model.",
}


def outlook_words(request: Request, landscape: Landscape | None) -> str:
    """The same in a sentence."""
    if request.is_certain:
        return "This proof needs no votes."
    if request.question.options.largest:
        return "The search starts at the object and goes outwards."
    seen = outlook_of(request, landscape)
    return "" if seen is None else CHANCES[seen.chance]


def in_words(work: Estimate, rate: float | None, device: str) -> str:
    """The estimate as a sentence; without a rate it says no time."""
    speed = "The speed is being measured" if rate is None else f"{rate:,.0f} votes/s on {device.upper()}"
    if work.samples is None:
        return f"Cells are tested from the object outwards, until one fails. {speed}."
    if math.isinf(work.samples):
        return f"More than {work.cells:,} cells: this may take long. {speed}."
    cells = f"{work.cells:,} cells, " if work.cells > 1 else ""
    about = "At most" if work.at_most else "About"
    lasts = "" if rate is None else f", {duration(work.samples / rate)}"
    return f"{about} {cells}{work.samples:,.0f} votes{lasts}. {speed}."


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
    while (rate := speed_within(None, model, cloud)) is None:  # another page met the error of a measurement
        pass
    return rate


def speed_within(seconds: float | None, model: Model, cloud: Cloud) -> float | None:
    """The same; None where so many seconds were not enough, and it is measured on for whoever asks next."""
    key = model.digest, len(cloud)
    seen = _seen_rates().get(key)
    return seen if seen is not None else _speeds().within(seconds, key, Call(voting_speed, (model, cloud)))


class _Speeds:
    """What was measured, and what is being measured; it says nothing of any visitor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._measured: dict[tuple[str, int], tuple[float, float]] = {}
        self._handles: dict[tuple[str, int], Handle] = {}

    def within(self, seconds: float | None, key: tuple[str, int], work: Call) -> float | None:
        """The speed that `work` measures, where that is known within so many seconds."""
        with self._lock:
            rate, until = self._measured.get(key, (0.0, 0.0))
            if time.monotonic() < until:
                return rate
            if key not in self._handles:
                self._handles[key] = engine().submit(work, rank=PROMPT)
            handle = self._handles[key]
        if not handle.join(seconds):
            return None
        with self._lock:
            if self._handles.get(key) is handle:
                del self._handles[key]
                rate = [message.result for message in handle.messages() if isinstance(message, Report)][-1]
                self._measured[key] = float(rate), time.monotonic() + _STALE
                while len(self._measured) > _MOST_RATES:
                    self._measured.pop(next(iter(self._measured)))
            return self._measured.get(key, (None,))[0]


@st.cache_resource(show_spinner=False)
def _speeds() -> _Speeds:
    return _Speeds()


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
