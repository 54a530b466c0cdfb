"""Small pictures of an object in some poses: its surface, or its points where it has none, as PNG."""

from __future__ import annotations

import base64
import io
import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

Array = NDArray[np.float64]

_FINER = 2
"""Pictures are drawn larger and scaled down, which smooths their edges."""
_AZIMUTH, _ELEVATION = math.radians(-55), math.radians(22)
_LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])


def pose_picture(
    vertices: NDArray[np.floating], faces: NDArray[np.integer] | None, size: int, colour: tuple[int, int, int]
) -> str:
    """A picture as a data URI; `faces` None draws the vertices as dots."""
    edge = size * _FINER
    image = Image.new("RGBA", (edge, edge), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    seen = np.asarray(vertices, dtype=np.float64) @ _camera().T
    flat = edge * (0.5 + 0.44 * np.stack([seen[:, 0], -seen[:, 2]], axis=1))
    tint = np.array(colour, dtype=np.float64)
    if faces is None:
        for x, y in flat[np.argsort(seen[:, 1])[::-1]]:
            draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=(*colour, 255))
    else:
        corners = np.asarray(vertices, dtype=np.float64)[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        shade = 0.45 + 0.55 * np.abs(normals @ _LIGHT)
        for face in np.argsort(seen[faces][:, :, 1].mean(axis=1))[::-1]:
            fill = (*(int(v) for v in np.minimum(tint * shade[face], 255)), 255)
            draw.polygon([(x, y) for x, y in flat[faces[face]]], fill=fill)
    small = image.resize((size, size), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    small.save(content, "PNG")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()


def _camera() -> Array:
    """Rows: to the right, into the picture, and up."""
    turn: Array = np.array(
        [
            [math.cos(_AZIMUTH), math.sin(_AZIMUTH), 0.0],
            [-math.sin(_AZIMUTH), math.cos(_AZIMUTH), 0.0],
            [0.0, 0.0, 1.0],
        ]
    )
    tilt: Array = np.array(
        [
            [1.0, 0.0, 0.0],
            [0.0, math.cos(_ELEVATION), -math.sin(_ELEVATION)],
            [0.0, math.sin(_ELEVATION), math.cos(_ELEVATION)],
        ]
    )
    return np.asarray(tilt @ turn)
