"""What a server and the processes that it started take: memory and processor time, read from /proc."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

_PAGE = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for place in found:
        try:
            tasks = list(Path(f"/proc/{place}/task").iterdir())
            found += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            continue  # it has ended meanwhile
    return found


def megabytes(pid: int) -> float:
    """Memory of a process and its descendants; what they share is counted once."""
    total = 0
    for member in family(pid):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return total / 1024


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _PAGE


@dataclass
class Meter:
    """Looks at the memory of a server again and again."""

    pid: int
    every: float = 2.0
    seen: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.look()

    def look(self) -> float:
        """How much it is now."""
        self.seen.append(megabytes(self.pid))
        return self.seen[-1]

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(self.every)
            self.look()

    @property
    def first(self) -> float:
        return self.seen[0]

    @property
    def largest(self) -> float:
        return max(self.seen)

    @property
    def last(self) -> float:
        return self.seen[-1]
