"""What the Explore page shows of a pose: the picture, the votes and the draws. A slider movement is one frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from app.ballot import Look, look, votes_that_fit
from app.crowd import crowded
from app.figures.cloud import CloudView, Colouring, MeshView, cloud_figure
from app.figures.theme import LIGHT, Figure, Theme
from app.figures.votes import Strip, Tally, strip, tally
from app.state import moved
from tpc_core import Model, Transform
from tpc_core.data import Shape
from tpc_core.models.critical import critical_counts
from tpc_core.transforms import CoordinateNoise

Part = dict[str, Any]
"""What one component shows, apart from its place on the page."""


@dataclass(frozen=True)
class Setting:
    """All that a visitor has set on the page, but for the pose."""

    shape: Shape
    count: int
    """Points that the visitor asked for."""
    seen: int
    """Points that the model is shown."""
    model: Model | None = None
    classifier: Callable[[Tensor], Tensor] | None = None
    part_names: Mapping[int, str] | None = None
    colouring: Colouring = "height"
    surface: MeshView | None = None
    """The mesh in the frame of the drawn points; they are drawn themselves where there is none."""
    ghost: bool = True
    side_by_side: bool = False
    size: float = 2.5
    theme: Theme = LIGHT

    @property
    def drawn(self) -> int:
        """Points in the picture: critical points are those of the cloud that the model sees."""
        return self.seen if self.colouring == "critical" else self.count


@dataclass(frozen=True)
class Frame:
    """One pose, looked at and voted on."""

    view: CloudView
    ballot: Look | None
    picture: Figure
    votes: Tally | None
    draws: Strip | None

    def changes(self, setting: Setting) -> dict[str, Part]:
        """By the key of its component, what another pose changes; the original stays as it was drawn."""
        still = int(setting.ghost or setting.side_by_side)
        data = [None] * still + self.picture["data"][still:]
        parts: dict[str, Part] = {"cloud": {"data": data, "layout": self.picture["layout"]}}
        if self.votes is not None and self.draws is not None:
            parts |= {"votes": self.votes, "draws": self.draws}
        return parts


def frame(setting: Setting, transform: Transform, values: Sequence[float], *, moving: bool) -> Frame:
    """The page at one pose; fewer votes are cast while a slider moves."""
    view = view_of(setting, transform, values)
    picture = cloud_figure(
        view,
        setting.theme,
        colouring=setting.colouring,
        ghost=setting.ghost,
        side_by_side=setting.side_by_side,
        size=setting.size * (1.8 if setting.drawn <= 128 else 1.0),
    )
    model = setting.model
    if model is None or setting.classifier is None:
        return Frame(view, None, picture, None, None)
    points = moved(transform, values, setting.shape.cloud(setting.seen).points)
    ballot = look(
        setting.classifier,
        model.smoothing,
        points,
        votes=votes_that_fit(setting.seen, moving=moving, crowd=crowded()),
    )
    votes = tally(ballot.base, ballot.votes, model.classes, setting.shape.label)
    return Frame(
        view, ballot, picture, votes, strip(ballot.draws, ballot.answers, model.classes, ballot.winner)
    )


def view_of(setting: Setting, transform: Transform, values: Sequence[float]) -> CloudView:
    """The object before and after, with all that colours it."""
    count = setting.drawn
    cloud = setting.shape.cloud(count)
    after = moved(transform, values, cloud.points)
    critical = None
    if setting.colouring == "critical" and setting.model is not None:
        critical = critical_counts(setting.model.module, after)
    original_mesh = moved_mesh = None
    if setting.surface is not None and not isinstance(transform, CoordinateNoise):
        original_mesh = setting.surface
        vertices = torch.from_numpy(original_mesh.vertices)
        moved_mesh = MeshView(moved(transform, values, vertices).numpy(), original_mesh.faces)
    return CloudView(
        original=cloud.points.numpy(),
        moved=after.numpy(),
        parts=None if cloud.part_labels is None else cloud.part_labels.numpy(),
        part_names=setting.part_names,
        critical=critical,
        mesh=moved_mesh,
        original_mesh=original_mesh,
    )
