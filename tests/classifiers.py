"""Classifiers whose smoothed probabilities are known in closed form, and votes drawn from them.

Each one is a real base classifier (logits of clouds) and also knows `probabilities(points, smoothing)`, the true
q(. | points). `simulated_votes` replaces the forward passes by draws from q, so that thousands of whole runs of
the real certifiers fit into seconds; tests/certify/test_simulation_is_faithful.py compares the two.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import Tensor

from tpc_core.cloud import Cloud
from tpc_core.covers import Lattice
from tpc_core.proofs import Claim
from tpc_core.smoothing import (
    CoordinateSmoothing,
    CylinderSmoothing,
    GroupSmoothing,
    ParameterSmoothing,
    RotationDiffusion,
    Smoothing,
)
from tpc_core.transforms import parse_transform
from tpc_core.votes import BLOCK, Ballot

INSIDE, OUTSIDE = 0, 1

NEAR, HIGH = 0.01, 0.9
"""Radius and height of the second point of `turntable_cloud`: a taper moves it by NEAR * HIGH."""


@dataclass(frozen=True)
class Toy:
    """What every classifier here has in common; class 0 is called inside, class 1 outside."""

    smoothing: Smoothing
    classes: Sequence[str] = ("inside", "outside")
    task: str = "classification"
    name: str = "toy"
    digest: str = "toy-digest"

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        return self.logits

    def logits(self, clouds: Tensor) -> Tensor:
        raise NotImplementedError

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        """The true q: (classes,), or (N, classes) for segmentation."""
        raise NotImplementedError


def _two_sided(inside: Tensor) -> Tensor:
    """Logits of two classes from a truth value."""
    return torch.stack([inside, ~inside], dim=-1).float()


def _pair(p: float | np.ndarray) -> np.ndarray:
    return np.stack([np.asarray(p, dtype=float), 1 - np.asarray(p, dtype=float)], axis=-1)


@dataclass(frozen=True)
class HalfSpace(Toy):
    """Inside iff <normal, x> < threshold, under coordinate noise: q = Phi((threshold - <normal, x>) / sigma|normal|)."""  # noqa: E501

    normal: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))
    threshold: float = 0.0

    def logits(self, clouds: Tensor) -> Tensor:
        score = (clouds.double() * torch.from_numpy(self.normal)).sum(dim=(-1, -2))
        return _two_sided(score < self.threshold)

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, CoordinateSmoothing)
        margin = self.threshold - float((points.double().numpy() * self.normal).sum())
        return _pair(special.ndtr(margin / (smoothing.sigma * np.linalg.norm(self.normal))))


@dataclass(frozen=True)
class Gap(Toy):
    """Outside iff low < <normal, x> < high: a narrow failure between two safe sides."""

    normal: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))
    low: float = 0.0
    high: float = 0.0

    def logits(self, clouds: Tensor) -> Tensor:
        score = (clouds.double() * torch.from_numpy(self.normal)).sum(dim=(-1, -2))
        return _two_sided((score <= self.low) | (score >= self.high))

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, CoordinateSmoothing)
        score = float((points.double().numpy() * self.normal).sum())
        scale = smoothing.sigma * np.linalg.norm(self.normal)
        return _pair(1 - special.ndtr((self.high - score) / scale) + special.ndtr((self.low - score) / scale))


@dataclass(frozen=True)
class BallAround(Toy):
    """Inside iff ||x - centre|| < size, under coordinate noise: a non-central chi-square."""

    centre: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))
    size: float = 1.0

    def logits(self, clouds: Tensor) -> Tensor:
        distance = (clouds.double() - torch.from_numpy(self.centre)).flatten(-2).norm(dim=-1)
        return _two_sided(distance < self.size)

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, CoordinateSmoothing)
        offset = np.linalg.norm(points.double().numpy() - self.centre)
        shift = max((offset / smoothing.sigma) ** 2, 1e-12)
        return _pair(stats.ncx2.cdf((self.size / smoothing.sigma) ** 2, self.centre.size, shift))


@dataclass(frozen=True)
class ParameterHalfSpace(Toy):
    """Inside iff <normal, z> < threshold, z the parameter that a marked cloud shows, under parameter noise.

    Clouds come from `marked_cloud`, whose first points betray by how much the cloud was moved.
    """

    transform: str = "z-rotation"
    normal: tuple[float, ...] = (1.0,)
    threshold: float = 0.0

    def logits(self, clouds: Tensor) -> Tensor:
        z = read_parameter(self.transform, clouds.double())
        return _two_sided((z * torch.tensor(self.normal, dtype=torch.float64)).sum(dim=-1) < self.threshold)

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, ParameterSmoothing)
        z = read_parameter(self.transform, points.double()).numpy()
        normal, scale = np.asarray(self.normal), np.asarray(smoothing.scale)
        if self.transform == "linear":
            # (I + E)(I + A) - I = A + E (I + A): the noise is stretched by the attack.
            spread = np.linalg.norm(normal.reshape(3, 3) @ (np.eye(3) + z.reshape(3, 3)).T) * scale[0]
        else:
            spread = np.linalg.norm(normal * scale)
        return _pair(special.ndtr((self.threshold - float(z @ normal)) / spread))


@dataclass(frozen=True)
class Sectors(Toy):
    """Classes are sectors of the circle (or bands of the sphere), under group smoothing: q is their shares."""

    shares: tuple[float, ...] = (0.5, 0.5)

    def logits(self, clouds: Tensor) -> Tensor:
        first = clouds[:, 0].double()
        assert isinstance(self.smoothing, GroupSmoothing)
        if self.smoothing.group == "so3":
            position = (1 + first[:, 2] / first.norm(dim=-1)) / 2
        else:
            position = torch.atan2(first[:, 1], first[:, 0]) / (2 * math.pi) + 0.5
        borders = torch.tensor(np.cumsum(self.shares)[:-1])
        return torch.nn.functional.one_hot(torch.bucketize(position, borders), len(self.shares)).float()

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, GroupSmoothing)
        return np.asarray(self.shares)


@dataclass(frozen=True)
class Hemisphere(Toy):
    """Inside iff the first point lies above the plane across `normal`, under rotation diffusion.

    A fixed point of the sphere that is turned by Brownian motion on SO(3) makes one on the sphere, whose heat kernel
    is a series of Legendre polynomials; over half the sphere it can be summed.
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def logits(self, clouds: Tensor) -> Tensor:
        return _two_sided(clouds[:, 0].double() @ torch.tensor(self.normal, dtype=torch.float64) > 0)

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, RotationDiffusion)
        first, normal = points[0].double().numpy(), np.asarray(self.normal)
        cosine = float(first @ normal / np.linalg.norm(first) / np.linalg.norm(normal))
        degree = np.arange(1, 200)
        half = (special.eval_legendre(degree - 1, 0.0) - special.eval_legendre(degree + 1, 0.0)) / 2
        decay = np.exp(-degree * (degree + 1) * smoothing.sigma**2 / 2)
        return _pair(0.5 + float((decay * half * special.eval_legendre(degree, cosine)).sum()))


