"""What every lesson has: its heading, its formula with live values, its question, and figures that fit the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
import torch

from app.components.plot import plot
from app.components.stage import HOME, stage
from app.components.style import theme
from app.figures.arrays import packed
from app.figures.cloud import MeshView
from app.figures.looks import stage_look
from app.figures.scene import scene_of
from app.pages.lessons.formula import Symbol, twofold
from app.pages.lessons.presenter import presenter
from app.pages.lessons.progress import solved
from app.pages.lessons.state import LESSON, PRESENTING, STEPS, choice, put
from app.server import cache
from app.session.pose import moved
from app.words import class_words, words
from tpc_core import Transform

_CSS = """
<style>
.tpc-lesson-title { font-size: 1.45rem; font-weight: 650; line-height: 1.2; }
.tpc-lesson-title span { opacity: .75; font-weight: 500; margin-right: .5rem; }
.tpc-says { font-size: 1.2rem; line-height: 1.35; border-left: 5px solid; border-radius: 8px; padding: .45rem .8rem;
  background: color-mix(in srgb, currentColor 5%, transparent); }
.tpc-says.right { border-color: var(--tpc-agree); } .tpc-says.wrong { border-color: var(--tpc-differ); }
.st-key-formula { border: 1px solid color-mix(in srgb, currentColor 15%, transparent); border-radius: 8px;
  padding: .3rem .8rem; overflow: auto hidden; }
