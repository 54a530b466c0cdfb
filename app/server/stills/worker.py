"""The process that renders: reads a Still on stdin, writes a PNG on stdout, until stdin ends."""

from __future__ import annotations

import importlib
import io
import os
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from app.server.stills import receive, send

WIDTH, HEIGHT = 1200, 900
"""Of the renderer's picture; a still is a part of it."""
SCREEN_GAMMA = 2.2
"""The renderer takes light as it is, and colours are given as screens show them."""


def main() -> None:
    """Serve one still after another."""
    requests = sys.stdin.buffer
    # Open3D prints to stdout; answers go to a copy of it, and stdout itself to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    renderer: Any = None
    while True:
        try:
            content = receive(requests)
        except EOFError:
            return
        try:
            renderer = renderer or _renderer()
            answer = _render(content, renderer)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}".encode()
        send(answers, answer)


def bindings() -> Any:
    """Open3D's compiled part by itself: `geometry`, `utility` and `visualization.rendering` are all that is used.

    Its Python package imports a web server, notebooks and scikit-learn on the way, which are not installed here.
    """
    if "open3d" not in sys.modules:
        found = find_spec("open3d")
        assert found is not None
        package = ModuleType("open3d")
        package.__path__ = list(found.submodule_search_locations or ())
        package.__file__ = found.origin  # by which the compiled part finds its materials
        sys.modules["open3d"] = package
    return importlib.import_module("open3d.cpu.pybind")


def _renderer() -> Any:
    """The one renderer: another one beside it, or after it, may abort, and each takes a second to make."""
    o3d = bindings()
    made = o3d.visualization.rendering.OffscreenRenderer(WIDTH, HEIGHT)
    grading = o3d.visualization.rendering.ColorGrading
    # Light as it is: the film-like default would grey the background and the colours that mean something.
    made.scene.view.set_color_grading(grading(grading.Quality.LOW, grading.ToneMapping.LINEAR))
    return made


def _render(content: bytes, renderer: Any) -> bytes:
    from PIL import Image

    o3d = bindings()
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        request = dict(stored)
    eye, centre = request["eye"], request["centre"]
    field, radius, aspect = request["numbers"]
    renderer.scene.clear_geometry()
    renderer.scene.set_background([*request["background"], 1.0])
    way = (centre - eye) / np.linalg.norm(centre - eye)
    renderer.scene.scene.set_sun_light(way - [0.3, 0.1, 0.6], [1.0, 1.0, 1.0], 60_000)
    renderer.scene.scene.enable_sun_light(True)
    renderer.scene.scene.enable_indirect_light(True)
    material = o3d.visualization.rendering.MaterialRecord()
    material.shader = "defaultLit"
    material.base_roughness = 0.75
    balls = _balls(o3d, request["points"], request["colours"], radius)
    renderer.scene.add_geometry("points", balls, material)
    if len(request["faces"]):
        surface = _surface(o3d, request["vertices"], request["faces"].astype(np.int64), request["clay"])
        renderer.scene.add_geometry("surface", surface, material)
    width, height = cut(aspect)
    # The frame is a part of what the renderer sees, which therefore sees more from top to bottom.
    whole = 2 * np.degrees(np.arctan(np.tan(np.radians(field) / 2) * HEIGHT / height))
    renderer.setup_camera(float(whole), centre, eye, [0.0, 0.0, 1.0])
    left, top = (WIDTH - width) // 2, (HEIGHT - height) // 2
    picture = np.asarray(renderer.render_to_image())[top : top + height, left : left + width]
    picture = np.ascontiguousarray(picture)
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, format="PNG", compress_level=3)
    return stream.getvalue()


def cut(aspect: float) -> tuple[int, int]:
    """Width and height of the largest frame of this shape in the renderer's picture."""
    return min(WIDTH, round(HEIGHT * aspect)), min(HEIGHT, round(WIDTH / aspect))


def _balls(o3d: Any, points: np.ndarray, colours: np.ndarray, radius: float) -> Any:
    """A small sphere at every point."""
    ball = o3d.geometry.TriangleMesh.create_sphere(radius, resolution=6 if len(points) > 256 else 12)
    ball.compute_vertex_normals()
    corners, triangles, sides = (np.asarray(a) for a in (ball.vertices, ball.triangles, ball.vertex_normals))
    starts = np.arange(len(points))[:, None, None] * len(corners)
    mesh = _mesh(
        o3d,
        (points[:, None] + corners[None]).reshape(-1, 3),
        (triangles[None] + starts).reshape(-1, 3),
        np.repeat(colours, len(corners), axis=0),
    )
    mesh.vertex_normals = o3d.utility.Vector3dVector(np.tile(sides, (len(points), 1)))
    return mesh


def _surface(o3d: Any, vertices: np.ndarray, faces: np.ndarray, clay: np.ndarray) -> Any:
    """Each face with its own corners, wound both ways: flat shading, and seen from either side."""
    both = np.concatenate([faces, faces[:, ::-1]])
    corners = vertices[both].reshape(-1, 3)
    mesh = _mesh(o3d, corners, np.arange(len(corners)).reshape(-1, 3), np.tile(clay, (len(corners), 1)))
    mesh.compute_vertex_normals()
    return mesh


def _mesh(o3d: Any, vertices: np.ndarray, faces: np.ndarray, colours: np.ndarray) -> Any:
    mesh = o3d.geometry.TriangleMesh(o3d.utility.Vector3dVector(vertices), o3d.utility.Vector3iVector(faces))
    mesh.vertex_colors = o3d.utility.Vector3dVector(colours**SCREEN_GAMMA)
    return mesh


if __name__ == "__main__":
    main()
