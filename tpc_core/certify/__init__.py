"""Certify: one call for every transform, every smoothing and both protocols."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tpc_core.certificate.schema import Certificate, Prediction, Reason, SingleEvidence
from tpc_core.certify.assemble import assemble
from tpc_core.certify.control import Budget, Control
from tpc_core.certify.cover import certify_cover
from tpc_core.certify.events import (
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Event,
    Planned,
    Predicted,
    VotesCounted,
)
from tpc_core.certify.group import certify_group
from tpc_core.certify.paper import certify_paper
from tpc_core.certify.points import certify_points
from tpc_core.certify.resume import take_up
from tpc_core.certify.run import Outcome, Run, default_batch_size, predict
from tpc_core.certify.single import certify_single
from tpc_core.certify.strategy import Strategy, choose_strategy, with_sigma
from tpc_core.cloud import Cloud
from tpc_core.covers.paper import theorem_of
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.statistics import AnytimeMonitor, Monitor, StagedMonitor, check_alpha, geometric_stages
from tpc_core.transforms import Composition, RadiusInput, Transform, parse_transform
from tpc_core.votes import BLOCK, BaseClassifier, Voter, resolve_device

PAPER_SINGLE_SAMPLES = 1000
"""Votes for an additive transform in the paper."""

_LARGEST_SAMPLES = 10_000
_LAST_ANYTIME_SIZE = 1 << 20


@dataclass(frozen=True)
class Options:
    """Everything about a run but the question itself; all are fixed before the first vote."""

    alpha: float = 0.001
    protocol: Literal["adaptive", "paper"] = "adaptive"
    statistics: Literal["staged", "anytime"] = "staged"
    sigma: tuple[float, ...] | None = None
    largest: bool = False
    """Look for the largest certified radius; the radius given, if any, is where the search ends."""
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    device: str = "auto"
    select_samples: int = 128
    single_samples: int | None = None
    """Votes of a single-probability certificate in one stage; None takes the default schedule."""
    resolution: int | None = None
    """M of the paper's grid; None takes the smallest that can certify."""
    patience: int = 300_000
    """Give a region up when one cell of it alone would need more votes than this, by the most hopeful reading."""
    complete: bool = False
    """Go on after a cell failed, to fill the whole map."""
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.protocol not in ("adaptive", "paper"):
            raise InvalidValue(f"protocol must be adaptive or paper, not {self.protocol!r}")
        if self.statistics not in ("staged", "anytime"):
            raise InvalidValue(f"statistics must be staged or anytime, not {self.statistics!r}")
        for name, value in (("select_samples", self.select_samples), ("single_samples", self.single_samples)):
            if value is not None and value < 1:
                raise InvalidValue(f"{name} must be at least 1, not {value}")
        if not 0 <= self.seed < 1 << 63:
            raise InvalidValue(f"a seed is a whole number from 0 to 2^63 - 1, not {self.seed}")
        if self.protocol == "paper" and (self.largest or self.statistics == "anytime"):
            raise UnsupportedRequest(
                "the paper's protocol has one fixed radius and one fixed sample; use adaptive"
            )


DEFAULTS = Options()


def certify(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    resume: Certificate | None = None,
) -> Certificate:
    """Certify that no attack of `transform` within `radius` changes what the smoothed model says of `cloud`.

    The radius is in edge units (degrees for angles): 20, "20", "twist=20,taper=0.2,rotation=1".
    """
    events = certify_events(model, cloud, transform, radius, options, cancelled=cancelled, resume=resume)
    for event in events:
        if isinstance(event, Done):
            return event.certificate
    raise AssertionError("a run always ends with Done")


def certify_events(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None = None,
    options: Options = DEFAULTS,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    resume: Certificate | None = None,
    voter: Voter | None = None,
) -> Iterator[Event]:
    """The same as `certify`, as a stream of events that ends with Done. Bad input is refused at once.

    `voter` may bring votes that were counted before, for another radius of the same cloud.
    """
    run, strategy = prepare(model, cloud, transform, radius, options, cancelled=cancelled, voter=voter)
    if resume is not None:
        take_up(resume, run, model, options)
    return _events(run, model, strategy, options)


