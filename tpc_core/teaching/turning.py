"""Rotations: what happens to the votes as the object turns, with noise on the points and with uniform turns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.cloud import Cloud
from tpc_core.ledger import look_stream
from tpc_core.smoothing import NoiseStream
from tpc_core.statistics import lower_bound, upper_bound
from tpc_core.transforms import GeneralRotation
from tpc_core.transforms.so3 import matrix_from_quaternion, matrix_from_zyx, rotate
from tpc_core.votes import BLOCK, BaseClassifier, Voter

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AngleStudy:
    """The share of votes for one class as the object turns about one axis; angles in radians."""

    angles: Array
    shares: Array
    votes: int

    @property
    def low(self) -> Array:
        """The lower ends of 95 % intervals."""
        return np.array([lower_bound(count, self.votes, 0.025) for count in self._counts])

    @property
    def high(self) -> Array:
        """The upper ends."""
        return np.array([upper_bound(count, self.votes, 0.025) for count in self._counts])

    @property
    def together(self) -> tuple[float, float]:
        """A 95 % interval of the one share that all angles have, where turns do not change it: all votes count."""
        count, size = sum(self._counts), self.votes * len(self.angles)
        return lower_bound(count, size, 0.025), upper_bound(count, size, 0.025)

    @property
    def _counts(self) -> list[int]:
        return [round(float(share) * self.votes) for share in self.shares]


def share_by_angle(
    voter: Voter, cloud: Cloud, axis: Array, angles: Array, target: int, votes: int
) -> AngleStudy:
    """Turn the cloud by each angle about the axis, and ask; each angle has noise of its own."""
    shares = []
    for number, angle in enumerate(angles):
        points = turned(cloud, axis, float(angle))
        counts = voter.count(points, look_stream(f"lesson turn {number}"), 0, votes)
        shares.append(float(counts[target]) / votes)
    return AngleStudy(np.asarray(angles, dtype=np.float64), np.asarray(shares), votes)


def turned(cloud: Cloud, axis: Array, angle: float) -> torch.Tensor:
    """The cloud (N, 3) after a rotation about an axis."""
    unit = np.asarray(axis, dtype=np.float64) / float(np.linalg.norm(axis))
    z = torch.from_numpy(np.ascontiguousarray(unit * angle))
    return GeneralRotation().apply(cloud.points.double(), z).float()


@torch.inference_mode()
def coupled_votes(
    model: BaseClassifier, cloud: Cloud, axis: Array, angle: float, votes: int, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The votes (classes,) on x by uniform turns eps, and those on Rx by the turns eps R^-1.

    eps R^-1 is as uniform as eps, and turns Rx into the very cloud that eps makes of x: the two counts agree
    (but for rounding), which is the whole proof that uniform smoothing is invariant.
    """
    unit = np.asarray(axis, dtype=np.float64) / float(np.linalg.norm(axis))
    attack = GeneralRotation()
    z = torch.from_numpy(np.ascontiguousarray(unit * angle))
    after = attack.apply(cloud.points.double(), z)
    undo = attack.apply(torch.eye(3, dtype=torch.float64), -z).T  # the matrix of R^-1
    classify, stream = model.classifier("cpu"), NoiseStream(seed, look_stream("lesson group"))
    before_counts = np.zeros(len(model.classes), dtype=np.int64)
    after_counts = before_counts.copy()
    for index in range(-(-votes // BLOCK)):
        eps = matrix_from_quaternion(stream.block(index).normal(BLOCK, 4).double())
        originals = rotate(cloud.points.double().expand(BLOCK, -1, -1), eps).float()
        attacked = rotate(after.expand(BLOCK, -1, -1), eps @ undo).float()
        for counts, clouds in ((before_counts, originals), (after_counts, attacked)):
            answers = classify(clouds).argmax(dim=-1).numpy()[: votes - index * BLOCK]
            counts += np.bincount(answers, minlength=len(counts))
    return before_counts, after_counts


def pole_share(kind: Literal["quaternion", "euler"], count: int, seed: int = 0, cap: float = 30.0) -> float:
    """How often a random rotation takes the x axis to within `cap` degrees of the z axis or its opposite.

    Uniform rotations do so with probability 1 - cos(cap); three uniform Euler angles crowd the poles.
    """
    rng = np.random.default_rng(seed)
    if kind == "quaternion":
        matrices = matrix_from_quaternion(torch.from_numpy(rng.normal(size=(count, 4))))
    else:
        low = np.array([-math.pi, -math.pi / 2, -math.pi])
        matrices = matrix_from_zyx(torch.from_numpy(rng.uniform(low, -low, size=(count, 3))))
    heights = matrices[:, 2, 0].abs().numpy()
    return float(np.mean(heights >= math.cos(math.radians(cap))))
