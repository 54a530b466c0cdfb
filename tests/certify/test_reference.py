"""The engine does what the method on one screen does, vote for vote (tpc_core/reference.py)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import integrate

from tpc_core import reference
from tpc_core.certify import Options, certify
from tpc_core.cloud import Cloud
from tpc_core.data import load_object
from tpc_core.models import Model, load_model
from tpc_core.smoothing import NoiseStream
from tpc_core.statistics import log_e
from tpc_core.votes import BLOCK

ALPHA = 0.001


class Votes:
    """The smoothed classifier in its plainest form, with a memory of what it was asked."""

    def __init__(self, model: Model, seed: int) -> None:
        self.model, self.seed = model, seed
        self.asked: dict[str, list[np.ndarray]] = {}

    def __call__(self, points: np.ndarray, place: str, block: int) -> np.ndarray:
        cloud = torch.from_numpy(points).float().expand(BLOCK, -1, -1)
        shaken = self.model.smoothing.perturb(cloud, NoiseStream(self.seed, place).block(block))
        with torch.inference_mode():
            answers = self.model.classifier()(shaken).argmax(dim=-1).numpy()
        counts = np.bincount(answers, minlength=len(self.model.classes))
        self.asked.setdefault(place, []).append(counts)
        return counts


def chair(model: Model) -> Cloud:
    return load_object("gallery:chair-1", points=model.num_points or 64)


@pytest.mark.parametrize(
    ("name", "transform", "radius", "edge"),
    [
        ("pointnet64-z-twist", "z-twist", 180, math.radians(180)),
        ("pointnet64-z-rotation-30", "z-rotation", 20, math.radians(20)),
        ("pointnet64-l2", "l2", 0.05, 0.05),
        ("pointnet64-l2", "l2", 0.3, 0.3),
    ],
)
def test_one_probability_is_decided_as_on_the_screen(
    name: str, transform: str, radius: float, edge: float
) -> None:
    model = load_model(name)
    cloud = chair(model)
    made = certify(model, cloud, transform, radius, Options(alpha=ALPHA, seed=5))
    votes = Votes(model, 5)
    spread = getattr(model.smoothing, "spreads", (getattr(model.smoothing, "sigma", 0.0),))[0]
    said = reference.additive(votes, cloud.points.double().numpy(), edge, spread, ALPHA)
    assert (made.verdict == "certified") == said
    same_votes(made.votes().tallies, votes.asked)


def test_a_group_is_decided_as_on_the_screen() -> None:
    model = load_model("pointnet64-so3-group")
    cloud = chair(model)
    made = certify(model, cloud, "general-rotation", 180, Options(alpha=ALPHA, seed=5))
    votes = Votes(model, 5)
    assert reference.top_class(votes, cloud.points.double().numpy(), ALPHA, blocks=8)
    assert made.verdict == "certified"
    same_votes(made.votes().tallies, votes.asked)


@pytest.mark.parametrize("radius", [0.05, 0.2, 0.5])
def test_cells_are_decided_as_on_the_screen(radius: float) -> None:
    model = load_model("pointnet64-noise")
    cloud = chair(model)
    made = certify(model, cloud, "z-taper", radius, Options(alpha=ALPHA, seed=5))
    votes = Votes(model, 5)
    sigma = model.smoothing.sigmas["sigma"]
    assert (made.verdict == "certified") == reference.taper(
        votes, cloud.points.double().numpy(), radius, sigma, ALPHA
    )
    same_votes(made.votes().tallies, votes.asked)
    assert len(made.ledger.places) > 2


def same_votes(tallies: dict, asked: dict[str, list[np.ndarray]]) -> None:
    """Wherever both voted, they saw the same votes."""
    common = set(tallies) & set(asked)
    assert "select" in common
    assert len(common) >= 2
    for place in common:
        for mine, theirs in zip(tallies[place].blocks, asked[place], strict=False):
            assert np.array_equal(mine, theirs), place


@pytest.mark.parametrize(("k", "n", "q"), [(32, 32, 0.6), (31, 32, 0.9), (700, 704, 0.98), (20, 32, 0.5)])
def test_the_test_is_the_mean_of_likelihood_ratios(k: int, n: int, q: float) -> None:
    b = reference.B
    assert (
        reference.A == 1.0
    )  # so the prior's density is b (1 - p)^(b - 1), and its mass beyond q is (1 - q)^b

    def ratio(u: float) -> float:
        """With p = 1 - u^4, which tames the density's endless end."""
        likelihood = ((1 - u**4) / q) ** k * (u**4 / (1 - q)) ** (n - k)
        return float(likelihood * 4 * b * u ** (4 * b - 1) / (1 - q) ** b)

    mean, _ = integrate.quad(ratio, 0, (1 - q) ** 0.25, epsabs=0, epsrel=1e-10)
    assert reference.e_value(k, n, q) == pytest.approx(math.log(mean), abs=1e-7)
    assert float(log_e(k, n, q)) == pytest.approx(reference.e_value(k, n, q), abs=1e-9)
