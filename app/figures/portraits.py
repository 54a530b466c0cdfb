"""Small pictures of clouds, for grids of many objects: points seen from the front, the near ones lighter."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tpc_core.pictures import seen_from_the_front

SIDE = 132
DOT = 2
_NEAR, _FAR = np.array([96.0, 165.0, 250.0]), np.array([30.0, 58.0, 138.0])


def portrait(points: NDArray[np.float32]) -> str:
    """A cloud (N, 3) in the unit ball as the address of a picture, with nothing behind it."""
    across, up, depth = seen_from_the_front(points)
    columns = np.rint((across * 0.47 + 0.5) * (SIDE - 1)).astype(int)
    rows = np.rint((0.5 - up * 0.47) * (SIDE - 1)).astype(int)
    picture = np.zeros((SIDE, SIDE, 4), dtype=np.uint8)
    nearness = np.clip((1 - depth) / 2, 0, 1)[:, None]
    colours = np.concatenate([_FAR + (_NEAR - _FAR) * nearness, np.full((len(depth), 1), 255.0)], axis=1)
    for place in np.argsort(-depth):  # the near ones last, over the others
        top, left = max(0, rows[place]), max(0, columns[place])
        picture[top : top + DOT, left : left + DOT] = colours[place].astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(picture, "RGBA").save(stream, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
