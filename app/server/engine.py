"""The one engine of the server: worker processes of this machine, or of a cluster."""

from __future__ import annotations

import atexit

import streamlit as st

from tpc_core.engines import Engine, LocalEngine


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """The engine, started with the server and ended with it."""
    made = LocalEngine()
    made.warm()
    atexit.register(made.close)
    return made
