"""A one-parameter transform as a line: what the base classifier says at each place, and the average around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from tpc_core.errors import InvalidValue
from tpc_core.transforms import Transform

Array = NDArray[np.float64]

_BATCH = 64


@dataclass(frozen=True)
class Line:
    """The base classifier's answers (M,) at rising, evenly spaced parameters (M,), in internal units."""

    places: Array
    answers: NDArray[np.int64]

    def answer_at(self, place: float) -> int:
        """The answer at the grid place nearest to `place`."""
        return int(self.answers[int(np.argmin(np.abs(self.places - place)))])

    def breaks(self, target: int) -> Array:
        """The places at which the answer is not `target`, nearest to the identity first."""
        wrong = self.places[self.answers != target]
        return np.asarray(wrong[np.argsort(np.abs(wrong), kind="stable")])

    def share(self, target: int, sigma: float, at: Array) -> Array:
        """q(target) of Gaussian smoothing around each place of `at`, by exact Gaussian masses of the grid's steps.

        Additive transforms only: there phi(phi(x, theta), eps) = phi(x, theta + eps), so q is the base answer
        averaged along the line. What lies beyond the grid counts as its last answer. A picture, not a bound.
        """
        if not sigma > 0:
            raise InvalidValue(f"sigma must be positive, not {sigma}")
        step = float(self.places[1] - self.places[0])
        edges = np.concatenate([[-np.inf], self.places[:-1] + step / 2, [np.inf]])
        masses = np.diff(special.ndtr((edges[None, :] - np.asarray(at)[:, None]) / sigma), axis=1)
        return np.asarray(masses @ (self.answers == target))


@torch.inference_mode()
def answers_along(
    classifier: Callable[[Tensor], Tensor], transform: Transform, points: Tensor, reach: float, count: int
) -> Line:
    """h(phi(x, theta)) at `count` places of [-reach, reach] (internal units) of a one-parameter transform."""
    if transform.dim != 1:
        raise InvalidValue(f"{transform.name} has {transform.dim} parameters; a line has one")
    places = np.linspace(-reach, reach, count)
    answers = []
    for chunk in np.array_split(places, max(1, count // _BATCH)):
        z = torch.from_numpy(np.ascontiguousarray(chunk))[:, None]
        clouds = transform.apply(points.double().expand(len(chunk), *points.shape), z).float()
        answers.append(classifier(clouds).argmax(dim=-1).numpy())
    return Line(places, np.concatenate(answers).astype(np.int64))
