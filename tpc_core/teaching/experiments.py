"""The experiments that ask a network, each as one call with plain data: a worker can do them for a page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from tpc_core.cloud import Cloud
from tpc_core.models import Model
from tpc_core.smoothing import ParameterSmoothing, Smoothing
from tpc_core.teaching.cells import LessonCell, vote_on_cells
from tpc_core.teaching.line import Line, answers_along
from tpc_core.teaching.turning import AngleStudy, Array, share_by_angle
from tpc_core.teaching.votes import Ballots, cast_ballots
from tpc_core.transforms import Transform
from tpc_core.votes import Voter

_CPU = torch.device("cpu")


def line_of(model: Model, transform: Transform, cloud: Cloud, reach: float, places: int) -> Line:
    """The base classifier's answers along a transform of one parameter."""
    return answers_along(model.classifier(_CPU), transform, cloud.points, reach, places)


def first_breaks(
    model: Model,
    transform: Transform,
    clouds: Mapping[str, tuple[Cloud, int]],
    reach: float,
    places: int,
) -> dict[str, float]:
    """For the objects that the base classifier gets right and loses along the transform, where that is, nearest."""
    classify = model.classifier(_CPU)
    found = {}
    for name, (cloud, target) in clouds.items():
        breaks = answers_along(classify, transform, cloud.points, reach, places).breaks(target)
        if len(breaks) and breaks[0] != 0:
            found[name] = abs(float(breaks[0]))
    return found


def ballots_of(model: Model, smoothing: ParameterSmoothing, points: torch.Tensor, votes: int) -> Ballots:
    """Votes on one cloud, each with what was drawn for it."""
    return cast_ballots(model.classifier(_CPU), smoothing, points, votes)


def cells_of(
    model: Model, cloud: Cloud, cells: list[LessonCell], target: int, sigma: float, votes: int, alpha: float
) -> list[LessonCell]:
    """The cells with their votes under the model's own smoothing."""
    voter = Voter(model, model.smoothing, seed=0, device=_CPU)
    return vote_on_cells(voter, cloud, cells, target, sigma, votes, alpha)


def turning_of(
    model: Model, smoothing: Smoothing, cloud: Cloud, axis: Array, angles: Array, target: int, votes: int
) -> AngleStudy:
    """The share of votes for a class as the object turns."""
    voter = Voter(model, smoothing, seed=0, device=_CPU)
    return share_by_angle(voter, cloud, np.asarray(axis), angles, target, votes)
