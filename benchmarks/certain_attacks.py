"""Attacks on certificates without probability: none may succeed, not one in a thousand.

    python -m benchmarks.certain_attacks --out runs/certain-attacks.jsonl [--certificates 500] [--attacks 10000]

Certificates are made and attacked through the public door: corners and tips of the region, random places, and searches
around the places that came nearest to another class; for balls, corners of the box, most of them found by gradients.
Attacks are tried on the float32 network, and all that come near to another class again in float64, which the
certificates are about. Every attacked certificate is a line of the file, and a run goes on where the file ends.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core import Budget, Certificate, Model, Options, certify, load_model, replay
from tpc_core.certificate.certain import BallRecord, CellsRecord
from tpc_core.data import Dataset, open_dataset
from tpc_core.exact import network_of, region_of

CLAIMS = [
    ("pointnet64-plain", "z-taper", "0.2"),
    ("pointnet64-plain", "z-taper", "0.5"),
    ("pointnet64-plain", "z-twist", "20"),
    ("pointnet64-plain", "z-twist", "60"),
    ("pointnet64-plain", "z-shear", "0.03"),
    ("pointnet64-z-rotation-30", "z-rotation", "20"),
    ("pointnet64-plain", "z-taper+z-rotation", "taper=0.1,rotation=1"),
    ("pointnet64-small-boxes", "linf", "0.01"),
    ("pointnet64-plain", "z-twist+z-rotation", "twist=20,rotation=1"),
    ("pointnet64-so3-diffusion", "zyx-rotation", "0.5"),
]
CERTAIN = Options(proof="certain", budget=Budget(cells=4000))
REPLAYED = 10
"""Of every so many certificates, one is proved again as well."""
PER_ROUND = 1_000
NEAR = 0.05
"""A float32 margin below this is looked at in float64; the two differ by about 1e-5."""

Array = NDArray[np.float64]
Margins = Callable[[Array], Array]


@dataclass(frozen=True)
class Line:
    """What the attacks on one certificate found."""

    claim: str
    object: int
    verdict: str
    attacks: int = 0
    succeeded: int = 0
    nearest: float = 1e9
    stated: float = 0.0
    """The least margin that the certificate states; no attack may come below it."""


def margins_of(model: Model, certificate: Certificate) -> Margins:
    """The margin of the class at parameters (M, d): in float32, and in float64 where that is small."""
    network, plain = network_of(model.module), model.classifier()
    phi, points = certificate.question.family, certificate.cloud.cloud().points.double()
    label = certificate.model.classes.index(str(certificate.prediction))

    def lead(logits: torch.Tensor) -> torch.Tensor:
        rivals = logits.clone()
        rivals[:, label] = -torch.inf
        return logits[:, label] - rivals.amax(dim=1)

    @torch.inference_mode()
    def margins(z: Array) -> Array:
        clouds = phi.apply(points, torch.from_numpy(z))
        found = lead(plain(clouds.float())).double()
        near = torch.nonzero(found < NEAR).flatten()
        if len(near):
            found[near] = lead(network.evaluate(clouds[near]))
        return np.asarray(found.numpy())

    return margins


def attack_region(certificate: Certificate, margins: Margins, count: int, rng: np.random.Generator) -> Array:
    """The margins of about `count` attacks of a region of few parameters."""
    region = region_of(certificate.question.family, certificate.question.radii)
    tried = np.concatenate([region.extremes(), region.sample(count // 2, rng)])
    found, width = margins(tried), region.half_widths / 10
    while len(tried) < count:
        worst = tried[np.argsort(found)[: PER_ROUND // 20]]
        near = (worst[None] + rng.normal(size=(20, *worst.shape)) * width).reshape(-1, region.dim)
        near = region.project(near)
        tried, found = np.concatenate([tried, near]), np.concatenate([found, margins(near)])
        width = width / 2
    return found


def attack_ball(
    certificate: Certificate, model: Model, margins: Margins, count: int, rng: np.random.Generator
) -> Array:
    """The margins of about `count` corners of the ball: random ones, and each pushed along the gradient of a rival."""
    (radius,) = certificate.question.radii
    points = certificate.cloud.cloud().points
    label = certificate.model.classes.index(str(certificate.prediction))
    found: list[Array] = []
    while sum(map(len, found)) < count:
        moved = torch.from_numpy(rng.uniform(-radius, radius, (PER_ROUND // 10, len(points), 3))).float()
        rivals = torch.from_numpy(rng.integers(0, len(certificate.model.classes), len(moved)))
        rivals[rivals == label] = (label + 1) % len(certificate.model.classes)
        for _ in range(5):
            moving = moved.clone().requires_grad_()
            logits = model.module(points + moving)
            lead = logits[:, label] - logits.gather(1, rivals[:, None]).squeeze(1)
            (gradient,) = torch.autograd.grad(lead.sum(), moving)
            moved = (moved - radius * gradient.sign()).clamp(-radius, radius)
            found.append(margins(moved.double().clamp(-radius, radius).flatten(1).numpy()))
    return np.concatenate(found)


def attacked(model: Model, claim: tuple[str, str, str], data: Dataset, index: int, count: int) -> Line:
    """Make one certificate, and attack it where it certifies."""
    name = " ".join(claim)
    cloud = data[index].cloud(model.num_points or 64)
    certificate = certify(model, cloud, claim[1], claim[2], CERTAIN)
    if certificate.verdict != "certified":
        return Line(name, index, certificate.verdict)
    if index % REPLAYED == 0:
        replay(certificate, model)
    margins, rng = margins_of(model, certificate), np.random.default_rng(index)
    record = certificate.certain
    if isinstance(record, BallRecord):
        assert record.proved is not None
        found, stated = attack_ball(certificate, model, margins, count, rng), record.proved.margin
    else:
        assert isinstance(record, CellsRecord)
        found, stated = attack_region(certificate, margins, count, rng), min(record.margins)
    wrong = int((found <= 0).sum())
    return Line(name, index, "certified", len(found), wrong, float(found.min()), stated)


def lines(out: Path, certificates: int, count: int) -> Iterator[Line]:
    """What is in the file, then the rest: as many certificates of every claim, objects spread over the test split."""
    done = [Line(**json.loads(text)) for text in out.read_text().splitlines()] if out.exists() else []
    yield from done
    known = {(line.claim, line.object) for line in done}
    data = open_dataset("modelnet40", "test")
    wanted = -(-certificates // len(CLAIMS))
    order = np.random.default_rng(0).permutation(len(data)).tolist()
    for claim in CLAIMS:
        model, name = load_model(claim[0]), " ".join(claim)
        made = sum(line.claim == name and line.verdict == "certified" for line in done)
        for index in order:
            if made >= wanted:
                break
            if (name, index) in known:
                continue
            line = attacked(model, claim, data, index, count)
            made += line.verdict == "certified"
            with out.open("a") as file:
                file.write(json.dumps(asdict(line)) + "\n")
            yield line


def summary(every: list[Line]) -> list[str]:
    """A line for each claim, and one for all."""
    by_claim: dict[str, list[Line]] = defaultdict(list)
    for line in every:
        if line.verdict == "certified":
            by_claim[line.claim].append(line)
    by_claim["all"] = [line for some in by_claim.values() for line in some]
    return [
        f"{name:<62} {len(some):>4} certificates, {sum(line.attacks for line in some):>9,} attacks: "
        f"{sum(line.succeeded for line in some)} succeeded, "
        f"{sum(line.nearest < line.stated for line in some)} came below a stated margin; "
        f"smallest margin {min((line.nearest for line in some), default=float('inf')):.3g}"
        for name, some in by_claim.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--certificates", type=int, default=500)
    parser.add_argument("--attacks", type=int, default=10_000)
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    every = list(lines(given.out, given.certificates, given.attacks))
    print("\n".join(summary(every)))
    return 1 if any(line.succeeded or line.nearest < line.stated for line in every) else 0


if __name__ == "__main__":
    raise SystemExit(main())
