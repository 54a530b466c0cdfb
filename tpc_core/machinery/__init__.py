"""Small machinery that knows nothing of clouds: files that are written whole, the user's folders, and threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.machinery.atomic import write_atomically
    from tpc_core.machinery.thread_pool import share_out

open_door(
    __name__,
    {
        "tpc_core.machinery.atomic": ("write_atomically",),
        "tpc_core.machinery.thread_pool": ("share_out",),
    },
)

__all__ = ["share_out", "write_atomically"]
