"""What a visitor set, kept while they look at another page (Streamlit forgets widgets that are not on screen)."""

from __future__ import annotations

from typing import Any

import streamlit as st

DEFAULTS: dict[str, Any] = {
    "points": 1024,
    "all_points": False,
    "colouring": "height",
    "surface": True,
    "view": "stage",
    "look": "page",
    "side_by_side": False,
    "ghost": True,
    "point_size": 2.5,
    "goal": "A radius",
    "confidence": "99.9 %",
    "protocol": "adaptive",
    "budget": "no limit",
    "complete": False,
    "seed": None,
    "map_look": "colour",
    "map_kind": "Slice",
}
_ALSO_KEPT = ("model", "proof", "asked_model", "asked_transform", "run")
_KEPT_BEGINNINGS = ("radius_", "sigma_")


def keep_settings() -> None:
    """Fill in what is missing and hold on to the rest; called once at the top of every run.

    Streamlit drops the value of a widget that is not on screen, also one that was copied, once a fragment of another
    page has run. So the values are kept in a dictionary of our own, and put back.
    """
    kept: dict[str, Any] = st.session_state.setdefault("kept_settings", dict(DEFAULTS))
    for key in [str(key) for key in st.session_state]:
        if key in DEFAULTS or key in _ALSO_KEPT or key.startswith(_KEPT_BEGINNINGS):
            kept[key] = st.session_state[key]
    for key, value in kept.items():
        st.session_state[key] = value
