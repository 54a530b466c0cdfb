"""A crew of threads: independent pieces of work, one core each.

Splitting every matrix product over the cores makes them wait for each other dozens of times per block, and one
busy core stalls all. Whole blocks on single threads never wait, and their results do not depend on how many
threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def share_out(work: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
    """The answers in order, from as many threads as torch may use here; each computes on one core."""
    threads = torch.get_num_threads()
    return map(work, items) if threads == 1 else _crew(threads).map(work, items)


@lru_cache(maxsize=4)
def _crew(threads: int) -> ThreadPoolExecutor:
    crew = ThreadPoolExecutor(threads, "votes", initializer=torch.set_num_threads, initargs=(1,))
    together = Barrier(threads)
    list(crew.map(lambda _: together.wait(), range(threads)))
    # Each of them has set its own number, and with it the default of threads still to come: put that back.
    torch.set_num_threads(threads)
    return crew
