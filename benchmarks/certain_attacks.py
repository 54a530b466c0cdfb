"""Attacks on certificates without probability: none may succeed, not one in a thousand.

    python -m benchmarks.certain_attacks [objects of each claim] [attacks on each certificate]

Certificates are made and attacked through the public door: corners and tips of the region, random places, and searches
around the places that came nearest to another class.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core import Certificate, Model, Options, certify, load_model
from tpc_core.data import Dataset, open_dataset
from tpc_core.exact import Network, network_of, region_of

CLAIMS = [
    ("pointnet64-noise", "z-taper", "0.2"),
    ("pointnet64-noise", "z-taper", "0.5"),
    ("pointnet64-cylinder", "z-twist", "20"),
    ("pointnet64-z-rotation-30", "z-rotation", "20"),
]
PER_ROUND = 1_000


def attacks(
    certificate: Certificate, network: Network, count: int, rng: np.random.Generator
) -> tuple[int, float]:
    """How many of about `count` attacks change the class, and the smallest margin that they found."""
    question, points = certificate.question, certificate.cloud.cloud().points.double()
    region = region_of(question.family, question.radii)
    label = certificate.model.classes.index(str(certificate.prediction))

    def margins(z: NDArray[np.float64]) -> NDArray[np.float64]:
        logits = network.evaluate(question.family.apply(points, torch.from_numpy(z)))
        rivals = logits.clone()
        rivals[:, label] = -torch.inf
        found: NDArray[np.float64] = (logits[:, label] - rivals.amax(dim=1)).numpy()
        return found

    tried = np.concatenate([region.extremes(), region.sample(count // 2, rng)])
    found, width = margins(tried), region.half_widths / 10
    while len(tried) < count:
        worst = tried[np.argsort(found)[: PER_ROUND // 20]]
        near = (worst[None] + rng.normal(size=(20, *worst.shape)) * width).reshape(-1, region.dim)
        near = region.project(near)
        tried, found = np.concatenate([tried, near]), np.concatenate([found, margins(near)])
        width = width / 2
    return int((found <= 0).sum()), float(found.min())


def attack_claim(model: Model, transform: str, radius: str, data: Dataset, objects: int, count: int) -> str:
    """One line about the certificates of one claim."""
    network, rng = network_of(model.module), np.random.default_rng(0)
    verdicts: Counter[str] = Counter()
    succeeded, below, nearest = 0, 0, float("inf")
    for index in np.linspace(0, len(data) - 1, objects).astype(int).tolist():
        made = certify(model, data[index].cloud(64), transform, radius, Options(proof="certain"))
        verdicts[made.verdict] += 1
        if made.verdict == "certified" and made.certain is not None:
            wrong, smallest = attacks(made, network, count, rng)
            succeeded += wrong
            below += smallest < min(made.certain.margins)
            nearest = min(nearest, smallest)
    return (
        f"{model.name:<28}{transform} {radius:<6} {dict(verdicts)}: {count:,} attacks on each certificate, "
        f"{succeeded} succeeded, {below} came below a stated margin; smallest margin found {nearest:.3g}"
    )


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    objects, count = (*given, *(50, 10_000)[len(given) :])
    data = open_dataset("modelnet40", "test")
    for name, transform, radius in CLAIMS:
        print(attack_claim(load_model(name), transform, radius, data, objects, count), flush=True)


if __name__ == "__main__":
    main()
