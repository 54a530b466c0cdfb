"""Training the plain network over the regions that will be claimed of it, and how much of them it holds.

Certificates without probability are about the network itself: what limits them is how many objects it classifies
rightly under every attack of the region. So it is trained under random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from tpc_core.errors import InvalidValue
from tpc_core.training.clouds import Clouds
from tpc_core.transforms import Region, Transform, parse_transform

TRIED = 96
"""Random attacks per object, besides the extreme ones, when the share of robust objects is estimated."""


@dataclass(frozen=True)
class Attacks:
    """A transform and the region that its parameters are drawn from."""

    transform: Transform
    region: Region

    @classmethod
    def parse(cls, claim: str) -> Attacks:
        """From a claim such as "z-taper:0.5" or "z-taper+z-rotation:taper=0.2,rotation=1"."""
        name, colon, radius = claim.partition(":")
        if not colon:
            raise InvalidValue(f'{claim!r} is not a claim; write a transform and a radius: "z-taper:0.5"')
        transform = parse_transform(name)
        return cls(transform, transform.region(transform.parse_radius(radius)))

    def draw(self, points: Tensor, generator: Generator) -> Tensor:
        """Every cloud under an attack of its own, from the smallest box around the region; (B, N, 3)."""
        reach = torch.from_numpy(np.asarray(self.region.half_widths))
        z = reach * (2 * torch.rand(len(points), len(reach), generator=generator, dtype=torch.float64) - 1)
        return self.transform.apply(points, z)


def attacked(points: Tensor, attacks: Sequence[Attacks], generator: Generator) -> Tensor:
    """Every cloud under a random attack of one of the families, chosen at random; (B, N, 3) -> (B, N, 3)."""
    if not attacks:
        return points
    family = torch.randint(len(attacks), (len(points),), generator=generator)
    moved = torch.empty_like(points)
    for number, attack in enumerate(attacks):
        chosen = family == number
        moved[chosen] = attack.draw(points[chosen], generator)
    return moved


@torch.no_grad()
def hardest(
    points: Tensor,
    targets: Tensor,
    attacks: Sequence[Attacks],
    attempts: int,
    classify: Callable[[Tensor], Tensor],
    generator: Generator,
) -> Tensor:
    """Every cloud under the attack, of so many random ones, that the network answers worst; (B, N, 3) -> (B, N, 3)."""
    found = attacked(points, attacks, generator)
    least = _leads(classify(found), targets)
    for _ in range(attempts - 1):
        tried = attacked(points, attacks, generator)
        leads = _leads(classify(tried), targets)
        worse = leads < least
        found[worse], least = tried[worse], torch.minimum(leads, least)
    return found


def _leads(logits: Tensor, targets: Tensor) -> Tensor:
    """By how much the right class leads the best other one; (B,)."""
    own = logits.gather(1, targets.unsqueeze(1))
    return (own - logits.scatter(1, targets.unsqueeze(1), -torch.inf).amax(dim=1, keepdim=True)).squeeze(1)


@torch.no_grad()
def robust_rows(
    classify: Callable[[Tensor], Tensor], clouds: Clouds, claims: Sequence[str], seed: int
) -> dict[str, float]:
    """Percentages: objects that the plain network gets right under every attack tried, for the paper's radii.

    Attacks are tried, not enclosed, so these are estimates from above.
    """
    points, truth = clouds.points[:, 0], clouds.targets
    plain = classify(points).argmax(dim=1) == truth
    figures = {"plain": _percent(plain)}
    for transform in dict.fromkeys(Attacks.parse(claim).transform for claim in claims):
        for edge in transform.paper_radii:
            radii = transform.parse_radius(edge)
            region, kept = transform.region(radii), plain.clone()
            tried = region.sample(TRIED, np.random.default_rng(seed))
            for z in torch.from_numpy(np.concatenate([region.extremes(), tried])):
                left = kept.nonzero().flatten()
                moved = transform.apply(points[left], z.expand(len(left), -1))
                kept[left] = classify(moved).argmax(dim=1) == truth[left]
            figures[f"plain, {transform.name} {transform.describe_radius(radii)}"] = _percent(kept)
    return figures


def _percent(passed: Tensor) -> float:
    return round(100 * float(passed.float().mean()), 2)
