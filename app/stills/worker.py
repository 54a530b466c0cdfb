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

from app.stills import receive, send

SPLAT_RADIUS = 0.016
SCREEN_GAMMA = 2.2
"""The renderer takes light as it is, and colours are given as screens show them."""
PLOTLY_FIELD = 45.0
"""Degrees that Plotly's camera sees from top to bottom."""


def main() -> None:
    """Serve one still after another."""
    requests = sys.stdin.buffer
    # Open3D prints to stdout; answers go to a copy of it, and stdout itself to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    renderers: dict[tuple[int, int], Any] = {}
    while True:
        try:
            content = receive(requests)
        except EOFError:
            return
        try:
            answer = _render(content, renderers)
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


def _render(content: bytes, renderers: dict[tuple[int, int], Any]) -> bytes:
    from PIL import Image

    o3d = bindings()
    with np.load(io.BytesIO(content), allow_pickle=False) as request:
        vertices, colours, faces = request["vertices"], request["colours"], request["faces"]
        eye, centre, background = request["eye"], request["centre"], request["background"]
        width, height = (int(side) for side in request["size"])
    if (width, height) not in renderers:
        renderers.clear()  # one renderer at a time: a second one beside it aborts
        renderers[width, height] = o3d.visualization.rendering.OffscreenRenderer(width, height)
    renderer = renderers[width, height]
    renderer.scene.clear_geometry()
    renderer.scene.set_background([*background, 1.0])
    renderer.scene.scene.set_sun_light(-eye / np.linalg.norm(eye) - [0.2, 0.1, 0.6], [1.0, 1.0, 1.0], 60_000)
    renderer.scene.scene.enable_sun_light(True)
    renderer.scene.scene.enable_indirect_light(True)
    material = o3d.visualization.rendering.MaterialRecord()
    material.shader = "defaultLit"
    material.base_roughness = 0.75
    renderer.scene.add_geometry("object", _geometry(o3d, vertices, colours, faces), material)
    renderer.setup_camera(PLOTLY_FIELD, centre, eye, [0.0, 0.0, 1.0])
    picture = np.asarray(renderer.render_to_image())
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, format="PNG")
    return stream.getvalue()


def _geometry(o3d: Any, vertices: np.ndarray, colours: np.ndarray, faces: np.ndarray) -> Any:
    """The mesh itself, or a small sphere at every point."""
    if not len(faces):
        ball = o3d.geometry.TriangleMesh.create_sphere(SPLAT_RADIUS, resolution=6)
        corners, triangles = np.asarray(ball.vertices), np.asarray(ball.triangles)
        starts = np.arange(len(vertices))[:, None, None] * len(corners)
        faces = (triangles[None] + starts).reshape(-1, 3)
        colours = np.repeat(colours, len(corners), axis=0)
        vertices = (vertices[:, None] + corners[None]).reshape(-1, 3)
    else:
        # Each face its own corners, wound both ways: flat shading, and seen from either side.
        both = np.concatenate([faces, faces[:, ::-1]])
        vertices, colours = vertices[both].reshape(-1, 3), colours[both].reshape(-1, 3)
        faces = np.arange(len(vertices)).reshape(-1, 3)
    mesh = o3d.geometry.TriangleMesh(o3d.utility.Vector3dVector(vertices), o3d.utility.Vector3iVector(faces))
    mesh.vertex_colors = o3d.utility.Vector3dVector(colours**SCREEN_GAMMA)
    mesh.compute_vertex_normals()
    return mesh


if __name__ == "__main__":
    main()
