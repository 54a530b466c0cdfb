"""Sentences and commands that the pages show, and the files that they take."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from app.pages.certify import estimates
from app.pages.certify.estimates import duration, in_words, remember_rate, votes_per_second
from app.pages.certify.question_form import transform_names
from app.session.uploads import Uploads, read_upload
from tpc_core import Budget, Options, Question, TpcError, certify, load_model, load_object
from tpc_core.certify.estimate import Estimate, estimate
from tpc_core.engines import Call, LocalEngine


def question(radius: Any = (20, 5), **options: Any) -> Question:
    return Question.of("rule", "gallery:chair-1", 32, "z-twist+z-rotation", radius, Options(**options))


def test_every_option_of_the_command_exists() -> None:
    cli = pytest.importorskip("tpc_core.cli.certify")
    known = {name for parameter in cli.certify.params for name in parameter.opts}
    everything = question(
        alpha=0.01, seed=3, sigma=(0.2,), complete=True, largest=True, budget=Budget(samples=9, seconds=5)
    )
    paper = question(protocol="paper", resolution=4)
    used = {
        word
        for asked in (everything, paper)
        for word in shlex.split(asked.command())
        if word.startswith("--")
    }
    assert {"--max", "--complete", "--seed", "--sigma", "--protocol", "--resolution"} <= used <= known


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "under a second"), (42, "42 s"), (600, "10 min"), (7200, "2.0 h"), (math.inf, "unknown")],
)
def test_durations_read_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (Estimate(3, 500.0), "About 3 cells, 500 votes, 5 s. 100 votes/s on CPU."),
        (Estimate(1, 50.0), "About 50 votes, under a second. 100 votes/s on CPU."),
        (Estimate(1, 400.0, at_most=True), "At most 400 votes, 4 s. 100 votes/s on CPU."),
        (Estimate(5000, math.inf), "More than 5,000 cells: this may take long. 100 votes/s on CPU."),
        (
            Estimate(0, None),
            "Cells are tested from the object outwards, until one fails. 100 votes/s on CPU.",
        ),
    ],
)
def test_an_estimate_is_a_sentence(work: Estimate, words: str) -> None:
    assert in_words(work, 100.0, "cpu") == words


def test_transforms_about_z_come_first() -> None:
    names = transform_names()
    assert names[0] == "z-rotation"
    assert names.index("z-twist+z-taper+z-rotation") < names.index("x-rotation")


def test_an_upload_is_read_and_its_name_made_safe() -> None:
    off = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"
    shape = read_upload(off, "../../etc/<b>my shape</b>.OFF")
    assert shape.mesh is not None
    assert set(shape.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@pytest.mark.parametrize(
    ("content", "name"), [(b"", "a.off"), (b"junk", "a.ply"), (b"x", "a.exe"), (b"x", "noending")]
)
def test_a_bad_upload_is_refused_with_a_sentence(content: bytes, name: str) -> None:
    with pytest.raises(TpcError):
        read_upload(content, name)


def test_an_upload_is_its_visitors_own_and_the_oldest_make_room() -> None:
    off = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"
    shape, store = read_upload(off, "a.off"), Uploads(kept=2)
    specs = [store.put("me", content, shape) for content in (b"1", b"2", b"3")]
    assert [store.get("me", spec) for spec in specs] == [None, shape, shape]
    assert store.get("you", specs[-1]) is None
    store.sweep({"you"}.__contains__)
    assert store.get("me", specs[-1]) is None


@dataclass(frozen=True)
class _Ended:
    """What a run that has ended says of its speed."""

    request: Any
    samples: int
    seconds: float
    earlier: int = 0
    live: bool = False


def test_the_next_run_is_expected_to_be_as_fast_as_the_last_one(sure, cloud) -> None:
    request = SimpleNamespace(model=sure, cloud=cloud)
    remember_rate(_Ended(request, 4096, 2.0))  # type: ignore[arg-type]
    assert votes_per_second(sure, cloud) == 2048
    remember_rate(_Ended(request, 64, 60.0))  # type: ignore[arg-type]  # too short to say anything
    remember_rate(_Ended(request, 4096, 60.0, live=True))  # type: ignore[arg-type]  # not over yet
    assert votes_per_second(sure, cloud) == 2048


def test_a_page_does_not_wait_for_the_speed_of_a_busy_machine(engine: LocalEngine, monkeypatch) -> None:
    """The estimate says its votes at once, and its seconds when they are known."""
    monkeypatch.setattr(estimates, "engine", lambda: engine)
    speeds, key = estimates._Speeds(), ("a model", 64)
    assert speeds.within(0.0, key, Call(float, (2048,))) is None
    assert in_words(Estimate(1, 64), None, "cpu") == "About 64 votes. The speed is being measured."
    assert speeds.within(None, key, Call(float, (2048,))) == 2048
    assert speeds.within(0.0, key, Call(float, (1,))) == 2048  # measured already


def test_a_measurement_that_failed_is_made_again(engine: LocalEngine, monkeypatch) -> None:
    monkeypatch.setattr(estimates, "engine", lambda: engine)
    speeds, key = estimates._Speeds(), ("a model", 64)
    with pytest.raises(TpcError):
        speeds.within(None, key, Call(float, ("no number",)))
    assert speeds.within(None, key, Call(float, (3,))) == 3


def test_the_estimate_for_parts_is_a_limit_that_the_run_keeps() -> None:
    """It said 64 votes, and the run took 2,176: the hardest point decides, and nobody knows it beforehand."""
    model, cloud = load_model("segmentation64-z-shear"), load_object("gallery:airplane-1", points=64)
    said = estimate(model, cloud, "z-shear", 0.2)
    assert said.at_most
    taken = certify(model, cloud, "z-shear", 0.2).samples
    assert said.samples is not None
    assert taken <= said.samples
