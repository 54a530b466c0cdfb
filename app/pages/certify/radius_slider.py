"""The radius as a slider whose track says how far a certificate is likely, by the votes at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from app.components.sliders import Band, sliders
from app.pages.certify.question_link import radius_keys
from app.server.jobs import Request
from tpc_core.certify import prepare
from tpc_core.errors import TpcError
from tpc_core.forecast import outlooks
from tpc_core.landscape import Landscape, extent

KEY = "dragged_sliders"
_PARTS = 8
"""Parts of the map at which the outlook is asked for."""
_WORDS = {
    "likely": "certificate likely",
    "borderline": "borderline",
    "hopeless": "certificate unlikely",
}


@st.fragment
def radius_slider(request: Request, landscape: Landscape | None) -> None:
    """Drag the radius; the page follows when it is let go."""
    if st.session_state.pop("dragged_radius", False):
        st.rerun()
    transform, question = request.transform, request.question
    known = _bands(request, landscape)
    rows, values = [], []
    for p in transform.radii:
        value = question.radius[p.name]
        end = min(p.largest_radius, float(f"{max(2.0 * value, 1e-3):.2g}"))
        rows.append(replace(p, low=0.0, high=end, step=float(f"{end / 200:.1g}")))
        values.append(value)
    sliders(
        rows,
        values,
        key=KEY,
        shape=f"{transform.name}|{[row.high for row in rows]}|{values}",
        epoch=0,
        stamp=int(st.session_state.get("dragged_stamp", 0)),
        on_move=_moved,
        bands={
            row.name: [_scaled(band, value) for band in known]
            for row, value in zip(rows, values, strict=True)
        },
    )
    st.session_state["dragged_names"] = list(radius_keys(transform).values())
    if known:
        names = {"likely": "likely", "borderline": "borderline", "hopeless": "unlikely"}
        marks = "".join(f'<i class="{kind}"></i>{word}' for kind, word in names.items())
        st.html(f'<div class="tpc-outlook">Certificate:{marks}</div>')


def _moved() -> None:
    told = st.session_state[KEY].move
    if not told:
        return
    st.session_state["dragged_stamp"] = int(told.get("stamp", 0))
    if told.get("final"):
        for key, value in zip(
            st.session_state.get("dragged_names", []), told.get("values", []), strict=False
        ):
            if float(value) > 0:
                st.session_state[key] = float(value)
        st.session_state["dragged_radius"] = True


def _bands(request: Request, landscape: Landscape | None) -> list[Band]:
    """Stretches in parts of the radius, as far as the map reaches; none where its votes say nothing of it."""
    question = request.question
    if landscape is None or not landscape.by_votes or request.model.task != "classification":
        return []
    if question.options.protocol != "adaptive" or not landscape.asked.any():
        return []
    try:
        run = prepare(request.model, request.cloud, question.transform, question.radius, question.options)
    except TpcError:
        return []
    wide = extent(landscape.chart, question.radii) / landscape.chart.half_widths(question.radii)
    edges = np.linspace(0, float(np.min(wide)), _PARTS + 1)
    found = outlooks(landscape, run.claim, edges[1:].tolist())
    bands: list[Band] = []
    for low, high, seen in zip(edges[:-1], edges[1:], found, strict=True):
        if bands and bands[-1].kind == seen.chance:  # one stretch, without a seam
            bands[-1] = replace(bands[-1], end=float(high))
        else:
            bands.append(Band(float(low), float(high), seen.chance, _WORDS[seen.chance]))
    return bands


def _scaled(band: Band, value: float) -> Band:
    return replace(band, start=band.start * value, end=band.end * value)