@dataclass(frozen=True)
class Turntable(Toy):
    """Inside iff <normal, (taper, turn)> < threshold in sigmas of cylinder smoothing, for `turntable_cloud`.

    The first point is so far out that noise hardly hides the turn; the second, turned back by it, shows the taper.
    """

    normal: tuple[float, float] = (0.6, 0.8)
    threshold: float = 0.0

    def score(self, clouds: Tensor, smoothing: CylinderSmoothing) -> Tensor:
        far, near = clouds[..., 0, :].double(), clouds[..., 1, :].double()
        turn = torch.atan2(far[..., 1], far[..., 0])
        radius = torch.cos(turn) * near[..., 0] + torch.sin(turn) * near[..., 1]
        return self.normal[0] * (radius - NEAR) / smoothing.sigma + self.normal[1] * turn / smoothing.rotation

    def logits(self, clouds: Tensor) -> Tensor:
        assert isinstance(self.smoothing, CylinderSmoothing)
        return _two_sided(self.score(clouds, self.smoothing) < self.threshold)

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, CylinderSmoothing)
        margin = self.threshold - float(self.score(points, smoothing))
        return _pair(special.ndtr(margin / np.linalg.norm(self.normal)))


def turntable_cloud() -> Cloud:
    """A far point at height 0, which only turns, and one near the axis but high up, which also tapers."""
    return Cloud(torch.tensor([[1.0, 0.0, 0.0], [NEAR, 0.0, HIGH]]), name="turntable")


