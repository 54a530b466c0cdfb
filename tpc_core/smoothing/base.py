"""A smoothing distribution: how the cloud is shaken before the base classifier votes, and what that proves."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tpc_core.errors import InvalidValue
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.rules import Points, Rule
from tpc_core.transforms import Transform

if TYPE_CHECKING:
    from torch import Tensor


class Smoothing(ABC):
    """The random eps of q(y|x) = P_eps[h(phi(x, eps)) = y].

    A smoothing states all about itself in its own file: how it draws, its sigmas, its JSON, and which transforms it
    certifies by which rule. One line in the package's table makes it known everywhere.
    """

    kind: ClassVar[str]
    """Its name in JSON."""

    @abstractmethod
    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        """One independent draw phi(x_b, eps_b) for each cloud of (B, N, 3)."""

    @abstractmethod
    def rule(self, transform: Transform, points: Points) -> Rule | None:
        """By which rule it certifies a transform of this cloud (N, 3); None where it does not."""

    @property
    @abstractmethod
    def sigmas(self) -> Mapping[str, float]:
        """Its sigmas in edge units (degrees for angles), each under the words of its field; none for a group."""

    @abstractmethod
    def with_sigmas(self, values: Sequence[float]) -> Smoothing:
        """The same family with other sigmas (edge units); certificates stay valid, the model may suffer."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """A description in edge units; smoothing_from_json reads it back."""

    @classmethod
    @abstractmethod
    def from_json(cls, description: Mapping[str, Any]) -> Smoothing:
        """The smoothing of a description that has exactly the fields of `to_json`."""

    @abstractmethod
    def describe(self) -> str:
        """The distribution in a few words."""

    def checked_sigmas(self, values: Sequence[float]) -> tuple[float, ...]:
        """As many positive numbers as there are sigmas, or InvalidValue."""
        names = list(self.sigmas)
        if not names:
            raise InvalidValue(f"{self.describe()} has no sigma to set")
        if len(values) != len(names):
            wanted = "one sigma" if len(names) == 1 else f"{len(names)} sigmas ({', '.join(names)})"
            raise InvalidValue(f"{self.kind} smoothing takes {wanted}, not {len(values)}")
        return tuple(positive(v) for v in values)


def positive(value: object) -> float:
    """A positive, finite number, or InvalidValue."""
    number = as_number(value)
    if not (math.isfinite(number) and number > 0):
        raise InvalidValue(f"sigma must be a positive, finite number, not {number}")
    return number


def as_number(value: object) -> float:
    """A number that JSON calls a number, or InvalidValue."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(f"sigma is a number, not {value!r}")
    return float(value)


def edge_number(value: float) -> float:
    """An angle in degrees as people wrote it: what turning into radians and back added is rounded away."""
    return float(f"{value:.12g}")
