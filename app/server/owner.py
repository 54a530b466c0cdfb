"""What only whoever runs the server may do: add models and data sets, and let files run that hold code."""

from __future__ import annotations

import os
from collections.abc import Iterable

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.server.protection.address import LOOPBACK, hosts, name_of

_OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def may_add() -> bool:
    """Whether this visitor may add models and data: TPC_ADD=1 or 0, or else whoever sits at an unshared machine."""
    chosen = os.environ.get("TPC_ADD", "")
    if chosen in ("0", "1"):
        return chosen == "1"
    return not is_shared()


def is_shared() -> bool:
    """Whether the server answers to other machines than this one, or the page at hand is shown on another one.

    A server that listens to this machine alone may have a proxy before it, through which a whole class comes.
    """
    return st.get_option("server.address") not in LOOPBACK or bool(hosts()) or not _is_here()


def may_run_code() -> bool:
    """Whether files that hold code may be opened: TPC_RUN_CODE=1."""
    return os.environ.get("TPC_RUN_CODE") == "1"


def _is_here() -> bool:
    """Whether the page at hand was asked for on this machine; what runs without a server is."""
    if not exists():
        return True
    script = get_script_run_ctx(suppress_warning=True)
    client = get_instance().get_client(script.session_id) if script is not None else None
    context = client.client_context if client is not None else None
    return context is not None and asked_here(context.remote_ip, context.headers)


def asked_here(address: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a browser on this machine asked, under a name of this machine, and no proxy stood between."""
    said = {name.lower(): value for name, value in headers}
    if address not in LOOPBACK or any(name in said for name in _OF_PROXIES):
        return False
    return name_of(said.get("host", "")) in LOOPBACK
