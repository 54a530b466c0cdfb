"""How a run behaves: repeatable, stoppable, within its budget, and able to go on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.certificate.made import QUESTIONS, SMALL, genuine
from tests.classifiers import HalfSpace, broken_at
from tpc_core.certificate import Certificate
from tpc_core.certify import (
    Budget,
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Options,
    Planned,
    Predicted,
    VotesCounted,
    certify,
    certify_events,
)
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.verify import case_of, replay, verify
from tpc_core.votes import BLOCK, Voter

REPEATED = [kind for kind in QUESTIONS if kind not in ("linear", "grid", "nothing")]


def whatever_the_batch(kind: str, options: Options) -> set[str]:
    """The digests of a certificate made in batches of several sizes."""
    model, cloud, transform, radius, _ = QUESTIONS[kind]()
    return {
        certify(model, cloud, transform, radius, options, batch_size=size).content_digest
        for size in (32, 96, 1024)
    }


@pytest.mark.parametrize("kind", REPEATED)
def test_the_same_seed_gives_the_same_certificate_whatever_the_batch_size(kind: str) -> None:
    assert whatever_the_batch(kind, QUESTIONS[kind]()[4]) == {genuine(kind).content_digest}


@pytest.mark.parametrize("samples", [10, 100, 150, 200, 300, 500, 900])
@pytest.mark.parametrize("kind", ["parameter", "group", "cover of rotations", "cover refuted", "points"])
def test_a_budget_gives_the_same_certificate_whatever_the_batch_size(kind: str, samples: int) -> None:
    """Also where the budget ends in the middle of something."""
    options = replace(QUESTIONS[kind]()[4], budget=Budget(samples=samples))
    assert len(whatever_the_batch(kind, options)) == 1


def test_another_seed_gives_other_votes() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter undecided"]()
    other = certify(model, cloud, transform, radius, replace(options, seed=1))
    assert other.ledger.places != genuine("parameter undecided").ledger.places
    assert not other.ledger.own_seed


def test_nobody_chooses_the_seed_unless_they_say_so() -> None:
    """By default it is a hash of cloud, model, transform and smoothing: another of them is another seed."""
    model, cloud, transform, radius, options = QUESTIONS["cover"]()
    first = certify(model, cloud, transform, radius, options)
    assert first.ledger.own_seed
    assert certify(model, cloud, transform, 0.3, options).ledger.seed == first.ledger.seed
    others = [
        certify(replace(model, digest="another"), cloud, transform, radius, options),
        certify(model, cloud, "x-taper", radius, options),
        certify(model, cloud, transform, radius, replace(options, sigma=(0.25,))),
        certify(model, Cloud(cloud.points * 0.99), transform, radius, options),
    ]
    assert len({made.ledger.seed for made in [first, *others]}) == 5


def test_a_vote_does_not_depend_on_the_votes_asked_for_with_it() -> None:
    model = broken_at(SMALL, "z-taper", [0.3], 0.2)
    voter = Voter(model, model.smoothing, seed=1, device=torch.device("cpu"))
    whole = voter.count(SMALL.points, "stream", 0, 300)
    cuts = [0, 1, 31, 32, 33, 95, 200, 300]
    parts = sum(voter.count(SMALL.points, "stream", a, b) for a, b in zip(cuts, cuts[1:], strict=False))  # noqa: RUF007
    assert (whole == parts).all()
    assert not (whole == voter.count(SMALL.points, "other", 0, 300)).all()


@pytest.mark.parametrize("samples", [1, 31, 64, 128, 129, 300, 1_000, 5_000])
@pytest.mark.parametrize(
    "kind", ["parameter", "parameter of two", "group", "cover largest", "cover refuted", "grid", "points"]
)
def test_a_budget_of_samples_is_kept(kind: str, samples: int) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    found = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=samples)))
    assert found.samples <= samples
    verify(found)


def test_a_budget_of_cells_is_kept() -> None:
    model, cloud, transform, radius, _ = QUESTIONS["cover largest"]()
    for cells in (1, 2, 5):
        found = certify(model, cloud, transform, radius, Options(largest=True, budget=Budget(cells=cells)))
        assert len(found.ledger.places) <= cells + 3  # the choice of the class, and the wave under way


class Slow(HalfSpace):
    """A model that takes its time: 5 ms a block."""

    def logits(self, clouds: Tensor) -> Tensor:
        time.sleep(0.005)
        return super().logits(clouds)


def _slow() -> HalfSpace:
    base = broken_at(SMALL, "z-taper", [0.9], 0.1)
    return Slow(base.smoothing, normal=base.normal, threshold=base.threshold)


def test_a_budget_of_seconds_is_kept() -> None:
    started = time.monotonic()
    found = certify(
        _slow(),
        SMALL,
        "z-taper",
        0.89,
        Options(budget=Budget(seconds=0.3)),
        batch_size=32,
    )
    assert time.monotonic() - started < 5
    assert found.verdict == "undecided"
    assert found.stopped == "budget"
    assert "budget" in found.sentence


@pytest.mark.parametrize(
    "kind", ["parameter", "group", "cover of rotations", "cover largest", "grid", "points"]
)
@pytest.mark.parametrize("after", [0, 1, 3, 6])
def test_cancel_acts_within_one_batch(kind: str, after: int) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    asked, passes = [0], [0]

    def cancelled() -> bool:
        asked[0] += 1
        return asked[0] > after

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def classifier(self, device: Any = "cpu") -> Callable[[Tensor], Tensor]:
            inner = model.classifier(device)

            def counted(clouds: Tensor) -> Tensor:
                passes[0] += 1
                return inner(clouds)

            return counted

    found = certify(
        Counting(),  # type: ignore[arg-type]
        cloud,
        transform,
        radius,
        options,
        cancelled=cancelled,
        batch_size=BLOCK,
    )
    if asked[0] > after:
        assert passes[0] <= after  # one batch of one block for each time the answer was no
        assert found.verdict == "undecided" or options.largest
        assert found.stopped == "cancelled"
    verify(found)


def test_events_come_in_order_and_end_with_done() -> None:
    model, cloud, transform, radius, options = QUESTIONS["cover of rotations"]()
    events = list(certify_events(model, cloud, transform, radius, options))
    assert isinstance(events[0], Predicted)
    assert isinstance(events[1], Planned)
    assert isinstance(events[-1], Done)
    assert sum(isinstance(event, Done) for event in events) == 1
    started: set[str] = set()
    settled: set[str] = set()
    covered, samples = 0.0, 0
    for event in events:
        if isinstance(event, CellStarted):
            assert event.cell.path not in started
            started.add(event.cell.path)
        elif isinstance(event, VotesCounted):
            assert event.cell is not None
            assert event.cell.path in started - settled
            assert 0 <= event.n_a <= event.n
            assert event.samples >= samples
            samples = event.samples
        elif isinstance(event, CellDecided | CellRefined):
            assert event.cell.path in started - settled
            settled.add(event.cell.path)
            if isinstance(event, CellDecided):
                assert covered <= event.covered <= 1 + 1e-9
                covered = event.covered
    assert started == settled
    assert covered == pytest.approx(1.0)
    certificate = events[-1].certificate  # type: ignore[union-attr]
    assert {f"cell|1|{path}" for path in settled} == set(certificate.ledger.places) - {"select"}
    assert certificate.samples == samples


# Going on.


@pytest.mark.parametrize(
    "kind", ["parameter undecided", "parameter", "cover of rotations", "group", "points of a group"]
)
def test_a_run_that_goes_on_casts_no_vote_twice(kind: str) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    whole = genuine(kind)
    half = max(64, whole.samples // 64 * 32)
    short = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=half)))
    assert short.samples <= half
    seen = [0]
    voter = Voter(model, model.smoothing, seed=short.ledger.seed, device=torch.device("cpu"))
    for event in certify_events(model, cloud, transform, radius, options, resume=short, voter=voter):
        if isinstance(event, Done):
            resumed = event.certificate
    seen[0] = voter.evaluations
    assert resumed.verdict == whole.verdict
    assert resumed.samples == short.samples + seen[0]
    for place, blocks in short.ledger.places.items():
        assert resumed.ledger.places[place][: len(blocks)] == blocks
    verify(resumed)
    replay(resumed, model)


def test_a_smaller_radius_is_read_off_the_same_votes() -> None:
    """Another radius, or another level, costs nothing where the ledger answers it already."""
    model, cloud, transform, _, options = QUESTIONS["cover"]()
    made = genuine("cover")
    for radius, alpha in ((0.7, 0.01), (0.3, 0.001), (0.1, 0.001)):
        less = certify(model, cloud, transform, radius, replace(options, alpha=alpha), resume=made)
        assert less.verdict == "certified"
        assert less.ledger.places == made.ledger.places


def test_the_largest_radius_goes_on_from_a_given_one() -> None:
    model, cloud, transform, _, options = QUESTIONS["cover largest"]()
    given = certify(model, cloud, transform, 0.3)
    found = certify(model, cloud, transform, 0.9, options, resume=given)
    assert found.radius["taper"] >= 0.3
    case = case_of(found)
    assert case.proof.largest_part(case.ledger) * 0.9 == pytest.approx(found.radius["taper"])


def test_a_run_does_not_go_on_from_another_object_or_model() -> None:
    model, cloud, transform, radius, options = QUESTIONS["cover of rotations"]()
    earlier = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=1_000)))
    for changed in (replace(options, seed=5), replace(options, sigma=(0.2,))):
        with pytest.raises(InvalidValue, match="cannot continue"):
            certify(model, cloud, transform, radius, changed, resume=earlier)
    with pytest.raises(InvalidValue, match="model"):
        certify(replace(model, digest="other"), cloud, transform, radius, options, resume=earlier)
    with pytest.raises(InvalidValue, match="cloud"):
        certify(model, Cloud(cloud.points * 0.9), transform, radius, options, resume=earlier)
    with pytest.raises(InvalidValue, match="transform"):
        certify(model, cloud, "zyx-rotation", 5, options, resume=earlier)


def test_a_grid_does_not_go_on_from_another_resolution() -> None:
    model, cloud, transform, radius, options = QUESTIONS["grid"]()
    finer = replace(options, resolution=3, budget=Budget(samples=50_000))
    with pytest.raises(InvalidValue, match="grid"):
        certify(model, cloud, transform, radius, finer, resume=genuine("grid"))


def test_a_run_does_not_go_on_from_votes_that_cannot_be() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter undecided"]()
    earlier = certify(model, cloud, transform, radius, options)
    places = {**earlier.ledger.places, "select": earlier.ledger.places["select"] * 2}
    forged = earlier.model_copy(update={"ledger": earlier.ledger.model_copy(update={"places": places})})
    with pytest.raises(InvalidCertificate):
        certify(model, cloud, transform, radius, options, resume=forged)


def test_the_certificate_so_far_can_be_kept_and_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash costs seconds: what was kept last verifies, claims nothing too much, and goes on."""
    monkeypatch.setattr(sys.modules["tpc_core.certify"], "SAVE_SECONDS", 0.0)
    model, cloud, transform, radius, options = QUESTIONS["cover of rotations"]()
    kept: list[Certificate] = []
    for _ in certify_events(model, cloud, transform, radius, options, keep=kept.append):
        if len(kept) > 3:
            break
    last = Certificate.from_json(kept[-1].to_json())
    assert last.stopped == "cut-off"
    assert verify(last).verdict == "undecided"
    assert certify(model, cloud, transform, radius, options, resume=last).verdict == "certified"
    assert last.question == genuine("cover of rotations").question


_MEMORY = """
import re
from pathlib import Path
import torch
from tests.classifiers import broken_at, small_cloud
from tpc_core.certify import Budget, Options, certify
torch.set_num_threads(1)
cloud = small_cloud(1024)
model = broken_at(cloud, "z-taper", [0.9], 0.2)
for samples in (500, 5000):
    options = Options(largest=True, budget=Budget(samples=samples))
    assert certify(model, cloud, "l2", 5.0, options).samples > samples - 64
    # Not ru_maxrss: a child inherits its parent's peak, and the test process may have been a large one.
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_memory_does_not_grow_with_the_samples() -> None:
    """1,024 points: ten times the votes take the same memory, so 100,000 of them fit into 2 GB."""
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY], cwd=Path(__file__).parents[2], env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    few, many = (int(kilobytes) for kilobytes in done.stdout.split())
    assert many < 2_000_000
    assert many - few < 50_000


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_missing_cuda_device_is_named() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter"]()
    with pytest.raises(InvalidValue, match="CUDA"):
        certify(model, cloud, transform, radius, replace(options, device="cuda"))
    with pytest.raises(InvalidValue, match="auto, cpu or cuda"):
        certify(model, cloud, transform, radius, replace(options, device="tpu"))
