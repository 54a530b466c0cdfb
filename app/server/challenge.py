"""Rooms for a class: who finds the smallest attack on one object. In memory, bounded, anonymous, gone after a day."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from tpc_core.errors import TpcError, UnknownName

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels: no code is a word."""
CODE = 4
ROOMS = 200
PLAYERS = 120
ROOMS_OF_ONE = 4
"""Rooms of one visitor; a fifth takes the place of one of them."""
LONGEST_NAME = 20
FORGOTTEN_AFTER = 24 * 3600.0
IN_PLAY = 300.0
"""Seconds after an attack during which a room is not closed for another."""
PAUSE = 1.0
"""Seconds between two submissions of one visitor."""


class TooFast(TpcError):
    """A visitor submits faster than a hand can."""


class RoomIsFull(TpcError):
    """No more players, or no more rooms, than the server keeps."""


@dataclass(frozen=True)
class Entry:
    """The best attack of one player."""

    name: str
    size: float
    values: tuple[float, ...]
    says: str


Whose = tuple[str, str]
"""The name under which a visitor is counted, and their machine."""


@dataclass
class Room:
    """One object, one transform, and the best attack of each player."""

    code: str
    object: str
    opened: float
    owner: Whose
    entries: dict[str, Entry] = field(default_factory=dict)
    machines: dict[str, str] = field(default_factory=dict)
    """Where each player plays."""
    _last: dict[str, float] = field(default_factory=dict)

    @property
    def moved(self) -> float:
        """When the room was opened, or somebody last submitted an attack."""
        return max([self.opened, *self._last.values()])

    def last(self, visitor: str) -> float | None:
        """When a player last submitted an attack."""
        return self._last.get(visitor)

    def note(self, visitor: str, machine: str, now: float) -> None:
        """A player submits an attack."""
        self._last[visitor] = now
        self.machines[visitor] = machine

    def make_room(self, machine: str, size: float) -> None:
        """Let an attack in where all places are taken: for the largest one from the machine that has most.

        RoomIsFull where the newcomer's machine has as many, and the new attack is no smaller.
        """
        if len(self.entries) < PLAYERS:
            return
        counts = Counter(self.machines[visitor] for visitor in self.entries)
        crowd = max(counts, key=lambda name: counts[name])
        theirs = [visitor for visitor in self.entries if self.machines[visitor] == crowd]
        going = max(theirs, key=lambda visitor: self.entries[visitor].size)
        if counts[machine] + 1 >= counts[crowd] and size >= self.entries[going].size:
            raise RoomIsFull(f"this room has {PLAYERS} players, and no place for more")
        del self.entries[going], self.machines[going], self._last[going]


class Rooms:
    """All rooms of the server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, Room] = {}

    def open(self, spec: str, owner: Whose = ("", "")) -> str:
        """A new room for an object; its code."""
        with self._lock:
            self._forget()
            mine = [room for room in self._rooms.values() if room.owner == owner]
            if len(mine) >= ROOMS_OF_ONE:
                self._close(mine)
            elif len(self._rooms) >= ROOMS:
                counts = Counter(room.owner[1] for room in self._rooms.values())
                crowd = max(counts, key=lambda name: counts[name])
                self._close([room for room in self._rooms.values() if room.owner[1] == crowd])
            code = self._new_code()
            self._rooms[code] = Room(code, spec, self._clock(), owner)
            return code

    def object_of(self, code: str) -> str:
        """The object of a room; UnknownName where there is no such room."""
        with self._lock:
            return self._room(code).object

    def submit(
        self,
        code: str,
        visitor: str,
        name: str,
        size: float,
        values: tuple[float, ...],
        says: str,
        machine: str = "",
    ) -> bool:
        """Keep an attack that was checked; True where it is the player's best so far."""
        with self._lock:
            room, now = self._room(code), self._clock()
            last = room.last(visitor)
            if last is not None and now - last < PAUSE:
                raise TooFast("please wait a second before the next attack")
            if visitor not in room.entries:
                room.make_room(machine, size)
            room.note(visitor, machine, now)
            before = room.entries.get(visitor)
            better = before is None or size < before.size
            if better:
                said = clean_name(name) or (
                    before.name if before is not None else f"Player {len(room.entries) + 1}"
                )
                room.entries[visitor] = Entry(said, size, values, says)
            return better

    def rests(self, code: str) -> float:
        """Seconds since the room was opened, or since somebody last submitted an attack."""
        with self._lock:
            return self._clock() - self._room(code).moved

    def ranking(self, code: str) -> list[Entry]:
        """The best attacks, smallest first."""
        with self._lock:
            return sorted(self._room(code).entries.values(), key=lambda entry: entry.size)

    def _close(self, rooms: list[Room]) -> None:
        """Close one of these rooms: of whoever has most, the one that has rested for longest.

        A room in which somebody has just played stays; RoomIsFull where all are so.
        """
        now = self._clock()
        idle = [room for room in rooms if not room.entries or now - room.moved >= IN_PLAY]
        if not idle:
            raise RoomIsFull("there are too many rooms; try again in a few minutes")
        counts = Counter(room.owner for room in rooms)
        going = min(idle, key=lambda room: (-counts[room.owner], room.moved))
        del self._rooms[going.code]

    def _room(self, code: str) -> Room:
        self._forget()
        room = self._rooms.get(code.strip().upper())
        if room is None:
            raise UnknownName("there is no room with this code; rooms are closed after a day")
        return room

    def _forget(self) -> None:
        now = self._clock()
        old = [code for code, room in self._rooms.items() if now - room.opened > FORGOTTEN_AFTER]
        for code in old:
            del self._rooms[code]

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(LETTERS) for _ in range(CODE))
            if code not in self._rooms:
                return code


def clean_name(name: str) -> str:
    """A name as it may be shown: printable, without blanks around it, short. Pages escape it as well."""
    return "".join(letter for letter in name if letter.isprintable()).strip()[:LONGEST_NAME].strip()


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """The rooms of this server."""
    return Rooms()
