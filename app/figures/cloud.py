"""The cloud in 3D: transformed points or mesh, the original as a ghost, colours that say something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed, xyz
from app.figures.looks import CRITICAL, DISPLACEMENT, HEIGHT
from app.figures.point_groups import part_colour
from app.figures.theme import DARK, Figure, Theme, base_layout, colour_bar

Points = NDArray[np.floating]
Colouring = Literal["displacement", "height", "parts", "critical"]

LIMIT = 1.15
"""Half the side of the drawn cube: the unit ball with a margin; the axes never jump within it."""

GHOST_POINTS = 256
"""Points of a ghost: enough to see where the object was, and each one costs time at every frame."""

CAMERA: Figure = {
    "eye": {"x": 1.0, "y": -1.15, "z": 0.6},
    "up": {"x": 0, "y": 0, "z": 1},
    "center": {"x": 0, "y": 0, "z": -0.1},
    "projection": {"type": "perspective"},
}


@dataclass(frozen=True)
class MeshView:
    """Triangles: vertices (V, 3) and faces (F, 3)."""

    vertices: Points
    faces: NDArray[np.integer]


@dataclass(frozen=True)
class CloudView:
    """Everything that the 3D view may show of one object."""

    original: Points
    moved: Points
    parts: NDArray[np.integer] | None = None
    part_names: Mapping[int, str] | None = None
    critical: NDArray[np.floating] | None = None
    """How many features each point decides; same length as the points."""
    mesh: MeshView | None = None
    """The transformed mesh, drawn faintly under the points."""
    original_mesh: MeshView | None = None

    @property
    def displacement(self) -> Points:
        """How far each point moved."""
        return np.asarray(np.linalg.norm(self.moved - self.original, axis=1))


def cloud_figure(
    view: CloudView,
    theme: Theme,
    *,
    colouring: Colouring = "height",
    ghost: bool = True,
    side_by_side: bool = False,
    size: float = 4.0,
) -> Figure:
    """The 3D figure; one scene, or two side by side (original left, transformed right)."""
    limit = half_side(view.moved)
    traces: list[Figure] = []
    layout = base_layout(theme, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    if side_by_side:
        traces += _ghost(view, theme, size, "scene", strong=True)
        traces += _body(view, theme, colouring, size, "scene2")
        layout["scene"] = _scene(theme, limit, (0.0, 0.495), away=1.25)
        layout["scene2"] = _scene(theme, limit, (0.505, 1.0), away=1.25)
    else:
        if ghost:
            traces += _ghost(view, theme, size, "scene", strong=False)
        traces += _body(view, theme, colouring, size, "scene")
        layout["scene"] = _scene(theme, limit, (0.0, 1.0))
    layout["legend"] = {
        "x": 0.01,
        "y": 0.99,
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12},
        "itemsizing": "constant",
    }
    layout["showlegend"] = colouring in ("parts", "critical")
    return {"data": traces, "layout": layout}


def half_side(points: Points) -> float:
    """Half the side of the drawn cube: fixed, and in whole steps where a strong transform leaves the cube."""
    reach = float(np.abs(points).max(initial=0.0))
    return LIMIT if reach <= LIMIT else LIMIT * float(np.ceil(2 * reach / LIMIT)) / 2


def _scene(theme: Theme, limit: float, domain: tuple[float, float], *, away: float = 1.0) -> Figure:
    """The quiet cube; a narrow scene is seen from farther away."""
    quiet = {
        "range": [-limit, limit],
        "autorange": False,
        "showbackground": False,
        "gridcolor": theme.grid,
        "zerolinecolor": theme.grid,
        "showspikes": False,
        # Numbers would say little of a cloud in the unit ball, and each is a mesh that software must draw.
        "showticklabels": False,
        "tickvals": [-1, 0, 1],
    }
    axes = {
        f"{name}axis": {**quiet, "title": {"text": name, "font": {"color": theme.muted}}} for name in "xyz"
    }
    return {
        **axes,
        "aspectmode": "cube",
        "camera": {**CAMERA, "eye": {name: away * value for name, value in CAMERA["eye"].items()}},
        "domain": {"x": list(domain), "y": [0, 1]},
        "uirevision": "keep",
        "dragmode": "turntable",
    }


def _ghost(view: CloudView, theme: Theme, size: float, scene: str, *, strong: bool) -> list[Figure]:
    if view.original_mesh is not None:
        trace = _mesh(view.original_mesh, scene)
        trace |= {"color": theme.ghost, "opacity": 0.5 if strong else 0.1, "hoverinfo": "skip"}
        return [trace]
    # The first points, in farthest-point order, are spread over the whole object.
    points = view.original if strong else view.original[:GHOST_POINTS]
    marker = {
        **_dots(len(points), size if strong else max(2.0, 0.8 * size)),
        "color": theme.ghost,
        "opacity": 0.9 if strong else 0.45,
    }
    return [
        {
            "type": "scatter3d",
            "mode": "markers",
            "scene": scene,
            "name": "original",
            "marker": marker,
            "hoverinfo": "skip",
            **xyz(points),
        }
    ]


def _body(view: CloudView, theme: Theme, colouring: Colouring, size: float, scene: str) -> list[Figure]:
    return [*_surface(view.mesh, theme, scene), *_points(view, theme, colouring, size, scene)]


def _surface(mesh: MeshView | None, theme: Theme, scene: str) -> list[Figure]:
    """The faint surface below the points, where there is one."""
    faint = {
        "color": theme.ghost,
        "opacity": 0.3,
        "hoverinfo": "skip",
        "name": "surface",
        "showlegend": False,
    }
    return [] if mesh is None else [_mesh(mesh, scene) | faint]


def _points(view: CloudView, theme: Theme, colouring: Colouring, size: float, scene: str) -> list[Figure]:
    if colouring == "parts" and view.parts is not None:
        return _parts(view, view.parts, size, scene)
    if colouring == "critical" and view.critical is not None:
        return _critical(view, view.critical, theme, size, scene)
    marker = {
        **_dots(len(view.moved), size),
        "opacity": 1.0,
        **_scale(view, theme, colouring),
    }
    return [{**_markers("points", view.moved, scene), "marker": marker}]


def ramp(theme: Theme, colouring: Colouring) -> tuple[str, ...]:
    """The colours, from least to most, that grade points: the same on the stage, in Plotly and in a still."""
    kind = "dark" if theme == DARK else "light"
    ramps: dict[str, Mapping[str, tuple[str, ...]]] = {"displacement": DISPLACEMENT, "critical": CRITICAL}
    return ramps.get(colouring, HEIGHT)[kind]


def graded(view: CloudView, colouring: Colouring) -> tuple[Points, float, float]:
    """The value that colours each point, and the range of values that the colours span."""
    if colouring == "displacement":
        farthest = float(view.displacement.max(initial=0.0))
        return view.displacement, 0.0, max(0.25, float(np.ceil(4 * farthest)) / 4)
    low, high = float(view.original[:, 2].min()), float(view.original[:, 2].max())
    return view.moved[:, 2], low, max(high, low + 0.05)


def _scale(view: CloudView, theme: Theme, colouring: Colouring) -> Figure:
    values, low, high = graded(view, colouring)
    stops = ramp(theme, colouring)
    colours = [[place / (len(stops) - 1), colour] for place, colour in enumerate(stops)]
    scale = {"color": packed(values), "colorscale": colours, "cmin": low, "cmax": high}
    if colouring == "displacement":
        return scale | {"showscale": True, "colorbar": colour_bar(theme, "displacement", x=0.99, len=0.7)}
    return scale | {"showscale": False}


def _dots(count: int, size: float) -> Figure:
    """Discs, or squares where there are many small ones: a disc is a mesh of dozens of triangles, a square of two."""
    many = count > 64 and size < 5
    return {"symbol": "square", "size": 0.9 * size} if many else {"symbol": "circle", "size": size}


def _markers(name: str, points: Points, scene: str) -> Figure:
    return {
        "type": "scatter3d",
        "mode": "markers",
        "scene": scene,
        "name": name,
        **xyz(points),
        "hovertemplate": "%{x:.2f}, %{y:.2f}, %{z:.2f}<extra>" + name + "</extra>",
    }


def _parts(view: CloudView, parts: NDArray[np.integer], size: float, scene: str) -> list[Figure]:
    names = view.part_names or {}
    traces = []
    for number, part in enumerate(np.unique(parts)):
        name = names.get(int(part), f"part {int(part)}")
        colour = part_colour(number)
        marker = {**_dots(len(view.moved), size), "color": colour}
        traces.append({**_markers(name, view.moved[parts == part], scene), "marker": marker})
    return traces


def _critical(
    view: CloudView, weight: NDArray[np.floating], theme: Theme, size: float, scene: str
) -> list[Figure]:
    decides = weight > 0
    rest = {**_markers("other points", view.moved[~decides], scene)}
    rest["marker"] = {"size": size * 0.7, "color": theme.ghost, "opacity": 0.5}
    share = weight[decides] / max(float(weight.sum()), 1.0)
    loud = {**_markers("decide the max pool", view.moved[decides], scene), "customdata": packed(100 * share)}
    loud["marker"] = {
        "size": packed(size * (0.9 + 1.2 * np.sqrt(share / max(float(share.max(initial=0.0)), 1e-9)))),
        "color": ramp(theme, "critical")[1],
        "opacity": 0.95,
    }
    loud["hovertemplate"] = "decides %{customdata:.1f} % of the features<extra></extra>"
    return [rest, loud]


def _mesh(mesh: MeshView, scene: str) -> Figure:
    faces = np.asarray(mesh.faces)
    return {
        "type": "mesh3d",
        "scene": scene,
        **xyz(mesh.vertices),
        "i": packed(faces[:, 0], "i4"),
        "j": packed(faces[:, 1], "i4"),
        "k": packed(faces[:, 2], "i4"),
        "flatshading": True,
        "lighting": {"ambient": 0.55, "diffuse": 0.7, "specular": 0.15, "roughness": 0.7},
        "lightposition": {"x": 200, "y": -300, "z": 600},
    }


def certified_parts_figure(
    points: Points,
    predictions: NDArray[np.integer],
    certified: NDArray[np.bool_],
    names: Mapping[int, str],
    theme: Theme,
    *,
    size: float = 4.0,
    mesh: MeshView | None = None,
) -> Figure:
    """Part segmentation: certified points in the colour of their part, the others as hollow grey marks."""
    traces: list[Figure] = _surface(mesh, theme, "scene")
    for number, part in enumerate(np.unique(predictions)):
        sure = (predictions == part) & certified
        name = names.get(int(part), f"part {int(part)}")
        colour = part_colour(number)
        traces.append({**_markers(name, points[sure], "scene"), "marker": {"size": size, "color": colour}})
    open_marks = {"size": size, "color": theme.ghost, "symbol": "circle-open", "opacity": 0.9}
    traces.append({**_markers("not certified", points[~certified], "scene"), "marker": open_marks})
    layout = base_layout(theme, margin={"l": 0, "r": 0, "t": 0, "b": 0}, showlegend=True)
    layout["scene"] = _scene(theme, LIMIT, (0.0, 1.0))
    layout["legend"] = {"x": 0.01, "y": 0.99, "bgcolor": "rgba(0,0,0,0)", "itemsizing": "constant"}
    return {"data": traces, "layout": layout}
