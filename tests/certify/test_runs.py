"""How a run behaves: repeatable, stoppable, within its budget, and able to go on."""

from __future__ import annotations

import math
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
from tests.classifiers import HalfSpace, Toy, broken_at, parameter_model
from tpc_core.certificate import Certificate
from tpc_core.certificate.replay import replay
from tpc_core.certificate.schema import TreeEvidence
from tpc_core.certificate.verify import verify
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
from tpc_core.errors import InvalidValue, TpcError
from tpc_core.votes import BLOCK, Voter

REPEATED = [kind for kind in QUESTIONS if kind not in ("linear", "grid", "nothing")]


@pytest.mark.parametrize("kind", REPEATED)
def test_the_same_seed_gives_the_same_certificate_whatever_the_batch_size(kind: str) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    digests = {
        certify(model, cloud, transform, radius, replace(options, batch_size=size)).content_digest
        for size in (32, 96, 1024)
    }
    assert digests == {genuine(kind).content_digest}


@pytest.mark.parametrize("samples", [10, 100, 150, 200, 300, 500, 900])
@pytest.mark.parametrize("kind", ["parameter", "group", "tree of rotations", "tree refuted", "points"])
def test_a_budget_gives_the_same_certificate_whatever_the_batch_size(kind: str, samples: int) -> None:
    """Also where the budget ends in the middle of something."""
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    tight = replace(options, budget=Budget(samples=samples))
    digests = {
        certify(model, cloud, transform, radius, replace(tight, batch_size=size)).content_digest
        for size in (32, 96, 1024)
    }
    assert len(digests) == 1


def test_another_seed_gives_other_votes() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter undecided"]()
    other = certify(model, cloud, transform, radius, replace(options, seed=1))
    assert other.evidence != genuine("parameter undecided").evidence


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
    "kind", ["parameter", "parameter anytime", "group", "tree largest", "tree refuted", "grid", "points"]
)
def test_a_budget_of_samples_is_kept(kind: str, samples: int) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    found = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=samples)))
    assert found.samples <= samples
    verify(found)
    if found.verdict == "undecided":
        assert found.reasons
        assert found.reasons[0].message


def test_a_budget_of_cells_is_kept() -> None:
    model, cloud, transform, radius, _ = QUESTIONS["tree largest"]()
    for cells in (1, 2, 5):
        found = certify(model, cloud, transform, radius, Options(largest=True, budget=Budget(cells=cells)))
        assert isinstance(found.evidence, TreeEvidence)
        assert len(found.evidence.cells) <= cells


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
        Options(budget=Budget(seconds=0.3), batch_size=32, statistics="anytime"),
    )
    assert time.monotonic() - started < 5
    assert found.verdict == "undecided"
    assert found.reasons[0].code == "budget"
    assert "0.3 seconds" in found.reasons[0].message


@pytest.mark.parametrize(
    "kind", ["parameter", "group", "tree of rotations", "tree largest", "grid", "points"]
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
        Counting(), cloud, transform, radius, replace(options, batch_size=BLOCK), cancelled=cancelled
    )  # type: ignore[arg-type]
    if asked[0] > after:
        assert passes[0] <= after  # one batch of one block for each time the answer was no
        assert found.verdict == "undecided"
        assert found.reasons[0].code == "cancelled"
    verify(found)


def test_events_come_in_order_and_end_with_done() -> None:
    model, cloud, transform, radius, options = QUESTIONS["tree of rotations"]()
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
    assert isinstance(certificate.evidence, TreeEvidence)
    assert {cell.path for cell in certificate.evidence.cells} == settled
    assert certificate.samples == samples


# Going on.


@pytest.mark.parametrize("kind", ["parameter undecided", "parameter", "tree of rotations", "tree largest"])
def test_a_run_that_goes_on_ends_like_one_that_never_stopped(kind: str) -> None:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    whole = certify(model, cloud, transform, radius, replace(options, budget=Budget()))
    short = certify(
        model, cloud, transform, radius, replace(options, budget=Budget(samples=max(200, whole.samples // 2)))
    )
    resumed = certify(model, cloud, transform, radius, replace(options, budget=Budget()), resume=short)
    assert resumed.evidence == whole.evidence
    assert resumed.verdict == whole.verdict
    assert resumed.claim == whole.claim
    verify(resumed)
    replay(resumed, model)


def test_a_run_that_goes_on_casts_only_the_missing_votes() -> None:
    model, cloud, transform, radius, options = QUESTIONS["tree largest"]()
    whole = genuine("tree largest")
    short = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=4_000)))
    assert short.evidence != whole.evidence
    resumed = certify(model, cloud, transform, radius, options, resume=short)
    remembered = sum(cell.readings[-1].n for cell in short.evidence.cells if cell.readings)  # type: ignore[union-attr]
    assert remembered > 1_000
    assert resumed.samples == whole.samples - remembered


