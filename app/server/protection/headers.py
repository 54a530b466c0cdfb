"""What the browser is told with every answer: run our scripts and no others, and let no other site frame us."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.components.stage import bundle_name
from app.server.static_files import STATIC

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@lru_cache(maxsize=1)
def inline_scripts() -> tuple[str, ...]:
    """The hashes of the scripts that Streamlit's own page holds in itself; no other inline script runs."""
    page = Path(streamlit.__file__).with_name("static") / "index.html"
    found = _INLINE.findall(page.read_bytes()) if page.is_file() else []
    return tuple(f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in found)


def content_policy(frames: str) -> str:
    """The Content-Security-Policy: everything from here, nothing from elsewhere.

    Components arrive as blobs, and styles are set in place; no page compiles text into code.
    `frames` are the sites that may show the explorer in a frame of theirs.
    """
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", "blob:", *inline_scripts())),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' blob:",
        "connect-src": "'self' blob: data:",
        "worker-src": "'self' blob:",
        "frame-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": frames,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def embedding_sites() -> str:
    """TPC_FRAMES, such as "https://moodle.example": who may embed the explorer; nobody unless it is set."""
    chosen = os.environ.get("TPC_FRAMES", "").replace(",", " ").split()
    sites = [site for site in chosen if re.fullmatch(r"https?://[A-Za-z0-9.*-]+(:\d+)?", site)]
    return " ".join(["'self'", *sites]) if sites else "'none'"


def stage_ahead() -> dict[str, str]:
    """The stage's script is fetched while Streamlit's own page starts, and not after it; nothing before it is there."""
    if not (STATIC / bundle_name()).is_file():
        return {}
    prefix = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    path = "/".join(part for part in (prefix, "app", "static", bundle_name()) if part)
    return {"Link": f"</{path}>; rel=preload; as=script"}


class Headers:
    """Puts the headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        frames = embedding_sites()
        self.headers = {
            "Content-Security-Policy": content_policy(frames),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            **({"X-Frame-Options": "DENY"} if frames == "'none'" else {}),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.update(stage_ahead())
            await send(message)

        await self.app(scope, receive, with_headers)
