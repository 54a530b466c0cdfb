"""The shaded still of the current view, in a dialog."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.figures.cloud import CloudView, Colouring, graded, half_side
from app.figures.theme import OKABE_ITO, SEQUENTIAL, Theme
from app.literal import literal
from app.look import theme
from app.stills import CannotRender, Renderer, Still, view_of


@st.cache_resource(show_spinner=False)
def renderer() -> Renderer:
    """The one rendering process."""
    return Renderer()


def still_of(
    view: CloudView, camera: dict[str, Any] | None, theme: Theme, colouring: Colouring = "height"
) -> Still:
    """The view as Open3D will render it, in the same colours: the mesh where there is one, else splats."""
    eye, centre = view_of(camera)
    return Still(
        vertices=view.mesh.vertices if view.mesh is not None else view.moved,
        colours=_colours(view, theme, colouring),
        faces=view.mesh.faces if view.mesh is not None else None,
        eye=eye,
        centre=centre,
        half_side=half_side(view.moved),
        background=_rgb(theme.paper),
    )


def _colours(view: CloudView, theme: Theme, colouring: Colouring) -> NDArray[np.floating]:
    """The colour of every vertex of the mesh, or of every point."""
    if view.mesh is None and colouring == "parts" and view.parts is not None:
        palette = np.array([_rgb(colour) for colour in OKABE_ITO])
        _, numbers = np.unique(view.parts, return_inverse=True)
        return np.asarray(palette[numbers % len(palette)])
    if view.mesh is None and colouring == "critical" and view.critical is not None:
        decides = np.asarray(view.critical) > 0
        return np.where(decides[:, None], _rgb(OKABE_ITO[5]), _rgb(theme.ghost))
    if view.mesh is None:
        return _sampled(*graded(view.moved, view.displacement, theme, colouring))
    vertices, before = view.mesh.vertices, view.original_mesh
    moved = np.zeros(len(vertices)) if before is None else np.linalg.norm(vertices - before.vertices, axis=1)
    return _sampled(*graded(vertices, moved, theme, colouring))


def _sampled(values: NDArray[np.floating], low: float, high: float) -> NDArray[np.floating]:
    """The colours of the sequential scale."""
    from plotly.colors import get_colorscale

    stops = get_colorscale(SEQUENTIAL)
    places, table = [place for place, _ in stops], np.array([_rgb(colour) for _, colour in stops])
    share = (np.asarray(values) - low) / (high - low)
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
