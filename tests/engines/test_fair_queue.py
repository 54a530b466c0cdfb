"""Turns are fair between owners, however much each of them wants."""

from __future__ import annotations

from tpc_core.engines.fair_queue import IDLE, PROMPT, USUAL, FairQueue, Waiting


def queue_of(*entries: tuple[str, str, int]) -> FairQueue:
    made = FairQueue()
    for key, owner, rank in entries:
        made.push(Waiting(key, owner, rank))
    return made


def taken(queue: FairQueue) -> list[object]:
    keys = []
    while (entry := queue.take()) is not None:
        keys.append(entry.key)
    return keys


def test_owners_take_turns_whoever_asked_more() -> None:
    queue = queue_of(("a1", "a", USUAL), ("a2", "a", USUAL), ("a3", "a", USUAL), ("b1", "b", USUAL))
    assert [queue.position(key) for key in ("a1", "b1", "a2", "a3")] == [1, 2, 3, 4]
    assert taken(queue) == ["a1", "b1", "a2", "a3"]


def test_positions_are_the_order_in_which_turns_come() -> None:
    queue = queue_of(*((f"{owner}{n}", owner, USUAL) for n in range(3) for owner in "abc"))
    for _ in range(9):
        first = queue.order()[0].key
        assert queue.position(first) == 1
        entry = queue.take()
        assert entry is not None
        assert entry.key == first
        assert queue.position(first) == 0


def test_what_a_person_waits_for_goes_first_and_what_nobody_asked_for_last() -> None:
    queue = queue_of(("band", "a", IDLE), ("run", "b", USUAL), ("open", "b", PROMPT))
    assert taken(queue) == ["open", "run", "band"]


def test_who_was_served_last_waits_for_the_others() -> None:
    queue = queue_of(("a1", "a", USUAL), ("b1", "b", USUAL))
    assert queue.take().key == "a1"  # type: ignore[union-attr]
    queue.push(Waiting("a1", "a"))
    assert taken(queue) == ["b1", "a1"]


def test_only_what_fits_is_taken() -> None:
    queue = queue_of(("a1", "a", USUAL), ("b1", "b", USUAL))
    assert queue.take(lambda entry: entry.owner == "b").key == "b1"  # type: ignore[union-attr]
    assert queue.take(lambda entry: entry.owner == "b") is None
    queue.remove("a1")
    assert len(queue) == 0
