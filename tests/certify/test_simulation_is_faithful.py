"""The draws that stand in for forward passes have the distribution of real votes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from tests.classifiers import (
    BallAround,
    DrawnVotes,
    Gap,
    Hemisphere,
    PointSectors,
    Sectors,
    Toy,
    Turntable,
    broken_at,
    marked_cloud,
    parameter_model,
    small_cloud,
    turntable_cloud,
    turntable_smoothing,
)
from tpc_core.cloud import Cloud
from tpc_core.smoothing import (
    CoordinateSmoothing,
    GroupSmoothing,
    ParameterSmoothing,
    RotationDiffusion,
)
from tpc_core.transforms import Rotation, parse_transform
from tpc_core.votes import Voter

VOTES = 8_000
SMALL = small_cloud()
NORMAL = np.full((6, 3), 1 / math.sqrt(18))

CASES: dict[str, tuple[Toy, Cloud, str, list[float]]] = {
    "half-space": (broken_at(SMALL, "z-taper", [0.3], 0.2), SMALL, "z-taper", [0.25]),
    "gap": (Gap(CoordinateSmoothing(0.2), normal=NORMAL, low=-0.3, high=-0.1), SMALL, "z-taper", [0.2]),
    "ball": (BallAround(CoordinateSmoothing(0.2), centre=SMALL.points.double().numpy(), size=0.9), SMALL, "z-taper", [0.3]),  # noqa: E501
    "z-rotation": (parameter_model("z-rotation", [15], [1], 0.3), marked_cloud("z-rotation"), "z-rotation", [0.2]),
    "z-twist": (parameter_model("z-twist", [15], [-1], 0.3), marked_cloud("z-twist"), "z-twist", [0.1]),
    "turntable": (Turntable(turntable_smoothing(0.2), threshold=1.0), turntable_cloud(), "z-taper+z-rotation", [0.03, -0.1]),  # noqa: E501
    "z-shear": (parameter_model("z-shear", [0.1], [0.6, 0.8], 0.05), marked_cloud("z-shear"), "z-shear", [0.1, -0.02]),
    "two angles": (
        parameter_model("z-twist+z-rotation", [20, 10], [1, 2], 0.4),
        marked_cloud("z-twist+z-rotation"),
        "z-twist+z-rotation",
        [0.2, 0.05],
    ),
    "linear": (
        parameter_model("linear", [0.2], [1, 0, 0, 0, 2, 0, 0, 0.5, 0], 0.3),
        marked_cloud("linear"),
        "linear",
        [0.1, 0.2, 0, 0, -0.1, 0, 0, 0.3, 0.1],
    ),
    "circle": (Sectors(GroupSmoothing("z-rotation"), ("a", "b", "c"), shares=(0.5, 0.3, 0.2)), SMALL, "z-rotation", [1.0]),  # noqa: E501
    "sphere": (Sectors(GroupSmoothing("so3"), ("a", "b", "c"), shares=(0.5, 0.3, 0.2)), SMALL, "general-rotation", [1, 2, 0]),  # noqa: E501
    "hemisphere": (Hemisphere(RotationDiffusion(0.4), normal=(0.5, 0.3, -0.8)), SMALL, "general-rotation", [0.2, 0.5, 0]),  # noqa: E501
    "parts": (
        PointSectors(ParameterSmoothing(Rotation("z"), (0.2,)), thresholds=(0.1, 0.2, -0.1)),
        Cloud(torch.tensor([[0.8, 0, 0.3], [0.5, 0.1, 0.2], [0.6, -0.1, 0.0]])),
        "z-rotation",
        [0.05],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_real_votes_have_the_closed_form_probabilities(case: str) -> None:
    model, cloud, transform, z = CASES[case]
    moved = (
        parse_transform(transform).apply(cloud.points.double(), torch.tensor(z, dtype=torch.float64)).float()
    )
    voter = Voter(model, model.smoothing, seed=5, device=torch.device("cpu"))
    drawn = DrawnVotes(model, model.smoothing, seed=5, device=torch.device("cpu"))
    real = np.atleast_2d(voter.count(moved, "faithful", 0, VOTES))
    simulated = np.atleast_2d(drawn.count(moved, "faithful", 0, VOTES))
    truth = np.atleast_2d(model.probabilities(moved, model.smoothing))
    assert real.shape == simulated.shape == truth.shape
    for row, expected in zip(real, truth, strict=True):
        for count, p in zip(row, expected, strict=True):
            assert stats.binomtest(int(count), VOTES, min(max(float(p), 1e-9), 1.0)).pvalue > 1e-5
