"""Open pages are counted and paced: each costs memory and time, and one machine cannot take them without end."""

from __future__ import annotations

import asyncio
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.protection.address import client_of

OF_ONE_MACHINE = 96
"""A class may sit behind one address, with two pages each."""
OF_ALL = 256
RATE, BURST = 30.0, 60
"""Messages of a page that are heard in a second, and how many may come at once; a slider sends one for each answer."""


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
        left = False

        async def sent(message: Message) -> None:
            nonlocal left
            try:
                await send(message)
            except OSError:
                left = True
                raise

        try:
            await self.app(scope, paced(receive), sent)
        except (RuntimeError, TypeError):
            if not left:  # a page that left while it was spoken to is no fault, and needs no stack in the log
                raise
        finally:
            self.open[machine] -= 1
            if not self.open[machine]:
                del self.open[machine]


def paced(receive: Receive, rate: float = RATE, burst: int = BURST) -> Receive:
    """The messages of one page, no faster than a hand could cause them; the others wait where they come from."""
    clock = asyncio.get_running_loop().time
    left, last = float(burst), clock()

    async def received() -> Message:
        nonlocal left, last
        message = await receive()
        if (
            message.get("text") is not None
        ):  # pages speak in bytes; Streamlit would end with a stack in the log
            return {"type": "websocket.disconnect", "code": 1003}
        now = clock()
        left, last = min(burst, left + rate * (now - last)), now
        left -= 1
        if left < 0 and message["type"] == "websocket.receive":
            await asyncio.sleep(-left / rate)
        return message

    return received
