"""On the path of a server under test: writes down every attempt to reach anything but this machine."""

from __future__ import annotations

import ipaddress
import os
import sys


def _elsewhere(address: object) -> bool:
    """Whether an address or a host name is not of this machine; a path is a socket in the file system."""
    host = address[0] if isinstance(address, tuple) else address
    if not isinstance(host, str) or host in ("", "localhost"):
        return False
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return not host.startswith("/")  # a name to be looked up
    return not (found.is_loopback or found.is_unspecified)


def _watch(event: str, given: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = given[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = given[0]
    else:
        return
    if _elsewhere(address):
        handle = os.open(os.environ["SOCKET_GUARD"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        os.write(handle, f"{event} {address!r}\n".encode())
        os.close(handle)


if "SOCKET_GUARD" in os.environ:
    sys.addaudithook(_watch)
