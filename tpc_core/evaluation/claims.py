"""The claims of an evaluation: a transform with a radius, and which claims follow from which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tpc_core.errors import InvalidValue
from tpc_core.transforms import Composition, Transform, parse_transform


@dataclass(frozen=True)
class ClaimSpec:
    """No attack of `transform` within `radii` (internal units) changes the class."""

    transform: Transform
    radii: tuple[float, ...]

    @staticmethod
    def parse(text: str) -> ClaimSpec:
        """Read "z-taper:0.1" or "z-twist+z-rotation:twist=20,rotation=5"."""
        name, colon, radius = text.partition(":")
        if not colon or not radius.strip():
            raise InvalidValue(f"cannot read the claim {text!r}; write transform:radius, such as z-taper:0.1")
        transform = parse_transform(name.strip())
        return ClaimSpec(transform, transform.parse_radius(radius.strip()))

    @property
    def radius(self) -> str:
        """The radius as a person writes it, in edge units."""
        return self.transform.describe_radius(self.radii)

    @property
    def size(self) -> float:
        """One number to draw the claim at: its first radius, in edge units."""
        return float(f"{self.transform.radii[0].to_edge(self.radii[0]):.12g}")

    def __str__(self) -> str:
        return f"{self.transform.name}:{self.radius}"

    def within(self, other: ClaimSpec) -> bool:
        """Whether every attack of this claim is one of the other's: then its failure is the other's, too."""
        mine, theirs = _by_part(self), _by_part(other)
        shared = [part for part in theirs if part in mine]
        # A part that stays at zero is the identity; the others must come in the same order.
        return shared == list(mine) and all(mine[part] <= theirs[part] for part in shared)


def _by_part(claim: ClaimSpec) -> dict[Transform, float]:
    parts = claim.transform.parts if isinstance(claim.transform, Composition) else (claim.transform,)
    return dict(zip(parts, claim.radii, strict=True))


def parse_claims(texts: Sequence[str]) -> tuple[ClaimSpec, ...]:
    """The claims of a list of texts, without repetition."""
    claims = tuple(dict.fromkeys(ClaimSpec.parse(text) for text in texts))
    if not claims:
        raise InvalidValue("nothing to evaluate; give at least one claim, such as --claim z-taper:0.1")
    return claims


def ascending(claims: Sequence[ClaimSpec]) -> list[int]:
    """The order in which to ask: no claim before one that it contains.

    Asking upwards and stopping at the first failure keeps alpha for every claim; the other way round, a claim would
    have two chances to pass (docs/theory.md, "One ledger of votes").
    """
    return sorted(range(len(claims)), key=lambda i: (len(claims[i].radii), sum(claims[i].radii)))
