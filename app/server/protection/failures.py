"""A page that breaks shows one sentence and the way back; the stack goes to the server's log."""

from __future__ import annotations

import logging

import streamlit as st

from app.components.escape_markdown import literal
from tpc_core.errors import TpcError

_log = logging.getLogger("tpc_core.explorer")


def show_one_sentence(error: Exception) -> bool:
    """Called by Streamlit with whatever a page did not catch; True: it is dealt with."""
    _log.error("a page failed", exc_info=error)
    reason = str(error) if isinstance(error, TpcError) else "Something on this page went wrong"
    words = f"{reason.rstrip('.')}. The others are not affected, and what you had is still here."
    st.error(literal(words), icon=":material/error:")
    st.link_button("Back to the start", "./", icon=":material/home:")
    return True
