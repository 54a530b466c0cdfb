"""The first screen: the name, one sentence, three doors, and an object that a twist turns into something else."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.components.demonstration import demonstration
from app.components.stage import HOME, stage
from app.components.style import theme
from app.figures.cloud import MeshView
from app.figures.looks import stage_look
from app.figures.scene import scene_of
from app.pages.home.twisted_object import MODEL, OBJECT, STEP, TRANSFORM, answers
from app.server import cache
from app.session.links import STREAMLITS_OWN
from app.widgets.objects import poster_of, title_of
from tpc_core import parse_transform

STAGE = "home"
SENTENCE = "Can a twist fool this classifier? Break it, then prove that nothing can."
_HEIGHT = "clamp(220px, min(100vh - 360px, 75vw), 640px)"


@dataclass(frozen=True)
class Door:
    """A way in: the page that it opens, and what one does there."""

    name: str
    page: str
    icon: str
    text: str
    query: dict[str, str]


_SAME = {"object": OBJECT, "transform": TRANSFORM}
DOORS = (
    Door(
        "Break it",
        "explore",
        ":material/3d_rotation:",
        "Twist, turn and bend an object until the classifier gives a wrong answer.",
        _SAME,
    ),
    Door(
        "Prove it",
        "certify",
        ":material/verified:",
        "Compute a certificate: a proof that no change up to a given size fools the classifier.",
        _SAME,
    ),
    Door("Learn", "lessons", ":material/school:", "Short lessons show, step by step, why this works.", {}),
)


def page() -> None:
    """Name and sentence on top, then the object and the doors; a link with a state belongs to Explore."""
    state = {name: value for name, value in st.query_params.items() if name not in STREAMLITS_OWN}
    if state:
        st.switch_page(st.session_state["pages"]["explore"], query_params=state)
    st.html(f'<h1 class="tpc-title">TPC Explorer</h1><p class="tpc-sentence">{SENTENCE}</p>')
    object_side, door_side = st.columns([7, 4], gap="large")
    with object_side:
        _object()
    with door_side:
        for door in DOORS:
            _door(door)
        with st.container(horizontal=True, gap="medium", key="home_more"):
            for name in ("about",):
                st.page_link(st.session_state["pages"][name])
    with object_side:
        _answers()


def _object() -> None:
    """The object itself. Its picture does not wait for the model."""
    shape = cache.shape(OBJECT)
    mesh = shape.mesh_around(256)
    assert mesh is not None  # every object of the gallery has one
    stage(
        scene_of(shape.cloud(256).points.numpy(), MeshView(mesh.vertices, mesh.faces)),
        parse_transform(TRANSFORM),
        [0.0],
        key=STAGE,
        height=_HEIGHT,
        look=stage_look(theme()),
        settings={
            "colouring": "height",
            "surface": True,
            "ghost": False,
            "side_by_side": False,
            "point_size": 2.5,
        },
        camera_of=OBJECT,
        title=title_of(OBJECT, shape),
        actions=(HOME,),
        poster=poster_of(OBJECT),
    )


def _answers() -> None:
    found = answers()
    demonstration(
        stage=STAGE,
        transform=TRANSFORM,
        label="Twist",
        step=STEP,
        farthest=found.farthest,
        truth=found.truth,
        classes=found.classes,
        confidences=found.confidences,
        key="home_answers",
    )
    st.caption(
        f"The answers are those of the network {MODEL}, which sees 64 points. It was asked at every half degree."
    )


def _door(door: Door) -> None:
    with st.container(border=True, key=f"door_{door.page}"):
        st.page_link(
            st.session_state["pages"][door.page],
            label=f"**{door.name}**",
            icon=door.icon,
            query_params=door.query,
        )
        st.markdown(door.text)
