"""Read a stranger's file in a process of its own: whatever it does there, it costs that stranger one sentence."""

from __future__ import annotations

from tpc_core.data.sandbox.client import Sandbox, read_untrusted, safe_name, warm_up
from tpc_core.data.sandbox.frames import receive_document

__all__ = ["Sandbox", "read_untrusted", "receive_document", "safe_name", "warm_up"]
