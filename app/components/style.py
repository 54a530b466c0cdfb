"""The look of the whole app: a little CSS, and the theme that figures follow."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.components.colour_key import CSS as KEY_CSS
from app.figures.theme import Theme, theme_of

_NARROW = (Path(__file__).parent / "narrow.css").read_text()
_CSS = """
<style>
.block-container { padding: 4.2rem 1.6rem .4rem; max-width: 1900px; }
[data-testid=stVerticalBlock] { gap: .6rem; }
[data-testid=stCaptionContainer] { color: var(--tpc-unknown); opacity: 1; }
:is([data-testid^=stBaseButton-primary]:not(:disabled), [data-tag]) :is(p, span) {
  color: var(--tpc-on-primary) !important; }
[data-testid^=stBaseButton-primary]:is(:hover, :focus, :active):not(:disabled) {
  background: color-mix(in srgb, var(--tpc-primary) 88%, var(--tpc-on-primary)); }
[data-tag] svg { fill: var(--tpc-on-primary); }
h2 { font-size: 1.15rem !important; }
.block-container h2 { padding: 0 0 .35rem !important; }
h3 { padding: 0 0 .35rem !important; font-size: 1.05rem !important; }
.tpc-object { width: 64px; height: 64px; object-fit: contain; border-radius: 8px;
  background: color-mix(in srgb, currentColor 6%, transparent); display: block; }
[class*=st-key-][class*=_scene] { display: none; }
[data-testid=stElementContainer]:has(.tpc-unseen, .tpc-terms) { position: absolute; width: 1px; }
.tpc-blank { background-size: cover; background-position: center; }
.tpc-blank { display: flex; align-items: center; justify-content: center; opacity: .5; letter-spacing: 2px; }
.tpc-verdict { margin-top: .2rem; border-radius: 8px; padding: .7rem 1rem; font-size: 1.06rem; line-height: 1.4;
  border-left: 5px solid; background: color-mix(in srgb, currentColor 5%, transparent); }
.tpc-verdict.certified { border-color: var(--tpc-agree); }
.tpc-verdict.refuted { border-color: var(--tpc-differ); }
.tpc-verdict.undecided { border-color: var(--tpc-open); }
.tpc-facts { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; font-size: .88rem; opacity: .85;
  font-variant-numeric: tabular-nums; }
.tpc-facts b { font-weight: 600; }
.tpc-outlook { font-size: .8rem; opacity: .9; white-space: nowrap; }
.tpc-outlook i { display: inline-block; width: 14px; height: 9px; border-radius: 2px; margin: 0 4px 0 8px; }
.tpc-outlook .likely { background: color-mix(in srgb, var(--tpc-agree) 35%, transparent); }
.tpc-outlook .borderline { background: repeating-linear-gradient(115deg, var(--tpc-agree) 0 2px, transparent 2px 5px); }
.tpc-outlook .hopeless { background: repeating-linear-gradient(115deg, var(--tpc-differ) 0 2px, transparent 2px 5px); }
.tpc-title { font-size: 2.5rem; line-height: 1.15; margin: 0; padding: 0; }
.tpc-sentence { font-size: 1.3rem; line-height: 1.4; margin: .3rem 0 0; }
[class*=st-key-door_] { position: relative; gap: .2rem; }
[class*=st-key-door_]:hover, [class*=st-key-door_]:focus-within { border-color: var(--tpc-agree); }
[class*=st-key-door_] a { padding-left: 0; background: none; }
[class*=st-key-door_] a * { font-size: 1.2rem; }
[class*=st-key-door_] a::after { content: ""; position: absolute; inset: 0; }
.tpc-table { border-collapse: collapse; width: 100%; font-size: .95rem; }
.tpc-table :is(th, td) { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; font-weight: 400;
  border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.tpc-table :is(thead th, b) { font-weight: 600; }
</style>
"""


def style() -> None:
    """Spacing, the few classes that pages use, and the colours of an answer."""
    now = theme()
    # What each means, `app.components.colour_key` says at the foot of the page.
    meanings = {"agree": now.agree, "differ": now.differ, "open": now.open}
    meanings |= {"other": now.ghost, "unknown": now.muted}
    meanings |= {"primary": now.accent, "on-primary": now.on_primary, "page": now.paper}
    colours = " ".join(f"--tpc-{name}: {colour};" for name, colour in meanings.items())
    st.html(f"{_CSS}<style>{_NARROW}{KEY_CSS}</style><style>:root {{ {colours} }}</style>")


def theme() -> Theme:
    """The colours of the theme that the visitor chose."""
    return theme_of(st.context.theme.type)
