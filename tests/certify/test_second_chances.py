"""No use of the public calls turns one set of votes, or one level, into two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS
from tests.classifiers import broken_at, small_cloud
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Done, Options, certify, certify_events
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidValue
from tpc_core.ledger import Ledger
from tpc_core.verify import replay, verify

SMALL = small_cloud()
MODEL = broken_at(SMALL, "z-taper", [0.9], 0.2)
SEEDED = Options(seed=7, budget=Budget(samples=4_000))


def shared() -> Ledger:
    """A ledger that a first run has filled, under a seed set by hand."""
    return certify(MODEL, SMALL, "z-taper", 0.5, SEEDED).votes()


def test_a_shared_ledger_goes_on_with_its_own_question() -> None:
    made = certify(MODEL, SMALL, "z-taper", 0.6, SEEDED, resume=shared())
    assert verify(made).verdict == "certified"
    assert replay(made, MODEL) == made.samples


def _jittered() -> Cloud:
    return Cloud(SMALL.points * 0.999, name=SMALL.name)


@pytest.mark.parametrize("what", ["sigma", "transform", "cloud", "model", "classes", "protocol", "seed"])
def test_a_shared_ledger_never_answers_for_something_else(what: str) -> None:
    """Votes cast under little noise, on another cloud or by another model prove nothing here."""
    model, cloud, transform, options = MODEL, SMALL, "z-taper", SEEDED
    if what == "sigma":
        options = replace(options, sigma=(0.4,))
    elif what == "transform":
        transform = "x-taper"
    elif what == "cloud":
        cloud = _jittered()
    elif what == "model":
        model = replace(model, digest="another")
    elif what == "classes":
        model = replace(model, classes=("outside", "inside"))
    elif what == "protocol":
        options = replace(options, protocol="paper", resolution=2)
    else:
        options = replace(options, seed=8)
    with pytest.raises(InvalidValue, match="ledger"):
        certify(model, cloud, transform, 0.5, options, resume=shared())


def test_a_ledger_made_by_hand_belongs_to_the_first_question_that_used_it() -> None:
    ledger = Ledger(7, "classification", (2,), own_seed=False)
    certify(MODEL, SMALL, "z-taper", 0.3, SEEDED, resume=ledger)
    with pytest.raises(InvalidValue, match="ledger"):
        certify(MODEL, SMALL, "z-taper", 0.3, replace(SEEDED, sigma=(0.4,)), resume=ledger)


@pytest.mark.parametrize("kind", ["cover", "parameter", "cover of rotations"])
def test_two_runs_that_take_turns_on_one_ledger_count_no_vote_twice(kind: str) -> None:
    """Both cast the next blocks of a place; the second to put them down finds them there already."""
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    options = replace(options, seed=5)
    ledger = Ledger(5, "classification", (len(model.classes),), own_seed=False)
    first = certify_events(model, cloud, transform, radius, options, resume=ledger)
    second = certify_events(model, cloud, transform, radius, options, resume=ledger)
    ended: list[Certificate] = []
    runs = [first, second]
    while runs:
        for run in list(runs):
            event = next(run)
            if isinstance(event, Done):
                ended.append(event.certificate)
                runs.remove(run)
    for certificate in ended:
        assert replay(certificate, model) == certificate.samples


def test_a_place_takes_each_block_once_and_in_order() -> None:
    ledger = Ledger(5, "classification", (2,))
    blocks = np.array([[32, 0], [31, 1], [30, 2]])
    ledger.add("whole", blocks[:2], start=0)
    ledger.add("whole", blocks[:3], start=0)
    ledger.add("whole", blocks[1:2], start=1)
    assert ledger.tally("whole").blocks.tolist() == blocks.tolist()
    with pytest.raises(ValueError, match="gap"):
        ledger.add("whole", blocks[:1], start=5)


def test_a_hair_more_radius_buys_no_fresh_noise_on_the_papers_grid() -> None:
    """Cells of a grid have the noise of their number: another radius, or another M, is not another chance."""
    from tpc_core.ledger import grid_place, stream_of

    names = {stream_of(grid_place(m, (r,), 3)) for m in (2, 7) for r in (0.2, 0.2 * (1 + 1e-12), 0.3)}
    assert len(names) == 1
    assert stream_of(grid_place(2, (0.2,), 4)) not in names
    assert stream_of("cell|1|0:") == "cell|1|0:"
