"""Certified means that no attack succeeds, refuted that the stored parameter is one, and nothing else is claimed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import torch

from tpc_core.data import load_object
from tpc_core.errors import InvalidCertificate, InvalidValue, UnsupportedRequest
from tpc_core.exact import (
    BallProblem,
    Batch,
    Budget,
    PartsProblem,
    Problem,
    Settled,
    check,
    check_counterexample,
    covers,
    largest_ball,
    network_of,
    region_of,
    robust_radius,
    settle,
    settle_ball,
    settle_events,
    settle_parts,
)
from tpc_core.exact.cells import Cells, root
from tpc_core.models import load_model
from tpc_core.transforms import parse_transform


@lru_cache
def problem(
    transform: str, radius: str, model: str = "pointnet64-noise", name: str = "chair-1", points: int = 48
) -> Problem:
    network = network_of(load_model(model).module)
    cloud = load_object(f"gallery:{name}", points=points).points
    phi = parse_transform(transform)
    label = int(network.evaluate(cloud[None])[0].argmax())
    return Problem(network, phi, cloud, phi.region(phi.parse_radius(radius)), label)


@lru_cache
def settled(*arguments: str) -> Settled:
    return settle(problem(*arguments))


CERTIFIED = [
    ("z-taper", "0.2"),
    ("z-shear", "0.03"),
    ("z-rotation", "3"),
    ("z-taper+z-rotation", "taper=0.05,rotation=0.5"),
    ("z-twist", "20", "pointnet64-cylinder", "airplane-1"),
]


def margins_at(case: Problem, z: np.ndarray) -> torch.Tensor:
    """The real margins of the network in float64 at parameters (M, d)."""
    logits = case.network.evaluate(case.transform.apply(case.points.double(), torch.from_numpy(z)))
    rivals = logits.clone()
    rivals[:, case.label] = -torch.inf
    return logits[:, case.label] - rivals.amax(dim=1)


@pytest.mark.parametrize("arguments", CERTIFIED, ids=lambda a: " ".join(a[:2]))
def test_no_attack_on_a_certified_region_succeeds(arguments: tuple[str, ...]) -> None:
    """2,000 each: corners and tips, random parameters, and those next to the leaf with the smallest margin."""
    case, result = problem(*arguments), settled(*arguments)
    assert result.verdict == "certified"
    assert covers(result.leaves, case.region)
    rng = np.random.default_rng(0)
    low, high = case.trimmed(result.leaves[np.argsort(result.margins)[:8]])
    near = rng.uniform(low, high, (100, *low.shape)).reshape(-1, case.region.dim)
    z = np.concatenate([case.region.extremes(), case.region.sample(1200, rng), case.region.project(near)])
    assert float(margins_at(case, z).min()) > 0


@pytest.mark.parametrize("arguments", CERTIFIED[:3], ids=lambda a: " ".join(a[:2]))
def test_no_parameter_of_a_leaf_has_a_smaller_margin_than_the_leaf_states(arguments: tuple[str, ...]) -> None:
    case, result = problem(*arguments), settled(*arguments)
    rng = np.random.default_rng(1)
    low, high = case.trimmed(result.leaves)
    shares = np.where(rng.random((20, *low.shape)) < 0.6, rng.integers(0, 2, (20, *low.shape)), 0.5)
    z = low + shares * (high - low)
    real = margins_at(case, z.reshape(-1, case.region.dim)).view(20, -1).numpy()
    assert bool((real >= result.margins).all())


def test_a_refuted_region_stores_a_parameter_that_shows_it() -> None:
    case = problem("x-rotation", "90")
    result = settle(case)
    assert result.verdict == "refuted"
    assert result.counterexample is not None
    check_counterexample(case, result.counterexample)
    z = np.array([result.counterexample.z])
    assert bool(case.region.contains(z)[0])
    assert float(margins_at(case, z)) < 0


def test_a_proof_is_recomputed_and_a_changed_one_is_not_accepted() -> None:
    case, result = problem("z-taper", "0.2"), settled("z-taper", "0.2")
    check(case, result.leaves, result.margins)
    without = np.arange(len(result.leaves)) != 1
    with pytest.raises(InvalidCertificate, match="out"):
        check(case, result.leaves[without], result.margins[without])
    raised = result.margins.copy()
    raised[-1] *= 1.01
    with pytest.raises(InvalidCertificate, match=f"cell {len(raised) - 1}"):
        check(case, result.leaves, raised)
    with pytest.raises(InvalidCertificate, match="can be proved"):
        check(replace(case, label=(case.label + 1) % 40), result.leaves, result.margins)
    with pytest.raises(InvalidCertificate, match="margins"):
        check(case, result.leaves, result.margins[1:])
    coarse = Cells(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64))
    wide = problem("z-taper", "0.9")
    with pytest.raises(InvalidCertificate, match="can be proved"):
        check(wide, coarse, np.array([1.0]))


def test_a_changed_counterexample_is_not_accepted() -> None:
    case = problem("x-rotation", "90")
    found = settle(case).counterexample
    assert found is not None
    with pytest.raises(InvalidCertificate, match="outside"):
        check_counterexample(case, replace(found, z=(4.0,)))
    with pytest.raises(InvalidCertificate, match="keeps"):
        check_counterexample(case, replace(found, z=(0.0,)))
    with pytest.raises(InvalidCertificate, match="rival"):
        check_counterexample(case, replace(found, rival=(found.rival + 1) % 40))


@pytest.mark.parametrize(
    ("name", "radius"),
    [
        ("z-shear+x-rotation", "shear=0.005,rotation=0.2"),
        ("x-taper+z-twist", "taper=0.01,twist=0.5"),
        ("zyx-rotation", "0.1"),
        ("general-rotation", "0.1"),
    ],
)
def test_compositions_about_different_axes_and_all_rotations_are_settled_too(name: str, radius: str) -> None:
    phi = parse_transform(name)
    case = problem("z-taper", "0.2")
    region = region_of(phi, phi.parse_radius(radius))
    case = replace(case, transform=phi, region=region)
    result = settle(case, Budget(cells=600))
    assert result.verdict == "certified"
    check(case, result.leaves, result.margins)
    z = np.concatenate([region.extremes(), region.sample(300, np.random.default_rng(5))])
    assert float(margins_at(case, z).min()) > 0


@pytest.mark.parametrize(
    ("name", "radius"), [("z-twist", "720"), ("linear", "0.9"), ("general-rotation", "180"), ("z-shear", "2")]
)
def test_regions_far_too_large_end_without_a_false_claim(name: str, radius: str) -> None:
    phi = parse_transform(name)
    case = replace(problem("z-taper", "0.2"), transform=phi, region=region_of(phi, phi.parse_radius(radius)))
    assert settle(case, Budget(cells=40)).verdict != "certified"
    whole = case.bound(root(phi.dim))[0].lower
    assert bool(torch.isfinite(whole).all())
    assert float(whole) < 0


def test_questions_that_make_no_sense_are_refused() -> None:
    case = problem("z-taper", "0.2")
    with pytest.raises(InvalidValue, match="2 parameters"):
        replace(case, transform=parse_transform("z-shear"))
    with pytest.raises(UnsupportedRequest, match="labels points"):
        replace(case, network=network_of(load_model("segmentation64-z-twist").module))
    with pytest.raises(UnsupportedRequest, match="labels clouds"):
        PartsProblem(
            case.network, case.transform, case.points, case.region, torch.zeros(48, dtype=torch.int64)
        )


def test_the_budget_ends_a_search_and_says_so() -> None:
    case = problem("z-rotation", "3")
    result = settle(case, Budget(cells=3))
    assert (result.verdict, result.reason) == ("undecided", "budget")
    assert result.bounded <= 3
    assert settle(case, Budget(seconds=0.0)).reason == "budget"


def test_events_tell_what_is_proved_and_a_search_can_be_cancelled() -> None:
    case = problem("z-rotation", "3")
    events = list(settle_events(case, batch=8))
    batches = [event for event in events if isinstance(event, Batch)]
    assert isinstance(events[-1], Settled)
    assert [b.share for b in batches] == sorted(b.share for b in batches)
    assert batches[-1].share == pytest.approx(1.0)
    assert batches[-1].open == 0
    assert sum(len(b.cells) for b in batches) == events[-1].bounded
    *_, last = settle_events(case, batch=8, cancelled=lambda: True)
    assert isinstance(last, Settled)
    assert (last.verdict, last.reason) == ("undecided", "cancelled")


def test_the_same_question_has_the_same_answer() -> None:
    case = problem("z-taper", "0.2")
    first, second = settled("z-taper", "0.2"), settle(case)
    assert np.array_equal(first.leaves.indices, second.leaves.indices)
    assert np.array_equal(first.margins, second.margins)


def test_the_robust_radius_is_found_from_both_sides() -> None:
    case = problem("x-rotation", "90")
    found = robust_radius(case, tolerance=0.01)
    assert found.refuted is not None
    assert found.counterexample is not None
    assert 0 < found.certified < found.refuted <= found.certified / 0.98
    check_counterexample(case, found.counterexample)
    claim = case.region.scaled(found.certified)
    check(case, found.leaves, found.margins, claim)
    z = claim.sample(500, np.random.default_rng(2))
    assert float(margins_at(case, np.concatenate([claim.extremes(), z])).min()) > 0
    inside = settle(replace(case, region=case.region.scaled(found.certified * 0.999)))
    assert inside.verdict == "certified"
    assert settle(replace(case, region=case.region.scaled(found.refuted))).verdict == "refuted"


def test_a_radius_that_is_robust_throughout_is_one() -> None:
    found = robust_radius(problem("z-taper", "0.2"))
    assert (found.certified, found.refuted) == (1.0, None)


def test_every_point_of_a_cloud_is_settled_on_its_own() -> None:
    network = network_of(load_model("segmentation64-z-twist").module)
    cloud = load_object("gallery:chair-1", points=32).points
    labels = network.evaluate(cloud[None])[0].argmax(dim=1)
    phi = parse_transform("z-twist")
    case = PartsProblem(network, phi, cloud, phi.region(phi.parse_radius(10)), labels)
    result = settle_parts(case)
    assert result.certified.sum() + len(result.refuted) == 32
    z = torch.linspace(-1, 1, 400, dtype=torch.float64)[:, None] * np.deg2rad(10)
    kept = (network.evaluate(phi.apply(cloud.double(), z)).argmax(dim=2) == labels).all(dim=0).numpy()
    assert bool(kept[result.certified].all())
    for point, found in result.refuted.items():
        logits = network.evaluate(phi.apply(cloud.double(), torch.tensor([found.z])))[0, point]
        assert int(logits.argmax()) != int(labels[point])
    for point in np.flatnonzero(result.certified):
        assert covers(result.leaves_of(int(point)), case.region)
    stopped = settle_parts(case, Budget(cells=1))
    assert stopped.reason == "budget"
    assert stopped.certified.sum() < result.certified.sum()


def test_noise_balls_are_proved_refuted_or_left_open() -> None:
    network = network_of(load_model("pointnet16-interval").module)
    points = load_object("gallery:bowl-1", points=16).points
    case = BallProblem(network, points, 0.06, int(network.evaluate(points[None])[0].argmax()))
    largest = largest_ball(case)
    assert 0 < largest.part < 1
    certified = largest.part * 0.06
    proved = settle_ball(BallProblem(case.network, case.points, certified, case.label))
    assert proved.verdict == "certified"
    assert proved.margin == largest.margin > 0
    rng = np.random.default_rng(4)
    shifts = torch.from_numpy(rng.choice([-certified, certified], (1000, len(case.points), 3)))
    logits = case.network.evaluate(case.points.double() + shifts)
    assert bool((logits.argmax(dim=1) == case.label).all())
    refuted = settle_ball(BallProblem(case.network, case.points, 0.2, case.label))
    assert refuted.verdict == "refuted"
    assert refuted.counterexample is not None
    moved = torch.tensor(refuted.counterexample.z, dtype=torch.float64).view(-1, 3)
    assert float(moved.abs().max()) <= 0.2
    answer = int(case.network.evaluate((case.points.double() + moved)[None])[0].argmax())
    assert answer == refuted.counterexample.rival != case.label


def test_cells_go_through_on_several_threads_with_the_same_margins() -> None:
    case, before = problem("z-taper", "0.2"), torch.get_num_threads()
    leaves = settled("z-taper", "0.2").leaves
    try:
        torch.set_num_threads(2)
        several = case.bound(leaves)[0].lower
        torch.set_num_threads(1)
        alone = case.bound(leaves)[0].lower
    finally:
        torch.set_num_threads(before)
    assert torch.allclose(several, alone, atol=1e-9)
