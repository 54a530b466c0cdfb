"""How far a long job has come, told to whoever draws it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int | None], None]
"""Called with what is done and with the total, if that is known."""


def silent(done: int, total: int | None) -> None:
    """Draw nothing."""
