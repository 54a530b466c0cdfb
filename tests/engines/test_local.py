"""Worker processes: what they give is what this process would give, and one that dies costs a restart."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.certificate.made import QUESTIONS
from tests.engines.models import Broken, Endless, Gate, Gated, shared_engine, until
from tests.faults.slow import slow_question
from tpc_core import CoordinateSmoothing, Question, load_model, load_object
from tpc_core.certify import Budget, Done, VotesCounted, certify
from tpc_core.engines import (
    IDLE,
    PROMPT,
    Call,
    Inline,
    InlineEngine,
    Kept,
    LocalEngine,
    Report,
    Restarted,
    WorkerLost,
    WorkFailed,
)
from tpc_core.engines.messages import PROTOCOL, Hello, OtherVersion, decode, encode
from tpc_core.engines.parcels import Lacking, Shelf, pack
from tpc_core.errors import InvalidValue
from tpc_core.runs import Begun, CertifyWork
from tpc_core.votes import BLOCK, Voter

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pair() -> Iterator[LocalEngine]:
    """Two workers."""
    with LocalEngine(2) as engine:
        yield engine


def work_of(kind: str) -> CertifyWork:
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    return CertifyWork(
        Question.of(model.name, cloud.name, len(cloud), transform, radius, options), model, cloud
    )


def certificate_of(messages: Iterator[Any]) -> Any:
    (done,) = [message for message in messages if isinstance(message, Done)]
    return done.certificate


@pytest.mark.parametrize(
    "kind", ["cover", "cover refuted", "grid", "group", "points", "parameter largest", "l2"]
)
def test_a_certificate_of_a_worker_is_the_one_of_this_process(pair: LocalEngine, kind: str) -> None:
    work = work_of(kind)
    question = work.question
    made = certificate_of(pair.submit(work).messages())
    here = certify(work.model, work.cloud, question.transform, question.radius, question.options)
    assert made.ledger == here.ledger
    assert made.sentence == here.sentence


def test_a_shipped_model_is_found_by_its_digest_and_helped_with(pair: LocalEngine) -> None:
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64)
    question = Question.of(model.name, "gallery:chair-1", 64, "z-taper+z-rotation", "taper=0.1,rotation=8")
    made = certificate_of(pair.submit(CertifyWork(question, model, cloud)).messages())
    assert made.ledger == certify(model, cloud, question.transform, question.radius).ledger


def test_a_model_that_no_disk_has_is_sent(pair: LocalEngine) -> None:
    model = load_model("pointnet64-noise")
    module = copy.deepcopy(model.module)
    card = model.card.model_copy(update={"sha256": "f" * 64})
    mine = replace(model, card=card, module=module)
    (report,) = pair.submit(Call(_digest_and_name, (mine,))).messages()
    assert report == Report((mine.digest, mine.name), part=1.0)


def _digest_and_name(model: Any) -> tuple[str, str]:
    return model.digest, model.name


def test_messages_come_in_order_and_end(pair: LocalEngine) -> None:
    heard = [m for m in pair.submit(Endless(last=300, pause=0.0)).messages() if not isinstance(m, Kept)]
    assert heard == list(range(1, 301))
    bench = Inline()
    assert list(Endless(last=3, pause=0.0).run(bench)) == [1, 2, 3]
    assert [kept.state for kept in bench.said()] == [b"1", b"2", b"3"]
    assert [m for m in InlineEngine().stream([Endless(last=3)]) if not isinstance(m, Kept)] == [1, 2, 3]


def test_work_is_cancelled_before_and_after_it_began(pair: LocalEngine) -> None:
    running = [pair.submit(Endless()) for _ in range(2)]
    waiting = pair.submit(Endless())
    until(lambda: all(handle.status == "running" for handle in running))
    assert waiting.position == 1
    waiting.cancel()
    assert waiting.join(1)
    for handle in running:
        handle.cancel()
        assert handle.join(30)
        assert handle.cancelled


def test_a_paused_work_leaves_its_worker_to_others() -> None:
    engine = shared_engine()
    first = engine.submit(Endless())
    until(lambda: first.status == "running")
    first.pause()
    until(lambda: first.status == "paused")
    assert [m.result for m in engine.submit(Call(sum, ([1, 2],))).messages()] == [3]
    assert first.status == "paused"
    first.resume()
    until(lambda: first.status == "running")
    first.cancel()
    assert first.join(30)


def test_turns_go_round_and_what_is_prompt_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = shared_engine()
    monkeypatch.setattr(engine, "quantum", 0.02)
    turns: list[str] = []
    handles = [
        engine.submit(Endless(last=60), owner=owner, listener=lambda _, owner=owner: turns.append(owner))
        for owner in "abc"
    ]
    prompt = engine.submit(Call(sum, ([1],)), rank=PROMPT)
    assert prompt.join(30)
    assert any(handle.status != "ended" for handle in handles)
    for handle in handles:
        assert handle.join(60)
    changes = sum(before != after for before, after in itertools.pairwise(turns))
    assert changes > 6  # one after the other would be two


def test_what_may_wait_leaves_its_worker_to_a_run_of_its_own_asker(pair: LocalEngine) -> None:
    """A visitor's finer map would take the worker that could cast half of the votes of their certificate."""
    idle = pair.submit(Endless(), owner="ada", rank=IDLE)
    others = pair.submit(Endless(), owner="bob", rank=IDLE)
    until(lambda: idle.status == others.status == "running")
    run = pair.submit(Endless(), owner="ada")
    until(lambda: run.status == "running" and idle.status == "waiting")
    until(lambda: others.status == "running")  # somebody else's may go on
    run.cancel()
    until(lambda: idle.status == "running")
    for handle in (idle, others):
        handle.cancel()
        assert handle.join(30)