def turntable_smoothing(rotation: float) -> CylinderSmoothing:
    """Noise of one sigma for a taper of 0.05, and too little twist to turn the second point away from the first."""
    return CylinderSmoothing("z", 0.05 * NEAR * HIGH, 1e-6, rotation)


@dataclass(frozen=True)
class PointSectors(Toy):
    """Segmentation: a point is inside iff its angle about z is below its own threshold, under z-rotation noise."""

    task: str = "segmentation"
    thresholds: tuple[float, ...] = ()

    def logits(self, clouds: Tensor) -> Tensor:
        angle = torch.atan2(clouds[..., 1], clouds[..., 0]).double()
        return _two_sided(angle < torch.tensor(self.thresholds, dtype=torch.float64))

    def probabilities(self, points: Tensor, smoothing: Smoothing) -> np.ndarray:
        assert isinstance(smoothing, ParameterSmoothing)
        angle = np.arctan2(points[:, 1].double().numpy(), points[:, 0].double().numpy())
        return _pair(special.ndtr((np.asarray(self.thresholds) - angle) / smoothing.scale[0]))


def marked_cloud(transform: str) -> Cloud:
    """A cloud at z = 0 from whose image `read_parameter` recovers z."""
    points = {
        "z-rotation": [[0.8, 0, 0.3], [-0.4, 0.2, -0.3]],
        "z-twist": [[0.6, 0, 0.5], [-0.4, 0.2, -0.3]],
        "z-twist+z-rotation": [[0.8, 0, 0], [0.6, 0, 0.5]],
        "z-shear": [[0, 0, 0.8], [0.3, -0.2, -0.8]],
        "linear": [[0.8, 0, 0], [0, 0.8, 0], [0, 0, 0.8]],
    }[transform]
    return Cloud(torch.tensor(points), name="marked")


def read_parameter(transform: str, clouds: Tensor) -> Tensor:
    """z (*batch, dim) of images of the marked cloud."""
    first = clouds[..., 0, :]
    turn = torch.atan2(first[..., 1], first[..., 0])[..., None]
    if transform == "z-rotation":
        return turn
    if transform == "z-twist":
        return turn / 0.5
    if transform == "z-twist+z-rotation":
        second = clouds[..., 1, :]
        both = torch.atan2(second[..., 1], second[..., 0])[..., None]
        return torch.cat([(both - turn) / 0.5, turn], dim=-1)
    if transform == "z-shear":
        return first[..., :2] / 0.8
    assert transform == "linear"
    matrix = clouds[..., :3, :].transpose(-1, -2) / 0.8
    return (matrix - torch.eye(3, dtype=clouds.dtype)).flatten(-2)


