"""The hunt for the smallest attack, and the gap that it leaves to what is certified."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tpc_core import streams
from tpc_core.attacks import METHODS, attack, refuted
from tpc_core.certificate.schema import AttackRecord, Certificate
from tpc_core.certify.refute import CONFIRM_SIZES, confirm_attack
from tpc_core.certify.run import Run
from tpc_core.diagnosis.reopen import check_model, never, reopened, with_level
from tpc_core.diagnosis.subject import Subject
from tpc_core.diagnosis.sweep import sigma_of
from tpc_core.diagnosis.take import certified_size
from tpc_core.errors import InvalidValue
from tpc_core.statistics import upper_bound
from tpc_core.votes import BaseClassifier

TRIES = 96
"""Parameters that each method tries in the first round."""

_VOTES_PER_TRY = 32
_ROUNDS = 3
_STEPS = 5
_LOOK = 64
_STEP_VOTES = _LOOK + CONFIRM_SIZES[0]
"""What one step of shrinking takes, where the first sample decides."""

Progress = Callable[[int, int], None]
"""Told of the evaluations made, and of those expected in all."""


@dataclass(frozen=True)
class Quarry:
    """What the hunt has come to: the smallest attack so far, or none."""

    attack: AttackRecord | None
    size: float | None
    """In parts of the region asked for."""
    certified: float
    evaluations: int
    closest: float | None
    """The smallest lead of the class that was seen where nothing was found."""
    done: bool

    @property
    def gap(self) -> tuple[float, float] | None:
        """From the certified radius to the smallest attack, in parts of the region; None without an attack."""
        return None if self.size is None else (self.certified, self.size)


def search_votes(tries: int = TRIES) -> int:
    """About what a hunt costs: every method once over."""
    return len(METHODS) * tries * _VOTES_PER_TRY


def hunt(
    subject: Subject,
    model: BaseClassifier,
    *,
    start: tuple[float, ...] | None = None,
    attempt: int = 1,
    tries: int = TRIES,
    cancelled: Callable[[], bool] = never,
    progress: Progress = lambda done, expected: None,
) -> Iterator[Quarry]:
    """Search the region, then shrink what was found; a report after every step, the last one `done`.

    `progress` hears of evaluations made and evaluations expected in all, some times a second.

    `start` is a parameter to try first. The k-th attempt on a certificate has the level alpha / 2^k, half of it
    for the search and half for shrinking, so all refutations together are wrong with probability at most alpha.
    """
    check_model(subject, model)
    certificate, prediction = subject.certificate, subject.prediction
    if prediction is None:
        raise InvalidValue("the run ended before it knew its class; let it go on first")
    level = certificate.alpha / 2**attempt
    certified = certified_size(subject)
    run = with_level(reopened(subject, model, cancelled=cancelled), level / 2)
    before, searched = run.control.samples, 0
    found, closest = certificate.attack, None

    def made() -> int:
        return run.control.samples - before + searched

    def report(done: bool) -> Quarry:
        size = None if found is None else subject.size(np.array(found.parameter))
        return Quarry(found, size, certified, made(), closest, done)

    def shrunk(steps_left: int, turn: int) -> Quarry:
        progress(made(), made() + steps_left * _STEP_VOTES + search_votes(_tries(tries, turn)))
        return report(False)

    if found is None and start is not None:
        found = confirm_attack(run, prediction, np.array(start), "centre of a failing cell")
        yield report(False)
    factor = 1.0
    for turn in range(_ROUNDS):
        if found is not None:
            found = yield from _shrink(subject, run, found, certified, report_with=partial(shrunk, turn=turn))
            factor = 0.9 * subject.size(np.array(found.parameter))
        if cancelled() or factor <= certified:
            break
        radii = [p.to_edge(factor * r) for p, r in zip(subject.transform.radii, subject.radii, strict=True)]
        begun = made()
        result = attack(
            model,
            subject.cloud,
            subject.transform,
            radii,
            tries=_tries(tries, turn),
            alpha=level / 2 ** (turn + 2),
            sigma=sigma_of(subject.smoothing) or None,
            seed=certificate.seed,
            device=certificate.device,
            cancelled=cancelled,
            progress=partial(_searching, progress, begun, begun + search_votes(_tries(tries, turn))),
        )
        searched += result.evaluations
        if result.prediction.index != prediction.index or result.attack is None:
            closest = result.closest.margin
            break
        found = result.attack
        yield report(False)
    yield report(True)


def _tries(tries: int, turn: int) -> int:
    """Later searches look inside a smaller region, and for half as long."""
    return tries if turn == 0 else tries // 2


def _searching(progress: Progress, begun: int, expected: int, evaluations: int) -> None:
    progress(begun + evaluations, max(expected, begun + evaluations))


def _shrink(
    subject: Subject,
    run: Run,
    found: AttackRecord,
    certified: float,
    *,
    report_with: Callable[[int], Quarry],
) -> Generator[Quarry, None, AttackRecord]:
    """Halve the way between what is certified and the attack, along its own direction."""
    prediction = subject.prediction
    assert prediction is not None
    z = np.array(found.parameter)
    size = subject.size(z)
    low, high = min(certified, size), size
    rival = run.classes.index(found.winner)
    for step in range(_STEPS):
        middle = (low + high) / 2
        if run.control.stop_reason() is not None or high - low < 0.01:
            break
        place = z * (middle / size)
        counts = run.voter.count(run.at(place), streams.diagnosis("shrink"), 0, _LOOK)
        run.control.samples += _LOOK
        likely = upper_bound(int(counts[prediction.index]), _LOOK, 0.05) < 0.5
        proven = confirm_attack(run, prediction, place, found.method, rival) if likely else None
        low, high = (low, middle) if proven is not None else (middle, high)
        found = proven or found
        yield report_with(_STEPS - step - 1)
    return found


def refutation_of(certificate: Certificate, quarry: Quarry) -> Certificate | None:
    """The certificate with its verdict changed, where the attack lies inside an undecided claim."""
    if quarry.attack is None or quarry.size is None or certificate.verdict != "undecided":
        return None
    if certificate.claim.largest or quarry.size > 1:
        return None
    return refuted(certificate, quarry.attack)