def test_a_killed_worker_costs_its_work_a_restart_and_others_nothing(pair: LocalEngine) -> None:
    first, second = pair.submit(Endless(last=150)), pair.submit(Endless(last=150))
    until(lambda: first.status == second.status == "running" and first.kept is not None)
    os.kill(first.worker.link.process.pid, signal.SIGKILL)  # type: ignore[union-attr]
    heard = [m for m in first.messages() if not isinstance(m, Kept)]
    (restart,) = [m for m in heard if isinstance(m, Restarted)]
    assert restart.kept
    at = heard.index(restart)
    assert heard[at + 1] > 1  # it goes on from what was kept, not from the beginning
    assert heard[-1] == 150
    assert not any(isinstance(m, Restarted) for m in second.messages())
    assert second.error is None


def test_a_certificate_whose_worker_is_killed_is_the_same_certificate(pair: LocalEngine) -> None:
    model, cloud, transform, radius, options = slow_question("many cells of rotations", pause=0.02)
    question = Question.of(model.name, cloud.name, len(cloud), transform, radius, options)
    handle = pair.submit(CertifyWork(question, model, cloud))
    killed, begun = False, []
    certificate = None
    for message in handle.messages():
        if isinstance(message, Kept) and not killed:
            killed = True
            os.kill(handle.worker.link.process.pid, signal.SIGKILL)  # type: ignore[union-attr]
        elif isinstance(message, Begun):
            begun.append(message.samples)
        elif isinstance(message, Done):
            certificate = message.certificate
    assert killed
    assert certificate is not None
    assert len(begun) == 2
    here = certify(*slow_question("many cells of rotations"))
    assert certificate.sentence == here.sentence
    assert certificate.ledger == here.ledger


