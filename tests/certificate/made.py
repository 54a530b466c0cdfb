"""One genuine certificate of every kind, made once with real votes of closed-form classifiers."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tests.classifiers import (
    Hemisphere,
    PointSectors,
    Sectors,
    Toy,
    broken_at,
    marked_cloud,
    parameter_model,
    small_cloud,
)
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Options, certify
from tpc_core.cloud import Cloud
from tpc_core.smoothing import GroupSmoothing, ParameterSmoothing, RotationDiffusion
from tpc_core.transforms import Rotation

SMALL = small_cloud()
THREE = ("a", "b", "c")
ARC = Cloud(
    torch.tensor([[0.8 * math.cos(t), 0.8 * math.sin(t), t / 2] for t in np.linspace(-0.5, 0.5, 5)]).float()
)

TILTED = Cloud(torch.tensor([[0.6, 0.0, 0.7], [-0.4, 0.3, 0.1], [0.1, -0.5, -0.2]]))

Question = tuple[Toy, Cloud, str, Any, Options]


def _rotation_points() -> Toy:
    exact = torch.atan2(ARC.points[:, 1].double(), ARC.points[:, 0].double()).numpy()
    return PointSectors(
        ParameterSmoothing(Rotation("z"), (math.radians(10),)),
        thresholds=tuple((exact + np.radians([30, 30, 30, 30, 5])).tolist()),
    )


class PointGroup(Sectors):
    """Segmentation under group smoothing: every point takes the class of its own sector."""

    def logits(self, clouds: torch.Tensor) -> torch.Tensor:
        position = torch.atan2(clouds[..., 1], clouds[..., 0]).double() / (2 * math.pi) + 0.5
        borders = torch.tensor(np.cumsum(self.shares)[:-1])
        return torch.nn.functional.one_hot(torch.bucketize(position, borders), len(self.shares)).float()


QUESTIONS: dict[str, Callable[[], Question]] = {
    "parameter": lambda: (
        parameter_model("z-rotation", [15], [1], math.radians(35)), marked_cloud("z-rotation"), "z-rotation", 20, Options()  # noqa: E501
    ),
    "parameter of two": lambda: (
        parameter_model("z-shear", [0.1], [1, 0], 0.25), marked_cloud("z-shear"), "z-shear", 0.1, Options()
    ),
    "parameter largest": lambda: (
        parameter_model("z-twist+z-rotation", [20, 10], [1, 1], 0.8), marked_cloud("z-twist+z-rotation"),
        "z-twist+z-rotation", "twist=20,rotation=10", Options(largest=True, budget=Budget(samples=2_000)),
    ),
    "parameter undecided": lambda: (
        parameter_model("z-rotation", [15], [1], math.radians(10)), marked_cloud("z-rotation"), "z-rotation", 20, Options()  # noqa: E501
    ),
    "l2": lambda: (broken_at(SMALL, "z-taper", [0.9], 0.2), SMALL, "l2", 0.2, Options()),
    "linf": lambda: (broken_at(SMALL, "z-taper", [0.9], 0.2), SMALL, "linf", 0.05, Options()),
    "zyx": lambda: (
        Hemisphere(RotationDiffusion(math.radians(25)), normal=(0.6, 0.0, 0.8)), TILTED, "zyx-rotation", 5, Options()
    ),
    "linear": lambda: (
        parameter_model("linear", [0.2], [1.0] + [0.0] * 8, 0.6), marked_cloud("linear"), "linear", 0.2, Options()
    ),
    "group": lambda: (
        Sectors(GroupSmoothing("so3"), THREE, shares=(0.6, 0.3, 0.1)), SMALL, "general-rotation", 180, Options()
    ),
    "group of a circle": lambda: (
        Sectors(GroupSmoothing("z-rotation"), THREE, shares=(0.6, 0.3, 0.1)), SMALL, "z-rotation", 90, Options()
    ),
    "cover": lambda: (broken_at(SMALL, "z-taper", [0.9], 0.2), SMALL, "z-taper", 0.7, Options()),
    "cover of two": lambda: (
        broken_at(SMALL, "z-taper+z-rotation", [0.9, 0.0], 0.15), SMALL, "z-taper+z-rotation",
        "taper=0.2,rotation=5", Options(),
    ),
    "cover of rotations": lambda: (
        broken_at(SMALL, "general-rotation", [0.3, 0.1, 0.0], 0.15), SMALL, "general-rotation", 8, Options()
    ),
    "cover largest": lambda: (
        broken_at(SMALL, "z-taper", [0.5], 0.15), SMALL, "z-taper", 0.9, Options(largest=True)
    ),
    "cover refuted": lambda: (broken_at(SMALL, "z-taper", [0.2], 0.1), SMALL, "z-taper", 0.8, Options()),
    "cover undecided": lambda: (
        broken_at(SMALL, "z-taper", [0.9], 0.1), SMALL, "z-taper", 0.88, Options(budget=Budget(samples=600))
    ),
    "grid": lambda: (
        broken_at(SMALL, "z-taper", [0.9], 0.3), SMALL, "z-taper", 0.2, Options(protocol="paper", resolution=2)
    ),
    "paper's sample": lambda: (
        parameter_model("z-rotation", [15], [1], math.radians(35)), marked_cloud("z-rotation"), "z-rotation", 10,
        Options(protocol="paper"),
    ),
    "seed by hand": lambda: (
        broken_at(SMALL, "z-taper", [0.9], 0.2), SMALL, "z-taper", 0.4, Options(seed=11)
    ),
    "points": lambda: (_rotation_points(), ARC, "z-rotation", 10, Options()),
    "points of a group": lambda: (
        PointGroup(GroupSmoothing("z-rotation"), THREE, "segmentation", shares=(0.6, 0.3, 0.1)), ARC, "z-rotation", 180,
        Options(),
    ),
    "nothing": lambda: (
        broken_at(SMALL, "z-taper", [0.9], 0.2), SMALL, "z-taper", 0.5, Options(budget=Budget(samples=1))
    ),
}  # fmt: skip

EXPECTED = {
    "parameter undecided": "undecided",
    "cover refuted": "refuted",
    "cover undecided": "undecided",
    "points": "undecided",
    "nothing": "undecided",
}


@functools.cache
def genuine(kind: str) -> Certificate:
    """The certificate of a question, as `certify` makes it."""
    model, cloud, transform, radius, options = QUESTIONS[kind]()
    return certify(model, cloud, transform, radius, options)


def model_of(kind: str) -> Toy:
    """The model that made a certificate."""
    return QUESTIONS[kind]()[0]


def resealed(content: dict[str, Any]) -> Certificate:
    """A certificate of this JSON, sealed anew as a forger would."""
    return Certificate.from_json(json.dumps(content)).sealed()


def changed(certificate: Certificate, change: Callable[[dict[str, Any]], object]) -> Certificate:
    """The certificate after a change to its JSON, sealed anew as a forger would."""
    content = copy.deepcopy(certificate.model_dump(mode="json"))
    change(content)
    return resealed(content)
