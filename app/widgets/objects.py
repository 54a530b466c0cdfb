"""Choosing an object: the gallery, the data sets on this machine, or a file of the visitor's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app.components.escape_markdown import literal
from app.components.thumbnails import thumbnails
from app.figures.portraits import SIDE, portrait
from app.server import cache
from app.server.visitors import uploads
from app.session.links import Piece
from app.session.uploads import is_upload, read_upload
from app.widgets.datasets import browse, datasets, parsed_spec, step
from tpc_core import gallery
from tpc_core.data import MODELNET40_CLASSES, Shape, turned_z_up
from tpc_core.data.files import FORMATS
from tpc_core.data.sandbox import warm_up
from tpc_core.errors import TpcError, UnknownName

FIRST = "gallery:chair-1"
NOT_SHARED = "This object is your own file: the link opens it in this browser only."


def current_spec() -> str:
    """The object that this visitor looks at, by name."""
    return str(st.session_state.setdefault("object", FIRST))


def current_shape() -> Shape:
    """The object itself; one that cannot be loaded falls back to the first, with a notice."""
    try:
        return shape_of(current_spec())
    except TpcError as error:
        st.warning(f"{literal(error)}. Showing {FIRST} instead.")
        st.session_state["object"] = FIRST
        return cache.shape(FIRST)


def shape_of(spec: str) -> Shape:
    """An object that a visitor may see: of the gallery, of a data set, or their own; never a path on this machine."""
    if is_upload(spec):
        mine = uploads().get(str(st.session_state["visitor"]), spec)
        if mine is None:
            raise UnknownName(
                "this is a file that somebody uploaded, and it is not here any more; upload it again"
            )
        return mine
    if spec.partition(":")[0] not in ("gallery", *datasets().values()):
        raise UnknownName(f"{spec!r} names no object; write gallery:chair-1 or modelnet40:test/17")
    return cache.shape(spec)


def _read(spec: str) -> None:
    shape_of(spec)
    st.session_state["object"] = spec


OBJECT = Piece("object", lambda: "" if current_spec() == FIRST else current_spec(), _read)
"""The object in the address of a page."""


def title_of(spec: str, shape: Shape) -> str:
    """A few words for people; of a long id, its beginning."""
    titles = {f"gallery:{entry.name}": entry.title for entry in gallery()}
    name = shape.name.rpartition("/")[2]
    short = f"{(shape.label or 'object').replace('_', ' ')} {name[:8]}" if len(name) > 24 else name
    return titles.get(spec, short)


def poster_of(spec: str) -> str:
    """The small picture of an object of the gallery, in static/; empty for others."""
    return f"thumbnails/{spec.removeprefix('gallery:')}.png" if spec.startswith("gallery:") else ""


def part_names(spec: str) -> dict[int, str]:
    """Part id -> word, where the gallery knows them; ShapeNet numbers its parts in the same way."""
    known = [
        entry.part_names
        for entry in gallery()
        if spec == f"gallery:{entry.name}" or spec.startswith("shapenetpart:")
    ]
    return {number: word for names in known for number, word in names.items()}


def object_button(shape: Shape) -> None:
    """The current object with its picture, and the button that opens the chooser."""
    spec = current_spec()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if poster_of(spec):
            st.html(f'<img class="tpc-object" alt="" src="app/static/{poster_of(spec)}">', width="content")
        else:
            st.html('<div class="tpc-object tpc-blank" data-tpc-portrait="cloud">●●●</div>', width="content")
        label = f"class *{shape.label.replace('_', ' ')}*" if shape.label else "class unknown"
        st.markdown(f"**{literal(title_of(spec, shape))}**  \n{label}", width="content")
    if st.button("Choose an object", width="stretch", icon=":material/category:", key="choose_object"):
        st.session_state[_CHOOSING] = True
    # Should the page run again all the same, that must not close the dialog under somebody's hands.
    if is_choosing():
        choose_object()
    if parsed_spec(spec) is not None:
        _steps(spec)


def _steps(spec: str) -> None:
    """From one object of a data set to the next."""

    def go(by: int | None) -> None:
        st.session_state["object"] = step(spec, st.session_state.get("shelf"), by)

    before, after, chance = st.columns(3, gap="small")
    before.button(
        "‹", key="object_before", help="The object before", width="stretch", on_click=go, args=(-1,)
    )
    after.button("›", key="object_after", help="The next object", width="stretch", on_click=go, args=(1,))
    chance.button("Random", key="object_random", width="stretch", on_click=go, args=(None,))


_CHOOSING = "choosing_object"


def draw_again() -> None:
    """Draw the whole page again, unless the chooser is open: it would close, and lose the file that was given to it.

    Whatever polls calls this when nothing more comes; the page is drawn at the next click instead.
    """
    if not is_choosing():
        st.rerun()


def is_choosing() -> bool:
    """Whether the dialog is open: a page that would run again by itself waits until it is closed."""
    return bool(st.session_state.get(_CHOOSING))


def _chosen() -> None:
    st.session_state[_CHOOSING] = False


@st.dialog("Choose an object", width="large", on_dismiss=_chosen)
def choose_object() -> None:
    """Gallery, data sets and upload, one tab each."""
    known = datasets()
    tabs = st.tabs(["Gallery", *known, "Upload"], key="object_source", on_change="rerun")
    taken = None
    with tabs[0]:
        taken = _gallery()
    for tab, (title, name) in zip(tabs[1:], known.items(), strict=False):
        with tab:
            taken = browse(title, name) or taken
    with tabs[-1]:
        taken = _upload() or taken
    if taken is not None:
        st.session_state["object"] = taken
        _chosen()
        st.rerun()


def _gallery() -> str | None:
    wanted = (
        st.text_input("Search", placeholder="chair, lamp, airliner ...", key="gallery_search").strip().lower()
    )
    entries = [
        entry for entry in gallery() if wanted in f"{entry.name} {entry.title} {entry.category}".lower()
    ]
    if not entries:
        st.caption("No object of the gallery is called that.")
    items = [
        {
            "name": entry.name,
            "title": entry.title,
            "picture": f"app/static/{poster_of(f'gallery:{entry.name}')}",
        }
        for entry in entries
    ]
    picked = thumbnails(items, selected=current_spec().removeprefix("gallery:"), key="gallery_grid")
    return f"gallery:{picked}" if picked in {entry.name for entry in entries} else None


def _upload() -> str | None:
    warm_up()
    endings = ", ".join(ending.lstrip(".") for ending in sorted(FORMATS))
    st.caption(
        f"A mesh or a cloud, at most 50 MB: {endings}. It is yours: nobody else sees it, nothing is kept on disk."
    )
    given = st.file_uploader("File", type=[ending.lstrip(".") for ending in FORMATS], key="upload_file")
    if given is None:
        return None
    content = given.getvalue()
    try:
        shape = read_upload(content, given.name)
    except TpcError as error:
        st.error(literal(error))
        return None
    shape, words = _described(shape, given.name)
    if not st.button("Show this object", type="primary", key="upload_take"):
        return None
    return uploads().put(str(st.session_state["visitor"]), content + words.encode(), shape)


def _described(shape: Shape, file: str) -> tuple[Shape, str]:
    """What a file does not say itself, asked of its visitor: which axis points up, and of which class it is."""
    picture, controls = st.columns([1, 2.4])
    with controls:
        kind = "a mesh" if shape.mesh is not None else "a cloud"
        st.markdown(f"**{literal(shape.name)}**: {kind}, up to {shape.max_points:,} points")
        if file.lower().endswith(".glb"):
            st.caption("glTF files are y-up by definition: this one was turned z-up.")
        up = st.segmented_control(
            "Up axis", ["z", "y"], default="z", key="upload_up", help="The axis that points up in the file."
        )
        label = st.selectbox(
            "Class", ["unknown", *MODELNET40_CLASSES], key="upload_class", format_func=_plain_class,
            help="What it is, so that the page can say whether the model is right.",
        )  # fmt: skip
    described = replace(
        turned_z_up(shape) if up == "y" else shape, label=None if label == "unknown" else str(label)
    )
    with picture:
        points = described.cloud(min(512, described.max_points)).array
        st.html(f'<img alt="The object as it stands" src="{portrait(points)}" width="{SIDE}">')
    return described, f"{up}|{label}"


def _plain_class(name: str) -> str:
    return name.replace("_", " ")
