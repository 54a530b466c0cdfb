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
_ALSO_KEPT = ("model", "asked_model", "asked_transform", "run", "proof")
_KEPT_BEGINNINGS = ("radius_", "sigma_")


def keep_settings() -> None:
    """Fill in what is missing and hold on to the rest; called once at the top of every run."""
    for name, value in DEFAULTS.items():
        st.session_state.setdefault(name, value)
    for key in [str(key) for key in st.session_state]:
        if key in DEFAULTS or key in _ALSO_KEPT or key.startswith(_KEPT_BEGINNINGS):
            st.session_state[key] = st.session_state[key]
