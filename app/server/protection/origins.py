"""Pages elsewhere have no business here: a request that another site's page made is refused before it is read.

Streamlit would look up this machine's address on the Internet to decide, for every refused request, while everybody
waits. Two comparisons of names are enough.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.protection.address import LOOPBACK, header, name_of


class Origins:
    """Answers only under the host names that it was given, and only to pages that it served itself."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        called = scope["type"] in ("http", "websocket")
        if not called or self.welcome(header(scope, b"host"), header(scope, b"origin")):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "another site"})
        else:
            refusal = PlainTextResponse("This server does not answer pages of other sites.\n", 403)
            await refusal(scope, receive, send)

    def welcome(self, host: str | None, origin: str | None) -> bool:
        """Whether the name that was asked for is ours, and the page that asks, too."""
        name = name_of(host) if host else None
        if name is None or (self.hosts and name not in self.hosts | LOOPBACK):
            return False
        if origin is None:  # not a page of a browser
            return True
        asking = urlsplit(origin).netloc
        return asking == host or name_of(asking) in self.hosts
