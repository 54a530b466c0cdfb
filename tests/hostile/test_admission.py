"""Runs are shared fairly: nobody is shut out by one person under many names, or by people who have left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.server.jobs import RESTS_AFTER, Job, JobBoard, TooManyJobs
from app.server.jobs.admission import IN_ALL, PER_MACHINE, PER_VISITOR, Held, makes_room
from app.server.jobs.views import Request
from app.server.visitors import Visitors
from tests.certificate.made import QUESTIONS
from tests.engines.models import Endless, shared_engine
from tpc_core import Question
from tpc_core.engines import PROMPT


def crowd(*groups: tuple[str, str, int]) -> list[Held]:
    """Runs by visitor, machine and how many."""
    runs = [(visitor, machine) for visitor, machine, count in groups for _ in range(count)]
    return [Held(str(number), visitor, machine) for number, (visitor, machine) in enumerate(runs)]


def test_there_is_room_for_a_class() -> None:
    """Everybody in a class behind one address has a run."""
    held: list[Held] = []
    for number in range(PER_MACHINE):
        assert makes_room(held, f"student{number}", "school") is None
        held.append(Held(str(number), f"student{number}", "school"))


def test_a_visitor_has_no_more_than_one_may() -> None:
    with pytest.raises(TooManyJobs, match=f"you have {PER_VISITOR}"):
        makes_room(crowd(("me", "a", PER_VISITOR)), "me", "a")


def test_nine_names_of_one_machine_leave_room_for_others() -> None:
    names = [(f"fake{n}", "attacker", 2) for n in range(PER_MACHINE // 2)]
    held = crowd(*names)
    assert len(held) == PER_MACHINE
    assert makes_room(held, "honest", "class") is None
    with pytest.raises(TooManyJobs):
        makes_room(crowd(*((f"fake{n}", "attacker", 1) for n in range(PER_MACHINE))), "another", "attacker")


def test_an_honest_visitor_of_the_same_machine_gets_in_where_others_have_more() -> None:
    held = crowd(*((f"fake{n}", "school", 3) for n in range(6)))
    number = makes_room(held, "honest", "school")
    assert number == held[-1].number  # the newest of those who have most


def test_who_has_left_gives_way_first() -> None:
    held = crowd(*((f"v{n}", f"m{n}", 3) for n in range(8)))
    assert len(held) == IN_ALL
    held[5] = replace(held[5], present=False)
    assert makes_room(held, "honest", "m99") == held[5].number


def test_nobody_who_has_little_loses_it_to_somebody_who_has_as_much() -> None:
    held = crowd(*((f"v{n}", f"m{n}", 1) for n in range(IN_ALL)))
    with pytest.raises(TooManyJobs, match="try again"):
        makes_room(held, "late", "m99")


def test_of_two_machines_the_one_with_more_runs_gives_way() -> None:
    held = crowd(*((f"fake{n}", "attacker", 2) for n in range(8)), *((f"s{n}", "class", 2) for n in range(4)))
    assert len(held) == IN_ALL
    number = makes_room(held, "honest", "class")
    assert next(run.machine for run in held if run.number == number) == "attacker"


def test_visitors_without_a_name_count_as_one_for_each_machine() -> None:
    register = Visitors()
    for number in range(9):
        register.note(f"session{number}", f"session{number}", "10.0.0.7", named=False)
    register.note("named", "tab", "10.0.0.7")
    assert len({register.whose(f"session{n}") for n in range(9)}) == 1
    assert register.whose("named") == ("named", "10.0.0.7")


# -- with runs that run --------------------------------------------------------------------------------------------


def endless() -> Request:
    """A question that takes longer than the test."""
    model, cloud, transform, radius, options = QUESTIONS["cover"]()
    return Request("slow", Question.of(model.name, "", len(cloud), transform, radius, options), model, cloud)


@pytest.fixture
def board() -> Iterator[JobBoard]:
    """A board on which nobody's turn comes: the one worker is busy with something that goes before all runs."""
    away: set[str] = set()
    engine = shared_engine()
    busy = engine.submit(Endless(), rank=PROMPT)
    made = JobBoard(
        engine,
        whose=lambda owner: (owner, owner.partition("@")[2]),
        present=lambda owner: owner not in away,
    )
    made.away = away  # type: ignore[attr-defined]
    yield made
    for job in made.live_jobs():
        job.cancel()
        job.join(30)
    busy.cancel()
    assert busy.join(30)


def paused(board: JobBoard, owner: str) -> Job:
    """A run that stays under way for as long as the test wants it to."""
    job = board.submit(owner, endless())
    job.pause()
    return job


def test_an_honest_visitor_gets_in_though_all_places_are_taken(board: JobBoard) -> None:
    taken = [paused(board, f"fake{n}@m{n % 4}") for n in range(8) for _ in range(3)]
    assert len(board.live_jobs()) == IN_ALL
    mine = board.submit("honest@class", endless())
    assert mine.live
    assert len(board.live_jobs()) == IN_ALL
    assert sum(not job.live for job in taken) == 1


def test_the_runs_of_who_has_left_rest_and_go_on_when_they_are_back(board: JobBoard) -> None:
    job = board.submit("me@a", endless())
    start = time.monotonic()
    board.sweep(lambda owner: False, start)
    assert job.view().status == "queued"
    board.sweep(lambda owner: False, start + RESTS_AFTER + 1)
    _until(lambda: job.view().status == "paused")
    board.sweep(lambda owner: True, start + RESTS_AFTER + 2)
    _until(lambda: job.view().status == "queued")


def test_a_run_that_its_visitor_paused_is_not_set_going_by_a_reload(board: JobBoard) -> None:
    job = paused(board, "me@a")
    _until(lambda: job.view().status == "paused")
    start = time.monotonic()
    board.sweep(lambda owner: False, start)
    board.sweep(lambda owner: False, start + RESTS_AFTER + 1)
    board.sweep(lambda owner: True, start + RESTS_AFTER + 2)
    time.sleep(0.3)
    assert job.view().status == "paused"


def test_who_left_does_not_hold_a_place(board: JobBoard) -> None:
    for number in range(8):
        for _ in range(3):
            paused(board, f"v{number}@m{number}")
    board.away.add("v3@m3")  # type: ignore[attr-defined]
    assert board.submit("honest@class", endless()).live
    assert sum(job.owner == "v3@m3" for job in board.live_jobs()) == 2


def _until(true: object, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)
