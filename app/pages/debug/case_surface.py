"""The surface of the object that a certificate is about."""

from __future__ import annotations

import numpy as np
import torch

from app.figures.cloud import MeshView
from app.pages.debug.opened_case import Opened
from app.widgets.objects import shape_of
from tpc_core.errors import TpcError
from tpc_core.proofs import CellStanding
from tpc_core.transforms import CoordinateNoise


def surface_in_cell(case: Opened, facts: CellStanding) -> MeshView | None:
    """The same surface where the votes of a cell were cast; none under noise, which moves points only."""
    mesh, transform = surface_of_case(case), case.view.transform
    if mesh is None or isinstance(transform, CoordinateNoise):
        return None
    vertices = torch.from_numpy(np.asarray(mesh.vertices, dtype=np.float64))
    return MeshView(transform.apply(vertices, torch.from_numpy(facts.z)).numpy(), mesh.faces)


def surface_of_case(case: Opened) -> MeshView | None:
    """The surface around the points of a certificate, where the object is one that the gallery or a data set has."""
    request = case.case.request
    if request is not None and request.private:
        return None
    spec = f"gallery:{case.view.cloud.name}" if request is None else request.question.object
    try:
        shape = shape_of(spec)
        if shape.cloud(len(case.view.cloud)).digest != case.view.cloud.digest:
            return None
        mesh = shape.mesh_around(len(case.view.cloud))
    except TpcError:
        return None
    return None if mesh is None else MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces))
