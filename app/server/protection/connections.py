"""Open pages are counted: each costs memory, and one machine cannot open them without end."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.protection.address import client_of

OF_ONE_MACHINE = 96
"""A class may sit behind one address, with two pages each."""
OF_ALL = 256


class Connections:
    """Refuses a page when too many are open."""

    def __init__(self, app: ASGIApp, of_one: int = OF_ONE_MACHINE, of_all: int = OF_ALL) -> None:
        self.app, self.of_one, self.of_all = app, of_one, of_all
        self.open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        machine = client_of(scope)
        if self.open[machine] >= self.of_one or self.open.total() >= self.of_all:
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "too many pages are open"})
            return
        self.open[machine] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open[machine] -= 1
            if not self.open[machine]:
                del self.open[machine]
