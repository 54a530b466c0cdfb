"""Connections that say too little or too much: nobody holds one without asking for something, or sends without end."""

from __future__ import annotations

import asyncio
from typing import Any

from streamlit import config
from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 20.0
"""Seconds after which a connection without a whole request is closed, at the next look."""
ENVELOPE = 64 << 10
"""What a message of a page may have around the state of its widgets."""


def bound_sockets(patience: float = PATIENCE) -> None:
    """Let the server close connections that ask for nothing, and refuse messages before they are read.

    uvicorn waits for the rest of a request for ever. And a message may have 200 MB for it, Streamlit's limit for what
    goes to a page; Streamlit looks at what comes from one only when all of it has been kept.
    """
    protocol: Any = AutoHTTPProtocol
    if getattr(protocol, "is_bounded", False):
        return
    made = protocol.connection_made

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        self.config.ws_max_size = config.get_option("server.maxWidgetStateSize") * 10**6 + ENVELOPE
        made(self, transport)
        self.loop.call_later(patience, _close_if_silent, self, None, patience)

    protocol.connection_made = connection_made
    protocol.is_bounded = True


def _close_if_silent(line: Any, answered: object, patience: float) -> None:
    """Close a connection on which nothing is under way, and nothing was asked since the last look."""
    if line.transport.is_closing() or line.transport.get_protocol() is not line:
        return  # it has ended, or become a page's line
    cycle = line.cycle
    under_way = cycle is not None and not cycle.response_complete
    if under_way or cycle is not answered:
        line.loop.call_later(patience, _close_if_silent, line, cycle, patience)
    else:
        line.transport.close()
