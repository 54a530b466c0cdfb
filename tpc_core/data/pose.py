"""How objects stand: y-up files turned z-up, and the pose in which a part model of ShapeNet wants them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.cloud import Cloud
from tpc_core.data.ordered import OrderedPoints
from tpc_core.data.shape import Shape
from tpc_core.errors import UnsupportedRequest
from tpc_core.lazy_torch import torch

_AS_IS = np.eye(3)
# What faces +y in ModelNet40 faces +x in ShapeNet: (x, y, z) becomes (y, -x, z).
_QUARTER_TURN = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], dtype=np.float64)
# A guitar lies on its back in ModelNet40, head towards -y, and stands on its body in ShapeNet.
_STOOD_UP = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], dtype=np.float64)

_TURNS: dict[str, NDArray[np.float64]] = {
    "airplane": _QUARTER_TURN,
    "car": _QUARTER_TURN,
    "chair": _QUARTER_TURN,
    "cup": _AS_IS,
    "guitar": _STOOD_UP,
    "lamp": _AS_IS,
    "laptop": _QUARTER_TURN,
    "table": _AS_IS,
}


_Z_UP = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=np.float64)
"""(x, y, z) of a y-up object becomes (x, -z, y)."""


def turned_z_up(shape: Shape) -> Shape:
    """A shape whose file was y-up, turned z-up: its points and its mesh."""
    return replace(shape, ordered=turned_points(shape.ordered), mesh=turned_mesh(shape.mesh))


def turned_points(ordered: OrderedPoints) -> OrderedPoints:
    """The points of a y-up object, turned z-up."""
    return replace(ordered, points=(ordered.points @ _Z_UP.T).astype(np.float32))


def turned_mesh(mesh: trimesh.Trimesh | None) -> trimesh.Trimesh | None:
    """The mesh of a y-up object, turned z-up."""
    if mesh is None:
        return None
    turned = mesh.copy()
    turned.vertices = turned.vertices @ _Z_UP.T
    return turned


def shapenet_pose(cloud: Cloud) -> Cloud:
    """A ModelNet40 or gallery cloud, turned as the ShapeNet part benchmark poses its class."""
    if cloud.label not in _TURNS:
        raise UnsupportedRequest(
            f"{cloud.name} is of class {cloud.label!r}, which the ShapeNet part benchmark does not have"
        )
    turn = torch.from_numpy(_TURNS[cloud.label]).to(torch.float32)
    return Cloud(cloud.points @ turn.T, cloud.name, cloud.label, cloud.part_labels)
