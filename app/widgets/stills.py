"""The shaded still of the current view, in a dialog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape_markdown import literal
from app.components.style import theme
from app.figures.cloud import CloudView, Colouring, graded, ramp
from app.figures.looks import point_radius, stage_look
from app.figures.theme import KINDS, Theme
from app.server.stills import CannotRender, Renderer, Still, camera_of


@st.cache_resource(show_spinner=False)
def renderer() -> Renderer:
    """The one rendering process."""
    return Renderer()


def still_of(
    view: CloudView, camera: dict[str, Any] | None, theme: Theme, colouring: Colouring = "height"
) -> Still:
    """The view as Open3D will render it, in the same colours and framed in the same way."""
    seen = camera_of(camera)
    mesh, look = view.mesh, stage_look(theme)
    return Still(
        points=view.moved,
        colours=_colours(view, theme, colouring),
        eye=seen.eye,
        centre=seen.centre,
        field=seen.field,
        radius=point_radius(len(view.moved)),
        vertices=None if mesh is None else mesh.vertices,
        faces=None if mesh is None else mesh.faces,
        clay=_rgb(look["clay"]),
        background=_rgb(look["background"]),
        aspect=seen.aspect,
    )


def _colours(view: CloudView, theme: Theme, colouring: Colouring) -> NDArray[np.floating]:
    """The colour of every point."""
    if colouring == "parts" and view.parts is not None:
        palette = np.array([_rgb(colour) for colour in KINDS])
        _, numbers = np.unique(view.parts, return_inverse=True)
        return np.asarray(palette[numbers % len(palette)])
    if colouring == "critical" and view.critical is not None:
        weights = np.asarray(view.critical)
        strength = _sampled(weights / max(float(weights.max()), 1e-9), 0.0, 1.0, ramp(theme, colouring))
        return np.where(weights[:, None] > 0, strength, _rgb(theme.ghost))
    return _sampled(*graded(view, colouring), ramp(theme, colouring))


def _sampled(
    values: NDArray[np.floating], low: float, high: float, colours: Sequence[str]
) -> NDArray[np.floating]:
    """The colours between those of a ramp."""
    table = np.array([_rgb(colour) for colour in colours])
    share = (np.asarray(values) - low) / (high - low)
    places = np.linspace(0, 1, len(table))
    return np.stack([np.interp(share, places, table[:, channel]) for channel in range(3)], axis=1)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


@st.dialog("Shaded still", width="medium")
def show_still(view: CloudView, camera: dict[str, Any] | None, colouring: Colouring, name: str) -> None:
    """Render and show it, with a download; one sentence says what to install where it cannot."""
    try:
        with st.spinner("Open3D renders ..."):
            picture = renderer().render(still_of(view, camera, theme(), colouring))
    except CannotRender as error:
        st.info(literal(error))
        return
    st.image(picture, width="stretch")
    st.download_button(
        "Download PNG", picture, file_name=f"{name}.png", mime="image/png", icon=":material/download:"
    )