def prepare(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None,
    options: Options,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    voter: Voter | None = None,
) -> tuple[Run, Strategy]:
    """Check the question and set up the run that answers it; no vote is cast yet."""
    if isinstance(transform, str):
        transform = parse_transform(transform)
    radii = _radii(transform, radius, options)
    smoothing = with_sigma(model.smoothing, options.sigma)
    strategy = choose_strategy(transform, smoothing, cloud)
    if strategy.kind == "cover":
        transform.reach(cloud.points.double().numpy())  # refuses transforms without a displacement bound
        if options.protocol == "paper":
            theorem_of(transform, radii)  # refuses transforms for which the paper has no grid
            if not isinstance(smoothing, CoordinateSmoothing):
                raise UnsupportedRequest(
                    f"the paper's grid takes coordinate noise, not {smoothing.describe()}; use adaptive, or a model "
                    "with coordinate noise alone"
                )
        if model.task == "segmentation":
            raise UnsupportedRequest(
                "part segmentation is certified by parameter, group or l2 smoothing, not by covers; "
                f"take a segmentation model smoothed by {transform.name}"
            )
    if model.task == "segmentation" and (options.largest or options.statistics == "anytime"):
        raise UnsupportedRequest(
            "part segmentation takes a given radius and one fixed sample for every point"
        )
    monitor = _monitor(strategy, options, model.task)
    if voter is None:
        voter = Voter(model, smoothing, seed=options.seed, device=resolve_device(options.device))
    elif (voter.seed, voter.smoothing, voter.model_digest) != (options.seed, smoothing, model.digest):
        raise InvalidValue("the voter was made for another seed, another smoothing or another model")
    run = Run(
        voter=voter,
        cloud=cloud,
        classes=tuple(model.classes),
        transform=transform,
        radii=radii,
        largest=options.largest,
        alpha=options.alpha,
        monitor=monitor,
        control=Control(options.budget, cancelled),
        batch_size=_batch_size(options, len(cloud)),
        complete=options.complete,
        patience=options.patience,
    )
    return run, strategy


def _events(run: Run, model: BaseClassifier, strategy: Strategy, options: Options) -> Iterator[Event]:
    prediction: Prediction | None = None
    outcome: Outcome
    if model.task == "segmentation":
        samples = options.single_samples or run.monitor.sizes[-1]
        outcome = yield from certify_points(run, strategy.rule, samples, options.select_samples)
    else:
        prediction = predict(run, options.select_samples)
        if prediction is None:
            yield Done(assemble(run, model, options.protocol, None, _nothing(run)))
            return
        yield Predicted(prediction, run.control.samples)
        outcome = yield from _strategy_events(run, prediction, strategy, options)
    yield Done(assemble(run, model, options.protocol, prediction, outcome))


def _strategy_events(
    run: Run, prediction: Prediction, strategy: Strategy, options: Options
) -> Generator[Event, None, Outcome]:
    if strategy.kind == "group":
        return certify_group(run, prediction)
    if strategy.rule is not None:
        return certify_single(run, prediction, strategy.rule)
    if options.protocol == "paper":
        return certify_paper(run, prediction, options.resolution)
    return certify_cover(run, prediction)


def _nothing(run: Run) -> Outcome:
    """The outcome of a run that was stopped before it knew its class."""
    evidence = SingleEvidence(rule="parameter", readings=[], lower_bound=0.0, needed=1.0)
    reason = run.control.stop_reason() or Reason(code="budget", message="the budget of samples ended")
    return Outcome("undecided", evidence, [], [reason], (0.0,) * len(run.radii) if run.largest else None)


def _radii(transform: Transform, radius: RadiusInput | None, options: Options) -> tuple[float, ...]:
    if radius is not None:
        return transform.parse_radius(radius)
    if not options.largest:
        raise InvalidValue(f"give a radius for {transform.name}, or ask for the largest one (--max)")
    if isinstance(transform, Composition):
        raise InvalidValue(
            f"the largest region of {transform.name} needs a direction: give the radius at which to stop, "
            + ",".join(f"{p.name}=..." for p in transform.radii)
        )
    return transform.parse_radius([p.largest_radius for p in transform.radii])


def _monitor(strategy: Strategy, options: Options, task: str) -> Monitor:
    """The stages, fixed before the first vote."""
    if strategy.kind == "cover":
        sizes = geometric_stages(3 * BLOCK, 24_000, factor=3)
    elif options.single_samples is not None:
        sizes = StagedMonitor((options.single_samples,), (1.0,))
    elif options.protocol == "paper" or task == "segmentation":
        sizes = StagedMonitor((PAPER_SINGLE_SAMPLES,), (1.0,))
    elif options.largest and strategy.kind == "single":
        affordable = (options.budget.samples or math.inf) - options.select_samples
        sizes = StagedMonitor((int(max(1, min(_LARGEST_SAMPLES, affordable))),), (1.0,))
    else:
        sizes = geometric_stages(4 * BLOCK, 32_768)
    if options.statistics == "staged":
        return sizes
    last = sizes.sizes[-1] if options.largest and strategy.kind == "single" else _LAST_ANYTIME_SIZE
    fine = [BLOCK * 2**i for i in range(24) if BLOCK * 2**i <= last]
    return AnytimeMonitor(tuple(fine) or (last,))


def _batch_size(options: Options, points: int) -> int:
    if options.batch_size is None:
        return default_batch_size(points)
    if options.batch_size < 1:
        raise InvalidValue(f"batch_size must be at least 1, not {options.batch_size}")
    # Whole blocks: a part of a block costs as much as the block.
    return max(BLOCK, options.batch_size // BLOCK * BLOCK)


__all__ = [
    "Budget",
    "CellDecided",
    "CellRefined",
    "CellStarted",
    "Done",
    "Event",
    "Options",
    "Planned",
    "Predicted",
    "VotesCounted",
    "certify",
    "certify_events",
    "prepare",
]