.st-key-formula [data-testid=stMarkdownContainer] { margin-bottom: 0; }
.st-key-formula .katex-display { margin: .1em 0 !important; text-align: left !important; }
.st-key-formula .katex-display > .katex { text-align: left !important; font-size: 1.04em !important; }
.st-key-question { margin-top: .1rem; }
.st-key-lesson_progress { position: absolute; }
.tpc-checked { font-weight: 650; } .tpc-checked.right { color: var(--tpc-agree); }
.tpc-checked.wrong { color: var(--tpc-differ); }
.tpc-ranking { width: 100%; border-collapse: collapse; } .tpc-ranking th { text-align: left; }
.tpc-ranking :is(th, td) { padding: .2rem .5rem; overflow-wrap: anywhere;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
@media print { [data-testid=stHeader], .tpc-link, .tpc-presenter, .stButton { display: none !important; } }
</style>
"""

_PRESENT = """
<style>
html { font-size: clamp(15px, 2.15vh, 34px) !important; }
[data-testid=stHeader], [data-testid=stToolbar], .tpc-link { display: none !important; }
.block-container { padding: 1rem 1.6rem .6rem !important; max-width: none !important; }
.tpc-sliders, .tpc-presenter button { font-size: 1rem !important; }
.tpc-row > span:first-child { max-width: none !important; min-width: 6em; }
.tpc-row { grid-template-columns: auto 1fr 5em 1em !important; }
</style>
"""
_LARGER = 1.35
"""How much larger the type of figures is while presenting."""

HEAD = 178
"""Pixels above and below the figures of a lesson."""


def presenting() -> bool:
    """Whether the lesson fills the screen."""
    return choice(PRESENTING) == "yes"


def styled() -> None:
    """The style of all lessons, and of the challenge."""
    st.html(_CSS + (_PRESENT if presenting() else ""))


def heading(title: str) -> None:
    """The number and title of the lesson, and the buttons that lead on."""
    styled()
    left, right = st.columns([7, 2.2], vertical_alignment="center")
    now = choice(LESSON)
    place = words("common.place", now=now, all=len(LESSON.options))
    left.html(f'<div class="tpc-lesson-title" data-lesson="{now}"><span>{place}</span>{title}</div>')
    with right:
        presenter(
            lesson=now,
            first=now == LESSON.options[0],
            last=now == LESSON.options[-1],
            presenting=presenting(),
            on_go=_go,
        )


def _go() -> None:
    report = st.session_state["presenter"].go
    what = report.get("what") if report else None
    now = LESSON.options.index(choice(LESSON))
    if what in ("previous", "next"):
        place = now + (1 if what == "next" else -1)
        if 0 <= place < len(LESSON.options):
            put(LESSON, LESSON.options[place])
    elif what == "step":
        field = STEPS[choice(LESSON)]
        put(field, str(min(int(choice(field)) + 1, len(field.options))))
    elif what in ("present", "leave"):
        put(PRESENTING, "yes" if what == "present" else "no")


def formula(lines: Sequence[str], symbols: Mapping[str, Symbol], statement: str = "") -> None:
    """A statement, if any, then each line with its letters and, under it, with the values on the page."""
    with st.container(key="formula"):
        st.latex(twofold(lines, symbols, theme(), statement))


def says(said: str, *, right: bool) -> None:
    """What the model says now, in large type."""
    kind = "right" if right else "wrong"
    st.html(f'<div class="tpc-says {kind}" data-says="{kind}">{said}</div>')


def reached(step: int) -> bool:
    """Whether this step of the lesson is shown: 1 the object, 2 the numbers, 3 the question."""
    return int(choice(STEPS[choice(LESSON)])) >= step


def next_step() -> None:
    """The button that shows the next step, while there is one."""
    field = STEPS[choice(LESSON)]
    now = int(choice(field))
    if now < len(field.options):
        st.button(
            words("common.next_numbers") if now == 1 else words("common.next_question"),
            key=f"next_{choice(LESSON)}_{now}",
            type="primary",
            icon=":material/arrow_forward:",
            on_click=lambda: put(field, str(now + 1)),
        )


def _check(key: str, lesson: str, right: int) -> None:
    """Before the page is drawn, so that the list of lessons shows it at once."""
    if st.session_state.get(key) == right:
        solved(lesson)


def question(right: int, why: str) -> None:
    """The question of the lesson with its three answers; a choice is checked at once, and the page says why."""
    lesson = choice(LESSON)
    answers = [words(f"lesson{lesson}.answer{number}") for number in (1, 2, 3)]
    with st.container(key="question", gap="small"):
        key = f"answer_{lesson}"
        chosen = st.radio(
            words(f"lesson{lesson}.question"),
            range(len(answers)),
            format_func=answers.__getitem__,
            index=None,
            key=key,
            on_change=_check,
            args=(key, lesson, right),
        )
        if chosen is None:
            return
        correct = chosen == right
        verdict = words("common.right") if correct else words("common.wrong")
        kind = "right" if correct else "wrong"
        marks = f'data-answer="{kind}" data-chosen="{chosen}"'
        st.html(f'<div class="tpc-checked {kind}" role="status" {marks}>{verdict}</div>')
        if correct:
            st.markdown(why)


def _height(share: float) -> str:
    """The share of the height that the screen leaves, as CSS: below are the key of the colours and some air."""
    room = "64px" if presenting() else f"{HEAD}px"
    return f"max({round(190 * share) + 60}px, calc((100vh - {room} - 56px) * {share:.3f}))"


def posed_object(
    spec: str,
    points: int,
    transform: Transform,
    values: Sequence[float],
    *,
    key: str,
    share: float,
    stamp: int,
    epoch: int | str = 0,
    beside: Sequence[float] | None = None,
) -> None:
    """A gallery object on the stage, at a pose that the lesson's sliders move in the browser.

    With `beside` it is compared with another pose of its own, which is the ghost: colours say how far apart they are.
    """
    shape = cache.shape(spec)
    cloud, mesh = shape.cloud(points).points, shape.mesh_around(points)
    corners = None if mesh is None else torch.from_numpy(np.asarray(mesh.vertices))
    parts: dict[str, Any] = {}
    farthest = 0.0
    if beside is not None:
        now, cloud = moved(transform, values, cloud), moved(transform, beside, cloud)
        corners = None if corners is None else moved(transform, beside, corners)
        parts["served"] = packed(now.numpy().ravel())
        farthest = max(0.01, float((now - cloud).norm(dim=1).max()))
    surface = None if mesh is None or corners is None else MeshView(corners.numpy(), np.asarray(mesh.faces))
    stage(
        scene_of(cloud.numpy(), surface),
        transform,
        values,
        key=key,
        height=_height(share),
        look={**stage_look(theme(), "projector" if presenting() else "page"), "words": _legend()},
        settings={
            "colouring": "height" if beside is None else "displacement",
            "surface": True,
            "ghost": True,
            "side_by_side": False,
            "point_size": 2.5,
        },
        epoch=epoch,
        stamp=stamp,
        parts=parts,
        farthest=farthest,
        camera_of=spec,
        title=class_words(str(shape.label or "object")),
        actions=(HOME,),
    )


def figure(
    what: dict[str, Any],
    *,
    key: str,
    share: float = 1.0,
    stamp: int = 0,
    camera_of: str = "",
    zoom: bool = False,
    clicks: bool = False,
) -> Any:
    """A figure that takes its share of the height that the screen leaves."""
    return plot(
        _enlarged(what) if presenting() else what,
        key=key,
        height=_height(share),
        stamp=stamp,
        camera_of=camera_of,
        zoom=zoom,
        clicks=clicks,
    )


def _enlarged(what: Any) -> Any:
    """The same figure with larger type."""
    if isinstance(what, list):
        return [_enlarged(item) for item in what]
    if not isinstance(what, dict) or "bdata" in what:
        return what
    grown = {key: _enlarged(value) for key, value in what.items()}
    for name in ("font", "tickfont"):
        if isinstance(grown.get(name), dict) and "size" in grown[name]:
            grown[name] = {**grown[name], "size": round(grown[name]["size"] * _LARGER, 1)}
    return grown


def _legend() -> dict[str, str]:
    """The words of the stage's legend, in the language of the lesson."""
    return {
        "low": words("stage.low"),
        "high": words("stage.high"),
        "height": words("stage.height"),
        "moved by": words("stage.moved"),
        "share of votes": words("stage.share"),
        "the original": words("stage.original"),
    }
