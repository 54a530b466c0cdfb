"""What the colours mean, the same on every page: one legend at its foot."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

MEANINGS = {
    "right": "right, or certified",
    "wrong": "wrong, or an attack",
    "open": "not settled yet",
    "other": "another class",
    "unknown": "not known",
}
"""The colours of `app.components.style`, each with its one meaning."""

CSS = """
.tpc-key { display: flex; flex-wrap: wrap; gap: 2px 18px; margin-top: -.3rem; font-size: .82rem;
  color: var(--tpc-unknown); }
.tpc-key i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px;
  vertical-align: -1px; }
.tpc-key .right { background: var(--tpc-agree); }
.tpc-key .wrong { background: var(--tpc-differ); }
.tpc-key .open { background: var(--tpc-open); }
.tpc-key .other { background: var(--tpc-other); }
.tpc-key .unknown { background: repeating-linear-gradient(115deg, var(--tpc-unknown) 0 1.5px, #0000 1.5px 4px); }
"""


def colour_key(meanings: Mapping[str, str] = MEANINGS, title: str = "What the colours mean") -> None:
    """The legend of the whole app; a page in another language gives its own words."""
    entries = "".join(f'<span><i class="{name}"></i>{words}</span>' for name, words in meanings.items())
    st.html(f'<div class="tpc-key" role="note" aria-label="{title}">{entries}</div>')
