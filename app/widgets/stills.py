"""The shaded still of the current view, in a dialog."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from app.figures.cloud import CloudView
from app.figures.theme import OKABE_ITO
from app.literal import literal
from app.look import theme
from app.stills import CannotRender, Renderer, Still, eye_of


@st.cache_resource(show_spinner=False)
def renderer() -> Renderer:
    """The one rendering process."""
    return Renderer()


def still_of(view: CloudView, camera: dict[str, Any] | None, *, dark: bool) -> Still:
    """The view as Open3D will render it: the mesh where there is one, else splats."""
    vertices = view.mesh.vertices if view.mesh is not None else view.moved
    colours = np.tile(_rgb("#8fb4d9"), (len(vertices), 1))
    if view.mesh is None and view.parts is not None:
        palette = np.array([_rgb(colour) for colour in OKABE_ITO])
        _, numbers = np.unique(view.parts, return_inverse=True)
        colours = palette[numbers % len(palette)]
    return Still(
        vertices=vertices,
        colours=colours,
        faces=view.mesh.faces if view.mesh is not None else None,
        eye=eye_of(camera),
        background=_rgb("#12161d") if dark else (1.0, 1.0, 1.0),
    )


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


@st.dialog("Shaded still", width="medium")
def show_still(view: CloudView, camera: dict[str, Any] | None, name: str) -> None:
    """Render and show it, with a download; one sentence says what to install where it cannot."""
    try:
        with st.spinner("Open3D renders ..."):
            picture = renderer().render(still_of(view, camera, dark=theme().paper != "#ffffff"))
    except CannotRender as error:
        st.info(literal(error))
        return
    st.image(picture, width="stretch")
    st.download_button(
        "Download PNG", picture, file_name=f"{name}.png", mime="image/png", icon=":material/download:"
    )
