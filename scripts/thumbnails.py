"""Draw the gallery's thumbnails: `python scripts/thumbnails.py` writes assets/thumbnails/*.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from tpc_core import gallery, load_shape
from tpc_core.data.sampling import sample_surface

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "thumbnails"
SIZE, OVERSAMPLE, COLOURS, SAMPLES = 176, 2, 24, 600_000
LIGHT = np.array([0.35, -0.55, 0.76])
BODY = np.array([124.0, 168.0, 216.0])


def draw(vertices: np.ndarray, faces: np.ndarray) -> Image.Image:
    """The mesh from the front right: points drawn all over its surface, the nearest to the eye at every pixel."""
    azimuth, elevation = np.radians(-52), np.radians(24)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0])
    towards = np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    up = np.cross(towards, right)
    points, source = sample_surface(vertices, faces, SAMPLES)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    normals *= np.where(normals @ towards < 0, -1, 1)[:, None]
    shade = 0.5 + 0.5 * np.clip(normals @ LIGHT, 0, 1)
    flat = np.stack([points @ right, points @ up], axis=1)
    centre = (flat.max(axis=0) + flat.min(axis=0)) / 2
    side = SIZE * OVERSAMPLE
    scale = 0.46 * side / np.abs(flat - centre).max()
    column, row = np.clip((flat - centre) * [scale, -scale] + side / 2, 0, side - 1).astype(int).T
    nearest_last = np.argsort(points @ towards)
    pixels = np.zeros((side, side, 4), dtype=np.uint8)
    colours = (BODY * shade[source][:, None]).astype(np.uint8)
    pixels[row[nearest_last], column[nearest_last], :3] = colours[nearest_last]
    pixels[row, column, 3] = 255
    picture = Image.fromarray(pixels).resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    return picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)


def main() -> None:
    """One picture for each object of the gallery."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for entry in gallery():
        mesh = load_shape(f"gallery:{entry.name}").mesh
        assert mesh is not None
        draw(np.asarray(mesh.vertices), np.asarray(mesh.faces)).save(
            FOLDER / f"{entry.name}.png", optimize=True
        )


if __name__ == "__main__":
    main()
