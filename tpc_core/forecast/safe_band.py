"""How far is it safe? The largest certified radius of each slider, read off a ledger while its votes come in.

It is the search of `tpc certify --max` with a budget. The test may be read at any time, so the radius is there after a
few votes, holds from then on, and only grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Done, certify_events, prepare
from tpc_core.certify.run import Run
from tpc_core.cloud import Cloud
from tpc_core.engines.work import Bench, Report
from tpc_core.errors import TpcError
from tpc_core.landscape import Chart, survey
from tpc_core.question import Budget, Options
from tpc_core.statistics import upper_bound
from tpc_core.transforms import Composition, GeneralRotation, Transform
from tpc_core.votes import BaseClassifier

FIRST = 64
"""Votes after which a band is first read; then after twice as many, and so on."""

MOST_VOTES = 20_000
ATTACK_VOTES = 2_100
"""Votes that look for attacks along a slider, once the band is known."""


@dataclass(frozen=True)
class SafeBand:
    """What is known along the sliders of one transform, in edge units."""

    transform: str
    reach: dict[str, float]
    """By the name of a slider: up to here, on both sides of zero, the class is certified."""
    attacks: tuple[tuple[float, float], ...]
    """Stretches of a single slider where the votes prove that another class wins."""
    alpha: float
    votes: int
    prediction: str
    certificate: Certificate | None = field(default=None, repr=False)
    """The certificate behind it, once the search has ended."""


def parts_of_sliders(transform: Transform) -> tuple[Transform, ...]:
    """The transforms whose sliders move one at a time, the others at rest: the parts of a composition."""
    return transform.parts if isinstance(transform, Composition) else (transform,)


def safe_band_events(
    model: BaseClassifier,
    cloud: Cloud,
    transform: Transform,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    spec: str | None = None,
    most_votes: int = MOST_VOTES,
) -> Iterator[SafeBand]:
    """The band of a single transform as it widens; bad questions are refused at once."""
    options = Options(largest=True, budget=Budget(samples=most_votes))
    run = prepare(model, cloud, transform, None, options, cancelled=cancelled, spec=spec)
    events = certify_events(
        model,
        cloud,
        transform,
        None,
        options,
        cancelled=cancelled,
        resume=run.ledger,
        voter=run.voter,
        spec=spec,
    )
    due, band = FIRST, None
    for event in events:
        if isinstance(event, Done):
            band = _band(run, transform, event.certificate)
            yield band
        elif run.ledger.samples >= due and run.ledger.chosen is not None:
            due = 2 * run.ledger.samples
            yield _band(run, transform, None)
    if band is not None and not cancelled():
        yield from _with_attacks(run, transform, band, cancelled)


def _band(run: Run, transform: Transform, certificate: Certificate | None) -> SafeBand:
    if certificate is not None:
        certified = certificate.verdict == "certified"
        radius = {p.name: certificate.radius[p.name] if certified else 0.0 for p in transform.radii}
    else:
        part = run.proof.largest_part(run.ledger)
        radius = {p.name: p.to_edge(r * part) for p, r in zip(transform.radii, run.claim.radii, strict=True)}
    name = "" if run.ledger.target is None else run.model.classes[run.ledger.target]
    return SafeBand(
        transform.name, _reach(transform, radius), (), run.claim.alpha, run.ledger.samples, name, certificate
    )


def _reach(transform: Transform, radius: dict[str, float]) -> dict[str, float]:
    """The radius on the sliders that it bounds: its own, or all of a transform that has one radius for all."""
    if isinstance(transform, GeneralRotation):  # turning the axis of no rotation moves nothing
        return {"angle": radius["angle"]}
    if len(transform.radii) == len(transform.parameters):
        return {p.name: radius[r.name] for p, r in zip(transform.parameters, transform.radii, strict=True)}
    return {p.name: next(iter(radius.values())) for p in transform.parameters}


def _with_attacks(
    run: Run, transform: Transform, band: SafeBand, cancelled: Callable[[], bool]
) -> Iterator[SafeBand]:
    """The same with the stretches where another class wins; for a transform with one slider on a line."""
    target = run.ledger.target
    chart = Chart.of(transform, len(run.claim.cloud))
    if target is None or len(transform.parameters) != 1 or len(chart.axes) != 1 or chart.left_out:
        return
    (p,) = transform.parameters
    half = np.array([p.to_internal(max(abs(p.low), abs(p.high)))])
    *_, seen = survey(
        run.voter,
        run.claim.cloud,
        chart,
        half,
        run.model.classes,
        target,
        lambda: not cancelled(),
        most_votes=ATTACK_VOTES,
    )
    lost = sorted(
        p.to_edge(float(seen.nodes.places[node, 0]))
        for node in np.flatnonzero(seen.asked).tolist()
        if upper_bound(int(seen.n_a[node]), int(seen.n[node]), band.alpha) < 0.5
    )
    mesh = 2 * p.to_edge(float(half[0])) / seen.nodes.fineness[seen.rank]
    stretches: list[tuple[float, float]] = []
    for at in lost:
        low, high = max(at - mesh / 2, p.low), min(at + mesh / 2, p.high)
        if stretches and low <= stretches[-1][1] + 1e-9:
            stretches[-1] = (stretches[-1][0], high)
        else:
            stretches.append((low, high))
    yield SafeBand(
        band.transform,
        band.reach,
        tuple(stretches),
        band.alpha,
        band.votes,
        band.prediction,
        band.certificate,
    )


@dataclass(frozen=True)
class SafeBandWork:
    """The bands of all sliders of a transform, one after another; it reports them by the name of the part."""

    model: BaseClassifier = field(repr=False)
    cloud: Cloud = field(repr=False)
    transform: Transform
    spec: str | None = None

    def run(self, bench: Bench) -> Iterator[Report]:
        found: dict[str, SafeBand] = {}
        for part in parts_of_sliders(self.transform):
            try:
                for band in safe_band_events(self.model, self.cloud, part, bench.stop, spec=self.spec):
                    found[part.name] = band
                    yield Report(dict(found))
            except TpcError:  # this model has no rule for this part: its slider has no band
                continue
