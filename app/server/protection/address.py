"""Where a request comes from and whom it was meant for."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from starlette.types import Scope

_HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]+")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of this name."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def client_of(scope: Scope) -> str:
    """The address of the visitor's machine.

    Behind a proxy that is the one which the proxy states, if FORWARDED_ALLOW_IPS names the proxy (uvicorn's setting;
    this machine's own address unless it is set).
    """
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def hosts() -> frozenset[str]:
    """The host names of TPC_HOST, split by commas; none means that any name is answered."""
    return frozenset(
        name.strip().lower() for name in os.environ.get("TPC_HOST", "").split(",") if name.strip(" *")
    )


def name_of(host: str) -> str | None:
    """The name in "name:port", or None where it is no such thing."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if not _HOST.fullmatch(host) or not parts.hostname:
        return None
    return parts.hostname.lower().rstrip(".")
