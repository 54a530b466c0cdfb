"""Who a visitor is: a random name that the server chose, signed by it, in a cookie that no script can read."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.protection.address import header
from tpc_core.errors import CannotWrite

NAME = "tpc_visitor"
SECONDS = 14 * 24 * 3600
"""As long as a run that was cut off is kept for its visitor."""
_LONGEST = 200


@lru_cache(maxsize=1)
def secret() -> bytes:
    """What names are signed with: kept beside the saved runs where there are any, else new with every start."""
    folder = os.environ.get("TPC_RUNS")
    if not folder:
        return secrets.token_bytes(32)
    return kept_secret(Path(folder).expanduser() / ".secret")


def kept_secret(path: Path) -> bytes:
    """The secret in a file that only this user can read; made if it is not there, whole or not at all."""
    made = secrets.token_bytes(32)
    unfinished = path.with_name(f"{path.name}-{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            handle = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as stream:
                stream.write(made)
            os.link(unfinished, path)  # fails where another server was first, whose secret then counts
        except FileExistsError:
            pass
        finally:
            unfinished.unlink(missing_ok=True)
        found = path.read_bytes()
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
    return found if len(found) == len(made) else made


def new_name() -> str:
    """The name of a visitor who was not here before."""
    return secrets.token_urlsafe(18)


def signed(name: str) -> str:
    """The name with its signature, as the cookie holds it."""
    mark = hmac.new(secret(), name.encode(), hashlib.sha256).digest()[:18]
    return f"{name}.{base64.urlsafe_b64encode(mark).decode()}"


def name_in(cookie: object) -> str | None:
    """The name in a cookie that this server signed; None for any other."""
    if not isinstance(cookie, str) or len(cookie) > _LONGEST or not cookie.isascii():
        return None
    name = cookie.rpartition(".")[0]
    return name if name and hmac.compare_digest(signed(name), cookie) else None


def visitor_of(scope: Scope) -> str | None:
    """The name that a request brings."""
    try:
        cookies = SimpleCookie(header(scope, b"cookie") or "")
    except CookieError:
        return None
    found = cookies.get(NAME)
    return name_in(found.value) if found is not None else None


class Cookies:
    """Gives a name to every browser that has none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or visitor_of(scope) is not None:
            await self.app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                secure = "; Secure" if scope.get("scheme") == "https" else ""
                value = (
                    f"{NAME}={signed(new_name())}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax{secure}"
                )
                MutableHeaders(scope=message).append("Set-Cookie", value)
            await send(message)

        await self.app(scope, receive, with_cookie)
