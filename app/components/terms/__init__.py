"""The words of the field, explained where they stand: hover over one, or reach it by Tab.

    explained("The lower bound of p_A over all cells.")        # instead of st.caption
    st.html(f"<p>{with_terms('4,096 votes')}</p>")             # in HTML of one's own

`mount_terms()` is called once at the top of every run; a component's own script may also write
`<dfn class="tpc-term" data-term="radius" tabindex="0">radius</dfn>`.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

TERMS = {
    "p_A": "The probability that the base model gives the most likely class A to a random draw around the object. "
    "We never know it exactly: the votes give a lower bound.",
    "sigma": "The strength of the noise in the smoothing. A larger sigma can certify larger radii, but the answers "
    "become less clear.",
    "radius": "How large the attacks are that a certificate covers, for example all twists up to 20 degrees.",
    "cell": "A small piece of all the attacks within the radius. A certificate must prove every cell.",
    "votes": "Answers of the base model to random draws around the object, one vote for each draw.",
    "smoothed": "The smoothed model gives the class that wins the vote over random draws around the object. "
    "Certificates are about this model.",
    "base model": "The base model is the network itself: it looks at the object once, without random draws.",
    "certificate": "A proof that no attack within the radius changes the answer. A file holds all that is needed to "
    "check it again.",
    "confidence": "How sure a certificate by votes is. With 99.9 %, at most one of 1,000 such certificates may be "
    "wrong.",
}
"""Each word with its explanation, in the order in which one meets them."""

_WRITTEN = {
    "p_A": r"p_A",
    "sigma": r"[Ss]igma",
    "radius": r"[Rr]adi(?:us|i)",
    "cell": r"[Cc]ells?",
    "votes": r"[Vv]otes?",
    "smoothed": r"[Ss]moothed",
    "base model": r"[Bb]ase model",
    "certificate": r"[Cc]ertificates?",
    "confidence": r"[Cc]onfidence",
}
_ANY = re.compile("|".join(rf"(?<![\w-])(?:{pattern})(?![\w-])" for pattern in _WRITTEN.values()))

_mount = st.components.v2.component(
    "tpc_terms",
    html='<div class="tpc-terms" popover="manual" role="tooltip" id="tpc-term-text"></div>',
    css=(_HERE / "terms.css").read_text(),
    js=(_HERE / "terms.js").read_text(),
    isolate_styles=False,
)


def mount_terms() -> None:
    """Let the browser explain every word that is marked on the page."""
    _mount(key="terms", data={"terms": TERMS})


def with_terms(text: str) -> str:
    """The text as HTML in which each term is marked where it stands first; all else in it is taken literally."""
    seen: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        word = found.group()
        name = next(name for name, pattern in _WRITTEN.items() if re.fullmatch(pattern, word))
        if name in seen:
            return word
        seen.add(name)
        return f'<dfn class="tpc-term" data-term="{name}" tabindex="0">{word}</dfn>'

    return _ANY.sub(mark, escape(text, quote=False))


def explained(text: str, *, caption: bool = True) -> None:
    """Show Markdown with its terms marked: small as a caption, or as plain text."""
    (st.caption if caption else st.markdown)(with_terms(text), unsafe_allow_html=True)
