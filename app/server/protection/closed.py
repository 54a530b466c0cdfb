"""Doors of Streamlit that no page uses: what the server counts of itself, and a way to drive pages by programs."""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_CLOSED = re.compile(r"(^|/)_stcore/(metrics|agent)(/|$)")


class Closed:
    """Answers as if there were no such place; reading the counts would measure every cache, for anybody who asks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _CLOSED.search(scope["path"]):
            await PlainTextResponse("There is no such place.\n", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