def small_cloud(points: int = 6, seed: int = 3) -> Cloud:
    """A few random points in the unit ball."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(points, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return Cloud(
        torch.from_numpy((direction * rng.uniform(0.5, 0.99, (points, 1))).astype(np.float32)), name="small"
    )


def parameter_model(transform: str, sigma: Sequence[float], normal: Sequence[float], threshold: float) -> Toy:
    """A half-space in parameter space; sigma in edge units, normal and threshold in internal units."""
    move = parse_transform(transform)
    sigmas = tuple(p.to_internal(s) for p, s in zip(move.radii, sigma, strict=True))
    return ParameterHalfSpace(
        ParameterSmoothing(move, sigmas), transform=transform, normal=tuple(normal), threshold=threshold
    )


def broken_at(
    cloud: Cloud, transform: str, z: Sequence[float], sigma: float, *, margin: float = 1e-6
) -> HalfSpace:
    """The half-space of coordinate noise whose border passes just short of phi(x, z): z is a true failure.

    Its normal is the displacement itself, so no classifier with this failure is surer at the identity.
    """
    start = cloud.points.double()
    moved = parse_transform(transform).apply(start, torch.tensor(z, dtype=torch.float64))
    normal = (moved - start).numpy()
    normal = normal / np.linalg.norm(normal)
    return HalfSpace(
        CoordinateSmoothing(sigma),
        normal=normal,
        threshold=float((moved.numpy() * normal).sum()) - margin * sigma,
    )


_KNOWN: dict[tuple[int, bytes], np.ndarray] = {}
"""Probabilities by classifier and cloud, within one `simulated_votes`."""


class DrawnVotes:
    """A stand-in for `Voter` that draws the counts from the true probabilities.

    Draws are keyed by seed, stream and block, as the noise of the real voter is: a vote that is asked for twice is the
    same vote, and a stream of another name is an independent one. Without that, a second chance on fresh noise would
    look like going on with the same votes.
    """

    def __init__(self, base: Any, smoothing: Smoothing, *, seed: int, device: torch.device) -> None:
        self.base, self.smoothing, self.seed, self.device = base, smoothing, seed, device
        self.model_digest = base.digest
        self.num_classes = len(base.classes)
        self.per_point = base.task == "segmentation"
        self.evaluations = 0
        self._drawn: dict[str, tuple[np.random.Generator, list[np.ndarray]]] = {}

    def cast(self, ballots: Sequence[Ballot]) -> list[np.ndarray]:
        return [self._blocks(ballot) for ballot in ballots]

    def count(self, points: Tensor, stream: str, start: int, stop: int) -> np.ndarray:
        assert start % BLOCK == stop % BLOCK == 0
        return self._blocks(Ballot(points, stream, start, stop)).sum(axis=0)

    def _blocks(self, ballot: Ballot) -> np.ndarray:
        self.evaluations += ballot.stop - ballot.start
        key = (id(self.base), ballot.points.numpy().tobytes())
        if key not in _KNOWN:
            _KNOWN[key] = np.clip(self.base.probabilities(ballot.points, self.smoothing), 0, 1)
        if ballot.stream not in self._drawn:
            name = zlib.crc32(ballot.stream.encode())
            self._drawn[ballot.stream] = np.random.Generator(np.random.SFC64([self.seed, name])), []
        rng, blocks = self._drawn[ballot.stream]
        while len(blocks) < ballot.stop // BLOCK:
            blocks.append(rng.multinomial(BLOCK, _KNOWN[key]).astype(np.int64))
        return np.array(blocks[ballot.start // BLOCK : ballot.stop // BLOCK])


@contextlib.contextmanager
def simulated_votes() -> Iterator[None]:
    """Within it, certify draws its votes from the closed form; everything else is the real thing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["tpc_core.certify.prepare"], "Voter", DrawnVotes)
        _KNOWN.clear()
        # Trees and tested clouds are the same in every run of one question; remembering them changes nothing but time.
        for name in ("first_cells", "children", "cell", "box"):
            patch.setattr(Lattice, name, functools.lru_cache(maxsize=None)(getattr(Lattice, name)))
        patch.setattr(Lattice, "of", staticmethod(_remembered_lattice(Lattice.of)))
        patch.setattr(Claim, "at", _remembered_at(Claim.at))
        yield


def _remembered_lattice(of: Callable[..., Lattice]) -> Callable[..., Lattice]:
    known: dict[tuple[object, bytes], Lattice] = {}

    def remembered(transform: object, cover: object, points: np.ndarray) -> Lattice:
        key = ((transform, cover), points.tobytes())
        if key not in known:
            known[key] = of(transform, cover, points)
        return known[key]

    return remembered


def _remembered_at(at: Callable[..., Tensor]) -> Callable[..., Tensor]:
    known: dict[tuple[str, str, bytes], Tensor] = {}

    def remembered(claim: Claim, z: np.ndarray) -> Tensor:
        key = (claim.transform.name, claim.cloud.digest, np.asarray(z, dtype=np.float64).tobytes())
        if key not in known:
            known[key] = at(claim, z)
        return known[key]

    return remembered


def at_most(errors: int, runs: int, alpha: float) -> bool:
    """Whether an error count is compatible with a rate of at most alpha (five standard deviations)."""
    return errors <= runs * alpha + 5 * math.sqrt(runs * alpha * (1 - alpha))


def exceeds(errors: int, runs: int, alpha: float) -> bool:
    """Whether an error count proves a rate above alpha (five standard deviations)."""
    return not at_most(errors, runs, alpha)
