"""Rooms for a class: who finds the smallest attack on one object. In memory, bounded, anonymous, gone after a day."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from tpc_core.errors import TpcError, UnknownName

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels: no code is a word."""
CODE = 4
ROOMS = 200
PLAYERS = 120
LONGEST_NAME = 20
FORGOTTEN_AFTER = 24 * 3600.0
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


@dataclass
class Room:
    """One object, one transform, and the best attack of each player."""

    code: str
    object: str
    opened: float
    entries: dict[str, Entry] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)


class Rooms:
    """All rooms of the server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, Room] = {}

    def open(self, spec: str) -> str:
        """A new room for an object; its code."""
        with self._lock:
            self._forget()
            if len(self._rooms) >= ROOMS:
                raise RoomIsFull("there are too many rooms on this server; try again tomorrow")
            code = self._new_code()
            self._rooms[code] = Room(code, spec, self._clock())
            return code

    def object_of(self, code: str) -> str:
        """The object of a room; UnknownName where there is no such room."""
        with self._lock:
            return self._room(code).object

    def submit(
        self, code: str, visitor: str, name: str, size: float, values: tuple[float, ...], says: str
    ) -> bool:
        """Keep an attack that was checked; True where it is the player's best so far."""
        with self._lock:
            room, now = self._room(code), self._clock()
            if now - room._last.get(visitor, -PAUSE) < PAUSE:
                raise TooFast("please wait a second before the next attack")
            if visitor not in room.entries and len(room.entries) >= PLAYERS:
                raise RoomIsFull(f"this room has {PLAYERS} players, and no place for more")
            room._last[visitor] = now
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
            room = self._room(code)
            return self._clock() - max([room.opened, *room._last.values()])

    def ranking(self, code: str) -> list[Entry]:
        """The best attacks, smallest first."""
        with self._lock:
            return sorted(self._room(code).entries.values(), key=lambda entry: entry.size)

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
