"""Certify: one call for every transform, every smoothing, both protocols, and the plain network without votes.

A run is a search over a ledger of votes, or over exact cells (`proof="certain"`). Going on, another radius, the largest
radius and more votes in chosen cells are the same search over the same ledger.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tpc_core.certificate.schema import Certificate, Stop
from tpc_core.certify.certain import certain_events, certain_first
from tpc_core.certify.cover import Focus, search_cover
from tpc_core.certify.estimate import Estimate, estimate
from tpc_core.certify.events import (
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Event,
    MarginsFound,
    Planned,
    Predicted,
    VotesCounted,
)
from tpc_core.certify.grid import search_grid
from tpc_core.certify.plain_inputs import Sigma, as_cloud, as_model
from tpc_core.certify.prepare import ledger_of, prepare
from tpc_core.certify.run import Run
from tpc_core.certify.whole import search_whole
from tpc_core.cloud import Cloud
from tpc_core.errors import UnsupportedRequest
from tpc_core.ledger import Ledger
from tpc_core.proofs import CoverProof, GridProof
from tpc_core.question import DEFAULTS, Budget, Options, Question
from tpc_core.transforms import RadiusInput, Transform
from tpc_core.votes import BaseClassifier, Voter

if TYPE_CHECKING:
    from tpc_core.models.brought.recognise import Network

SAVE_SECONDS = 2.0
"""How often, at most, a run hands its certificate so far to whoever wants to keep it."""

_SHARE_OF_TIME = 0.05
"""Writing a large certificate takes time; it is made so seldom that it takes no more than this part of the run."""


def certify(
    model: BaseClassifier | Network,
    cloud: Cloud | ArrayLike,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    sigma: Sigma | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    resume: Certificate | Ledger | None = None,
    focus: Focus | None = None,
    batch_size: int | None = None,
    spec: str | None = None,
) -> Certificate:
    """Certify that no attack of `transform` within `radius` changes what the model says of `cloud`.

    Which model is up to `options.proof`: the smoothed one, by votes, or the plain network, with certainty.
    The radius is in edge units (degrees for angles): 20, "20", "twist=20,taper=0.2,rotation=1".

    The model may be a plain torch module or function, and the cloud an array (N, 3); then `sigma` says how far the
    network is shaken, in the transform's units, and what was recognised of it is logged.
    """
    events = certify_events(
        model,
        cloud,
        transform,
        radius,
        options,
        sigma=sigma,
        cancelled=cancelled,
        resume=resume,
        focus=focus,
        batch_size=batch_size,
        spec=spec,
    )
    for event in events:
        if isinstance(event, Done):
            return event.certificate
    raise AssertionError("a run always ends with Done")


def certify_events(
    model: BaseClassifier | Network,
    cloud: Cloud | ArrayLike,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    sigma: Sigma | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    resume: Certificate | Ledger | None = None,
    focus: Focus | None = None,
    voter: Voter | None = None,
    keep: Callable[[Certificate], None] | None = None,
    batch_size: int | None = None,
    spec: str | None = None,
) -> Iterator[Event]:
    """The same as `certify`, as a stream of events that ends with Done. Bad input is refused at once.

    `resume` is an earlier certificate, or a ledger, of the same model, cloud, smoothing, transform and seed: its votes
    are read, and none is cast again. `focus` votes in chosen cells only. `keep` gets the certificate so far now and
    then, so that a crash costs seconds, not hours. `spec` is what the command line calls the object, if not its name.
    Votes to go on from, or to cast somewhere, belong to the smoothed
    model: "certain" refuses them, and "auto" goes on with them.
    """
    seen = as_cloud(cloud)
    base, options = as_model(model, seen, transform, options, sigma)

    def by_votes() -> Iterator[Event]:
        run = prepare(
            base,
            seen,
            transform,
            radius,
            options,
            cancelled=cancelled,
            resume=resume,
            voter=voter,
            batch_size=batch_size,
            spec=spec,
        )
        return _events(run, focus, keep)

    votes_given = resume is not None or focus is not None
    if options.proof == "smoothed" or (options.proof == "auto" and votes_given):
        return by_votes()
    if votes_given:
        raise UnsupportedRequest(
            "a certain proof casts no votes: there is none to go on from, and no cell to vote in"
        )
    question = Question.of(base.name, spec or seen.name, len(seen), transform, radius, options)
    if options.proof == "certain":
        return certain_events(base, seen, question, cancelled)
    return certain_first(base, seen, question, cancelled, by_votes)


def _events(
    run: Run, focus: Focus | None, keep: Callable[[Certificate], None] | None
) -> Generator[Event, None, None]:
    work = _work(run, focus)
    due = time.monotonic() + SAVE_SECONDS
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            yield Done(run.certificate(end.value))
            return
        yield event
        if keep is not None and time.monotonic() >= due:
            started = time.monotonic()
            keep(run.certificate("cut-off"))
            now = time.monotonic()
            due = now + max(SAVE_SECONDS, (now - started) / _SHARE_OF_TIME)


def _work(run: Run, focus: Focus | None) -> Generator[Event, None, Stop]:
    chosen = yield from run.choose_class()
    if not chosen:
        return run.stop_reason()
    if isinstance(run.proof, GridProof):
        return (yield from search_grid(run))
    if not isinstance(run.proof, CoverProof):
        return (yield from search_whole(run, None if focus is None else focus.until))
    if run.question.options.largest:
        factor = run.proof.feasible_factor
        if factor < 1.0:
            smaller = replace(run.claim, radii=tuple(factor * r for r in run.claim.radii))
            inner = replace(run, proof=CoverProof(smaller))
            return (yield from search_cover(inner, focus))
    elif run.proof.lattice.count_first_cells(run.proof.region) > run.cell_limit:
        return "too-many-cells"
    return (yield from search_cover(run, focus))


__all__ = [
    "Budget",
    "CellDecided",
    "CellRefined",
    "CellStarted",
    "Done",
    "Estimate",
    "Event",
    "Focus",
    "MarginsFound",
    "Options",
    "Planned",
    "Predicted",
    "VotesCounted",
    "certify",
    "certify_events",
    "estimate",
    "ledger_of",
    "prepare",
]
