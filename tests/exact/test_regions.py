"""A region holds what its radii say, no more and no less, however it is composed and however small it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.certificate.made import changed
from tpc_core import Certificate, Options, certify, load_model, load_object, verify
from tpc_core.certificate.sentence import certainly_refuted_sentence
from tpc_core.errors import InvalidCertificate
from tpc_core.exact import region_of
from tpc_core.question import Budget
from tpc_core.transforms import Ball, parse_transform, parts_of

COMPOSED = {
    "z-shear+z-rotation": "shear=0.1,rotation=5",
    "general-rotation+z-taper": "angle=5,taper=0.1",
    "z-twist+linear": "twist=5,frobenius=0.1",
    "z-twist+z-taper+z-rotation": "twist=5,taper=0.1,rotation=3",
}


@pytest.mark.parametrize("name", COMPOSED)
def test_what_a_composition_may_do_is_what_each_of_its_parts_may(name: str) -> None:
    """The box around it has corners in which a shear, or a rotation, is larger than its radius."""
    transform = parse_transform(name)
    radii = transform.parse_radius(COMPOSED[name])
    region, rng = region_of(transform, radii), np.random.default_rng(0)
    half = region.half_widths
    z = np.concatenate([rng.uniform(-1.05, 1.05, (4000, len(half))) * half, 1.01 * region.extremes()])
    z = np.concatenate(
        [z, region.sample(500, rng), region.extremes() * (1 - 1e-12), region.project(z) * (1 - 1e-12)]
    )
    inside = np.ones(len(z), bool)
    column = 0
    for part, radius in zip(parts_of(transform), radii, strict=True):
        inside &= part.region([radius]).contains(z[:, column : column + part.dim])
        column += part.dim
    assert np.array_equal(region.contains(z), inside)
    assert 0 < inside.sum() < len(z)


def test_an_attack_beyond_the_radius_of_a_part_refutes_nothing() -> None:
    transform = parse_transform("z-shear+z-rotation")
    asked = Options(proof="certain", budget=Budget(cells=1))
    cloud = load_object("gallery:chair-1", points=32)
    made = certify(load_model("pointnet64-noise"), cloud, "z-shear+z-rotation", "shear=0.9,rotation=3", asked)

    def refuted_at(z: list[float]) -> Certificate:
        def lie(content: dict[str, object]) -> None:
            content["verdict"], content["stopped"] = "refuted", "settled"
            certain = content["certain"]
            assert isinstance(certain, dict)
            certain |= {"levels": [], "indices": [], "margins": []}
            certain["counterexample"] = {"parameter": z, "rival": 0, "margin": -1.0}
            said = certainly_refuted_sentence(
                transform, transform.named_values(torch.tensor(z, dtype=torch.float64)), "chair", "airplane"
            )
            content["sentence"] = said

        return changed(made, lie)

    assert verify(refuted_at([0.6, 0.6, 0.0])).on_trust
    with pytest.raises(InvalidCertificate, match="outside"):
        verify(refuted_at([0.8, 0.8, 0.0]))


@pytest.mark.parametrize("radius", [1e-320, 1e-200, 1e-160, 1e-30, 1.0, 1e200])
def test_a_ball_of_any_size_keeps_its_shape(radius: float) -> None:
    """The square of a small number is zero: a region must not shrink to nothing, nor grow to everything, by that."""
    ball, rng = Ball(radius, 2), np.random.default_rng(0)
    z = ball.sample(50, rng) * (1 - 1e-2)
    assert bool(ball.contains(z).all())
    assert not bool(ball.contains(np.array([[1.5, 0.0], [0.8, 0.8]]) * radius).any())
    low, high = (np.array([[end * radius, end * radius]]) for end in (-1.0, 1.0))
    trimmed_low, trimmed_high = ball.trim(low, high)
    assert bool(((trimmed_low <= z) & (z <= trimmed_high)).all())