def _going_on(kind: str, options: Options, *, radius: Any = None, model: Toy | None = None) -> Certificate:
    known, cloud, transform, first_radius, first = QUESTIONS[kind]()
    earlier = certify(known, cloud, transform, first_radius, replace(first, budget=Budget(samples=1_000)))
    return certify(
        model or known, cloud, transform, first_radius if radius is None else radius, options, resume=earlier
    )


def test_a_run_does_not_go_on_from_another_question() -> None:
    first = QUESTIONS["tree of rotations"]()[4]
    for changed in (
        replace(first, alpha=0.01),
        replace(first, seed=5),
        replace(first, sigma=(0.2,)),
        replace(first, largest=True),
    ):
        with pytest.raises(InvalidValue, match="cannot continue"):
            _going_on("tree of rotations", changed)
    with pytest.raises(InvalidValue, match="radius"):
        _going_on("tree of rotations", first, radius=7)


def test_the_largest_radius_does_not_go_on_from_another_tree() -> None:
    """Cell 01 of a tree up to 0.9 is not cell 01 of a tree up to 0.45: its votes were cast elsewhere."""
    model, cloud, transform, _, options = QUESTIONS["tree largest"]()
    try:
        resumed = _going_on("tree largest", options, radius=0.45)
    except TpcError:
        return
    assert resumed.evidence == certify(model, cloud, transform, 0.45, options).evidence


def test_a_grid_does_not_go_on_from_another_resolution() -> None:
    model, cloud, transform, radius, options = QUESTIONS["grid"]()
    earlier = certify(model, cloud, transform, radius, options)
    finer = replace(options, resolution=3, budget=Budget(samples=200))
    try:
        resumed = certify(model, cloud, transform, radius, finer, resume=earlier)
    except TpcError:
        return
    assert not resumed.evidence.cells  # type: ignore[union-attr]


def test_a_run_does_not_go_on_with_the_votes_of_another_class() -> None:
    """One vote may choose the wrong class; its counts must not be taken for those of the right one."""
    threshold = math.radians(1)
    model = parameter_model("z-rotation", [15], [1], threshold)
    from tests.classifiers import marked_cloud

    cloud = marked_cloud("z-rotation")
    hasty = Options(select_samples=1)
    for seed in range(20):
        earlier = certify(model, cloud, "z-rotation", 5, replace(hasty, seed=seed))
        assert earlier.prediction is not None
        patient = replace(hasty, seed=seed, select_samples=400)
        fresh = certify(model, cloud, "z-rotation", 5, patient)
        assert fresh.prediction is not None
        if fresh.prediction.index == earlier.prediction.index:
            continue
        try:
            resumed = certify(model, cloud, "z-rotation", 5, patient, resume=earlier)
        except TpcError:
            return
        assert resumed.evidence == fresh.evidence
        return
    pytest.fail("no seed chose two classes; adjust the threshold")


def test_a_run_does_not_go_on_at_another_level() -> None:
    """Five stages share alpha; one stage with the whole of alpha on the same votes would be a second chance."""
    model, cloud, transform, radius, options = QUESTIONS["parameter undecided"]()
    earlier = certify(model, cloud, transform, radius, options)
    with pytest.raises(InvalidValue, match="cannot continue"):
        certify(model, cloud, transform, radius, replace(options, single_samples=128), resume=earlier)


def test_a_run_does_not_go_on_from_a_forged_certificate() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter undecided"]()
    earlier = certify(model, cloud, transform, radius, options)
    readings = [r.model_copy(update={"n_a": r.n}) for r in earlier.evidence.readings]  # type: ignore[union-attr]
    forged = earlier.model_copy(
        update={"evidence": earlier.evidence.model_copy(update={"readings": readings})}
    )
    with pytest.raises(TpcError):
        certify(model, cloud, transform, radius, options, resume=forged)


_MEMORY = """
import resource
import torch
from tests.classifiers import broken_at, small_cloud
from tpc_core.certify import Options, certify
torch.set_num_threads(1)
cloud = small_cloud(1024)
model = broken_at(cloud, "z-taper", [0.9], 0.2)
for samples in (500, 5000):
    assert certify(model, cloud, "l2", 0.1, Options(single_samples=samples)).samples >= samples
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


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
