"""What only whoever runs the server may do: add models and data sets, and let files run that hold code."""

from __future__ import annotations

import os

import streamlit as st

from app.server.protection.address import LOOPBACK, hosts


def may_add() -> bool:
    """Whether visitors may add models and data: TPC_ADD=1 or 0, or else where the server serves this machine alone."""
    chosen = os.environ.get("TPC_ADD", "")
    if chosen in ("0", "1"):
        return chosen == "1"
    return not is_shared()


def is_shared() -> bool:
    """Whether the server answers to other machines than this one."""
    return st.get_option("server.address") not in LOOPBACK or bool(hosts())


def may_run_code() -> bool:
    """Whether files that hold code may be opened: TPC_RUN_CODE=1."""
    return os.environ.get("TPC_RUN_CODE") == "1"
