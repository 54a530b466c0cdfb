"""Who may start a run when many want to: nobody is shut out by one person under many names.

Names cost nothing, so a limit for each of them is none. Runs are counted by machine as well; whoever has left gives way
first, and then whoever has most to somebody who has less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tpc_core.errors import TpcError

PER_VISITOR, IN_ALL = 3, 24
PER_MACHINE = IN_ALL - 2 * PER_VISITOR
"""A class may sit behind one address; there is still room for two visitors from elsewhere."""


class TooManyJobs(TpcError):
    """This visitor, or all together, have as much under way as the process allows."""


@dataclass(frozen=True)
class Held:
    """A run under way: its number, whose it is, and whether they are still here."""

    number: str
    visitor: str
    machine: str
    present: bool = True


def makes_room(held: Sequence[Held], visitor: str, machine: str) -> str | None:
    """The run that has to give way to a new one of this visitor; None where there is room. `held`: the oldest first.

    TooManyJobs where the visitor has enough, or where everybody has as little as they would have.
    """
    mine = sum(run.visitor == visitor for run in held)
    if mine >= PER_VISITOR:
        raise TooManyJobs(f"you have {mine} runs under way; cancel one, or wait until one ends")
    here = [run for run in held if run.machine == machine]
    if len(held) < IN_ALL and len(here) < PER_MACHINE:
        return None
    among = held if len(held) >= IN_ALL else here
    gone = [run for run in among if not run.present]
    if gone:
        return gone[0].number
    machines = Counter(run.machine for run in among)
    crowded = [run for run in among if machines[run.machine] == max(machines.values())]
    visitors = Counter(run.visitor for run in crowded)
    most = max(visitors.values())
    if most <= mine + 1:
        raise TooManyJobs(f"{len(held)} runs are under way here; try again in a while")
    return next(run.number for run in reversed(crowded) if visitors[run.visitor] == most)