def test_votes_that_were_kept_are_not_cast_again() -> None:
    """What the kept votes lack is cast, and not one vote more; the ledger is that of an undisturbed run."""
    model, cloud, transform, radius, options = QUESTIONS["cover"]()
    here = certify(model, cloud, transform, radius, options)
    half = replace(options, budget=Budget(samples=here.samples // 64 * 32))
    kept = certify(model, cloud, transform, radius, half)
    assert 0 < kept.samples < here.samples
    question = Question.of(model.name, cloud.name, len(cloud), transform, radius, options)
    cast, counted = 0, Voter.count_here

    def count(self: Voter, ballots: Any, blocks: Any) -> Any:
        nonlocal cast
        cast += BLOCK * len(blocks)
        return counted(self, ballots, blocks)

    work = CertifyWork(question, model, cloud).going_on(kept.to_json().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Voter, "count_here", count)
        *_, last = InlineEngine().stream([work])
    assert isinstance(last, Done)
    assert last.certificate.ledger == here.ledger
    assert cast == here.samples - kept.samples


def test_work_that_kills_every_worker_is_given_up(pair: LocalEngine) -> None:
    with pytest.raises(WorkerLost, match="ended while they did this work"):
        list(pair.submit(Call(os.abort, ())).messages())
    assert [m.result for m in pair.submit(Call(sum, ([1],))).messages()] == [1]


def test_a_helper_that_dies_costs_nothing_but_time(pair: LocalEngine, tmp_path: Path) -> None:
    model, cloud, transform, radius, options = QUESTIONS["cover"]()
    gate = Gate(tmp_path / "gate")
    gated = Gated(model, gate)
    question = Question.of(model.name, cloud.name, len(cloud), transform, radius, options)
    until(lambda: sum(worker.greeted for worker in pair.crew) == 2)  # the test before may have killed one
    handle = pair.submit(CertifyWork(question, gated, cloud))
    gate.feed(lambda: any(worker.helping for worker in pair.crew))
    (helper,) = [worker for worker in pair.crew if worker.helping]
    os.kill(helper.link.process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    gate.let(1_000_000)
    made = certificate_of(handle.messages())
    assert made.ledger == certify(model, cloud, transform, radius, options).ledger


def test_an_error_on_purpose_is_itself_and_a_mistake_is_told(pair: LocalEngine) -> None:
    with pytest.raises(InvalidValue, match="positive"):
        list(pair.submit(Call(_refuse, ())).messages())
    smoothing = CoordinateSmoothing(0.1)
    cloud = load_object("gallery:chair-1", points=32)
    question = Question.of("broken", "x", 32, "z-taper", 0.2)
    with pytest.raises(WorkFailed, match="no such kernel"):
        list(pair.submit(CertifyWork(question, Broken(smoothing), cloud)).messages())


def _refuse() -> None:
    raise InvalidValue("a radius is a positive number")


def test_what_cannot_travel_is_refused_at_once(pair: LocalEngine) -> None:
    with pytest.raises(InvalidValue, match="cannot be sent"):
        pair.submit(Call(lambda: 1, ()))


def test_no_worker_is_no_engine() -> None:
    with pytest.raises(InvalidValue):
        LocalEngine(0)


def test_another_version_is_refused_with_a_sentence() -> None:
    assert decode(encode(Hello("1", 2))) == Hello("1", 2)
    with pytest.raises(OtherVersion, match="install one version"):
        decode(pickle.dumps((PROTOCOL + 1, "anything")))
    with LocalEngine(1) as engine:
        handle = engine.submit(Endless())
        (worker,) = engine.crew
        engine.received(worker.link, encode(Hello("0.0.1", 1)))
        with pytest.raises(OtherVersion, match=r"version 0\.0\.1"):
            list(handle.messages())


def test_a_killed_parent_leaves_no_workers() -> None:
    code = (
        "from tpc_core.engines import LocalEngine, Call\n"
        "import time\n"
        "engine = LocalEngine(2)\n"
        "list(engine.submit(Call(sum, ([1],))).messages())\n"
        "print(*engine.processes, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(number) for number in process.stdout.readline().split()]
    assert len(workers) == 2
    process.kill()
    process.wait()
    until(lambda: not any(_alive(worker) for worker in workers), 20)


def _alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_votes_are_told_while_they_are_cast(pair: LocalEngine) -> None:
    heard = list(pair.submit(work_of("l2")).messages())
    assert isinstance(heard[0], Begun)
    assert sum(isinstance(message, VotesCounted) for message in heard) > 0
    assert isinstance(heard[-1], Done)


def test_a_worker_keeps_variants_of_one_network_apart() -> None:
    """Two smoothings of one network are one function h, and two questions: neither is answered for the other."""
    shelf = Shelf()
    plain = load_model("pointnet64-noise")
    twisted = load_model("pointnet64-noise@z-twist:20")
    renamed = replace(plain, card=plain.card.model_copy(update={"classes": plain.classes[::-1]}))
    assert plain.digest == twisted.digest == renamed.digest
    for model in (plain, twisted, plain):
        found = shelf.unpack(pack(model)[0])
        assert (found.name, found.smoothing) == (model.name, model.smoothing)
    parcel, models = pack([plain, twisted, renamed])
    assert len(models) == 3
    with pytest.raises(Lacking) as lacking:
        shelf.unpack(parcel)
    shelf.put(lacking.value.key, pickle.dumps(models[lacking.value.key]))
    assert [model.classes for model in shelf.unpack(parcel)] == [
        plain.classes,
        plain.classes,
        renamed.classes,
    ]
