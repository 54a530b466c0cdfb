"""What the map of a question shows: its landscape, and of a run its cells, its verdict and its attack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.figures.margins import box_text
from app.figures.region_map import MapScene, Piece
from app.figures.region_map.cell_colours import piece_of
from app.server.jobs import CellView, JobView, Request
from tpc_core.landscape import Chart, Landscape, extent, needed_of


def map_scene(
    request: Request, view: JobView | None, landscape: Landscape | None, certified: float
) -> MapScene:
    """The scene of a question, and of its run where there is one; `certified` is the proved part of the region."""
    question = request.question
    chart = landscape.chart if landscape is not None else Chart.of(request.transform, len(request.cloud))
    needed = 0.5
    if landscape is not None:
        needed = landscape.needed
    elif view is not None and view.proof is not None:
        needed = needed_of(view.proof)
    pieces = () if view is None else pieces_of(view, chart)
    return MapScene(
        chart=chart,
        half=extent(chart, question.radii),
        region=chart.half_widths(question.radii),
        landscape=landscape,
        pieces=pieces,
        certified=certified,
        attack=None if view is None else view.attack,
        worst=None if view is None else worst_cell(view),
        needed=0.5 if question.options.largest else needed,
    )


def pieces_of(view: JobView, chart: Chart) -> Sequence[Piece]:
    """The cells of a run as the map draws them."""
    transform = view.request.transform
    if view.request.is_certain:
        return [Piece(box.low, box.high, "passed", box_text(box, transform)) for box in view.boxes]
    if view.is_polar or not view.request.has_cells:
        return ()
    axes = chart.axes
    if len(axes) != transform.dim:
        return ()
    return [piece_of(leaf, axes) for leaf in view.leaves]


def worst_cell(view: JobView) -> tuple[float, ...] | None:
    """z in the middle of the cell that is farthest from what it needs; None where no cell has votes, or all passed."""
    if view.is_polar:
        return None
    voted: list[tuple[float, CellView]] = [
        (leaf.margin, leaf) for leaf in view.leaves if leaf.margin is not None and leaf.state != "passed"
    ]
    if not voted:
        return None
    _, leaf = min(voted, key=lambda pair: pair[0])
    return tuple(float(v) for v in (np.add(leaf.cell.low, leaf.cell.high) / 2))
