"""A crew of threads: independent pieces of work, one core each.

Splitting every matrix product over the cores makes them wait for each other dozens of times per block, and one
busy core stalls all. Whole blocks on single threads never wait, and their results do not depend on how many
threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Barrier, Lock
from typing import TypeVar

from tpc_core.lazy_torch import torch

Item = TypeVar("Item")
Answer = TypeVar("Answer")


_HIRING = Lock()


def share_out(
    work: Callable[[Item], Answer], items: Iterable[Item], *, crew: str = "votes"
) -> Iterator[Answer]:
    """The answers in order, from as many threads as torch may use here; each computes on one core.

    Whoever calls from several threads has their work done in the order in which it came. Another `crew` is a queue of
    its own: what must be quick does not wait behind what takes long.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return map(work, items)
    with _HIRING:
        hired = _crew(crew, threads)
    return hired.map(work, items)


@lru_cache(maxsize=8)
def _crew(name: str, threads: int) -> ThreadPoolExecutor:
    crew = ThreadPoolExecutor(threads, name, initializer=_take_one_core)
    together = Barrier(threads)
    list(crew.map(lambda _: together.wait(), range(threads)))
    # Each of them has set its own number, and with it the default of threads still to come: put that back.
    torch.set_num_threads(threads)
    return crew


def _take_one_core() -> None:
    torch.set_num_threads(1)
    # A thread takes the default at its first operation, whatever was set before; asking counts as one. Without it the
    # default that is put back above would reach the crew, and each of its threads would start helpers of its own.
    torch.get_num_threads()
