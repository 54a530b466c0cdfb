"""Workers that have nothing to do cast votes for one that has: a single run uses all cores.

A vote is the same whoever casts it (its noise and the shape of its pass are fixed), so only the pace depends on this.
"""

from __future__ import annotations

import itertools
import queue
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tpc_core.engines.messages import Help, Helped, Message
from tpc_core.engines.parcels import Shelf, pack
from tpc_core.engines.wire import from_bytes, to_bytes
from tpc_core.votes import Ballot, Block, Counts, Voter

_AHEAD = 2
"""Parts that a helper has at a time: one at work, one on its way."""

_PATIENCE = 60.0
"""Seconds until a part that nobody sent back is cast here."""

_VOTERS = 8


class Lead:
    """The side of the worker that leads a run: it hands out blocks of votes, and casts the rest itself."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self.helpers = 0
        self._send = send
        self._numbers = itertools.count(1)
        self._inboxes: dict[int, queue.SimpleQueue[Helped]] = {}
        self._packed: OrderedDict[int, tuple[Voter, bytes]] = OrderedDict()

    def helped(self, message: Helped) -> None:
        inbox = self._inboxes.pop(message.number, None)
        if inbox is not None:  # else it came too late, and was cast here meanwhile
            inbox.put(message)

    def count(self, voter: Voter, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        """The votes (blocks, classes) of all blocks: one after the other from the front here, parts of the end away."""
        if voter.in_passes or not self.helpers or len(blocks) < 2:
            return voter.count_here(ballots, blocks)
        spec = self._spec(voter)
        todo, away = deque(range(len(blocks))), dict[int, list[int]]()
        counts: dict[int, Counts] = {}
        inbox: queue.SimpleQueue[Helped] = queue.SimpleQueue()
        while todo:
            while self.helpers and len(todo) > 1 and len(away) < _AHEAD * self.helpers:
                size = max(1, len(todo) // (2 * (self.helpers + 1)))
                part = [todo.pop() for _ in range(size)]
                number = next(self._numbers)
                away[number], self._inboxes[number] = part, inbox
                self._send(Help(number, spec, _asked(ballots, [blocks[index] for index in part])))
            index = todo.popleft()
            counts[index] = voter.count_here(ballots, [blocks[index]])[0]
            while away and (not todo or not inbox.empty()):
                self._take(inbox, away, counts, todo)
        return np.stack([counts[index] for index in range(len(blocks))])

    def _take(
        self,
        inbox: queue.SimpleQueue[Helped],
        away: dict[int, list[int]],
        counts: dict[int, Counts],
        todo: deque[int],
    ) -> None:
        """One part that came back; what nobody cast is cast here."""
        try:
            message = inbox.get(timeout=_PATIENCE)
        except queue.Empty:
            for number, part in away.items():
                self._inboxes.pop(number, None)
                todo.extend(part)
            away.clear()
            return
        part = away.pop(message.number, [])  # none: it came too late, and was cast here meanwhile
        if not part:
            return
        if message.counts is None:
            todo.extend(part)
        else:
            counts |= zip(part, from_bytes(message.counts), strict=True)

    def _spec(self, voter: Voter) -> bytes:
        """A voter as another worker makes it."""
        known = self._packed.get(id(voter))
        if known is None or known[0] is not voter:
            spec, _ = pack((voter.base, voter.smoothing, voter.seed, str(voter.device)))
            known = self._packed[id(voter)] = (voter, spec)
            while len(self._packed) > _VOTERS:
                self._packed.popitem(last=False)
        return known[1]


def _asked(ballots: Sequence[Ballot], blocks: Sequence[Block]) -> bytes:
    """Some blocks of some ballots, and the clouds that they are about."""
    which = sorted({block.which for block in blocks})
    clouds = [(ballots[i].points.numpy(), ballots[i].stream) for i in which]
    rows = [(which.index(b.which), b.index, b.first, b.last) for b in blocks]
    return to_bytes((clouds, rows))


class Helper:
    """The side of the worker that helps: it keeps the voters of late."""

    def __init__(self) -> None:
        self._voters: OrderedDict[bytes, Voter] = OrderedDict()

    def open(self, message: Help, shelf: Shelf) -> tuple[Voter, Any]:
        """The voter, made if need be, and what it is asked for; Lacking where its model is not here."""
        voter = self._voters.get(message.voter)
        if voter is None:
            base, smoothing, seed, device = shelf.unpack(message.voter)
            voter = Voter(base, smoothing, seed=seed, device=torch.device(device))
            self._voters[message.voter] = voter
            while len(self._voters) > _VOTERS:
                self._voters.popitem(last=False)
        return voter, from_bytes(message.blocks)

    def count(self, voter: Voter, content: Any) -> bytes | None:
        """The votes, or None where they could not be cast: the lead will see why."""
        clouds, rows = content
        try:
            ballots = [Ballot(torch.from_numpy(points), stream, 0, 0) for points, stream in clouds]
            counts = voter.count_here(ballots, [Block(*row) for row in rows])
        except Exception:
            return None
        return to_bytes(list(counts))
