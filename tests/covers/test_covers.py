"""Covers cover: every attack of a region lies in a cell, and levels along a path add up to alpha."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.classifiers import small_cloud
from tpc_core.cloud import Cloud
from tpc_core.covers import Lattice
from tpc_core.covers.lattice import MOST_FIRST_CELLS, cell_level
from tpc_core.covers.paper import paper_grid
from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.smoothing import Cover
from tpc_core.transforms import Ball, Box, GeneralRotation, Region, Transform, ZYXRotation, parse_transform

POINTS = small_cloud(10).points.double().numpy()
seeds = st.integers(0, 2**32 - 1)

TREES: dict[str, tuple[str, tuple[float, ...], float]] = {
    "z-taper": ("z-taper", (0.6,), 0.05),
    "z-rotation": ("z-rotation", (math.pi,), 0.3),
    "z-shear": ("z-shear", (0.4,), 0.1),
    "general-rotation": ("general-rotation", (0.4,), 0.15),
    "half turn": ("general-rotation", (math.pi,), 0.5),
    "zyx-rotation": ("zyx-rotation", (0.3,), 0.15),
    "taper+rotation": ("z-taper+z-rotation", (0.4, 0.3), 0.1),
    "all three": ("z-twist+z-taper+z-rotation", (0.5, 0.3, 0.2), 0.2),
}


def _tree(name: str) -> tuple[Transform, Lattice, Region]:
    transform_name, radii, sigma = TREES[name]
    transform = parse_transform(transform_name)
    lattice = Lattice.of(transform, Cover(sigma, transform.reach(POINTS)), POINTS)
    return transform, lattice, transform.region(radii)


def _places(region: Region, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random points of a region, points of its boundary, its extremes, and points on the axes."""
    inside = region.sample(count, rng)
    boundary = inside / np.maximum(region.gauge(inside), 1e-12)[:, None]
    axes = inside * (rng.random(inside.shape) < 0.5)
    places = np.vstack([inside, boundary, region.extremes(), axes, np.zeros((1, region.dim))])
    return places / np.maximum(region.gauge(places), 1.0)[:, None]


@pytest.mark.parametrize("name", TREES)
def test_every_attack_lies_in_a_cell_at_every_depth(name: str) -> None:
    """Descend from the first cells; each step has a cell that holds the point, and its reach bounds the way."""
    transform, lattice, region = _tree(name)
    rng = np.random.default_rng(1)
    cloud = torch.from_numpy(POINTS)
    first = lattice.first_cells(region)
    for z in _places(region, rng, 12):
        moved = transform.apply(cloud, torch.from_numpy(z))
        cells, spent = first, 0.0
        for depth in range(8):
            holders = [
                c
                for c in cells
                if np.all(np.array(c.low) <= z + 1e-9) and np.all(z <= np.array(c.high) + 1e-9)
            ]
            assert holders
            cell = holders[int(rng.integers(len(holders)))]
            assert cell.depth == depth
            spent += cell_level(0.05, depth)
            assert spent <= 0.05
            if cell.testable:
                centre = transform.apply(cloud, torch.from_numpy(cell.z))
                assert float((moved - centre).norm()) <= cell.reach * lattice.cover.sigma + 1e-9
            assert lattice.cell(cell.path, region) == cell
            cells = lattice.children(cell, region)


@pytest.mark.parametrize("name", TREES)
def test_cells_meet_only_in_faces_and_edges_are_exact(name: str) -> None:
    """Halves share one exact edge, and neighbours the same number, however it was reached."""
    _, lattice, region = _tree(name)
    cell = lattice.first_cells(region)[0]
    for _ in range(12):
        low, high = lattice.box(cell.path)
        halves = [lattice.box(cell.path + digit) for digit in "01"]
        axis = int(np.argmax(halves[0][1] != high))
        assert halves[0][1][axis] == halves[1][0][axis] == (low[axis] + high[axis]) / 2
        others = np.arange(lattice.dim) != axis
        assert np.array_equal(halves[0][0], low)
        assert np.array_equal(halves[1][1], high)
        assert np.array_equal(halves[0][1][others], high[others])
        assert np.array_equal(np.array(cell.centre), (low + high) / 2)
        cell = (lattice.children(cell, region) or [cell])[-1]
    for a, b in itertools.pairwise(range(-2, 3)):
        left, right = (lattice.box(",".join([str(i)] + ["0"] * (lattice.dim - 1)) + ":") for i in (a, b))
        assert left[1][0] == right[0][0]


@pytest.mark.parametrize("name", ["z-taper", "z-shear", "zyx-rotation", "taper+rotation", "general-rotation"])
def test_the_first_cells_cover_the_region_once(name: str) -> None:
    """A random point lies in exactly one of them; their boxes do not overlap."""
    _, lattice, region = _tree(name)
    cells = lattice.first_cells(region)
    assert len(cells) == lattice.count_first_cells(region)
    low, high = np.array([c.low for c in cells]), np.array([c.high for c in cells])
    rng = np.random.default_rng(2)
    places = region.sample(500, rng)
    holders = np.all((low[None] <= places[:, None]) & (places[:, None] <= high[None]), axis=2).sum(axis=1)
    assert np.all(holders == 1)
    edge = _places(region, rng, 100)
    inside = np.all((low[None] <= edge[:, None] + 1e-12) & (edge[:, None] <= high[None] + 1e-12), axis=2)
    assert np.all(inside.any(axis=1))
    assert len({c.path for c in cells}) == len(cells)


@pytest.mark.parametrize("name", TREES)
def test_the_tree_is_the_same_for_every_region(name: str) -> None:
    """A cell of a smaller region is the cell of the larger one: same place, same tested point, a shorter reach."""
    _, lattice, region = _tree(name)
    small = {cell.path: cell for cell in lattice.first_cells(region.scaled(0.5))}
    large = {cell.path: cell for cell in lattice.first_cells(region)}
    assert set(small) <= set(large)
    for path, cell in small.items():
        assert cell.centre == large[path].centre
        assert cell.reach <= large[path].reach * (1 + 1e-9)


def test_a_path_that_leads_nowhere_is_refused() -> None:
    _, lattice, region = _tree("taper+rotation")
    for path in (
        "2",
        "x",
        "0,0:2",
        "0,0,0:",
        "00,0:",
        "0,0",
        "-0,0:",
        "0,0:" + "0" * 300,
        f"{1 << 40},0:",
        " 0,0:",
    ):
        with pytest.raises(InvalidCertificate, match="no cell"):
            lattice.cell(path, region)


def test_levels_along_a_path_never_spend_more_than_alpha() -> None:
    for deepest in (1, 5, 40, 5_000):
        assert sum(cell_level(0.01, depth) for depth in range(deepest)) <= 0.01
    assert sum(cell_level(1.0, depth) for depth in range(10_000)) > 0.999


def test_a_centre_outside_of_the_bounds_domain_is_not_tested() -> None:
    """A taper past 1 / max|z| turns points inside out; such cells are halved until their centres lie within."""
    transform = parse_transform("z-taper")
    lattice = Lattice.of(transform, Cover(0.5, transform.reach(POINTS)), POINTS)
    region = transform.region((0.95,))
    cells = lattice.first_cells(region)
    outer = [cell for cell in cells if not cell.testable]
    for cell in cells:
        assert cell.testable == (abs(cell.centre[0]) * np.abs(POINTS[:, 2]).max() <= 1 + 1e-9)
    for cell in outer:
        assert not np.isfinite(cell.reach)
        assert lattice.children(cell, region)


def test_a_region_of_too_many_cells_is_refused_before_it_is_built() -> None:
    transform = parse_transform("general-rotation")
    lattice = Lattice.of(transform, Cover(0.001, transform.reach(POINTS)), POINTS)
    region = transform.region((math.pi,))
    assert lattice.count_first_cells(region) > MOST_FIRST_CELLS
    with pytest.raises(InvalidValue, match="cells"):
        lattice.first_cells(region)


@given(seed=seeds, dim=st.integers(1, 4), ball=st.booleans())
@settings(max_examples=150, deadline=None)
def test_regions_trim_and_span_without_losing_a_point(seed: int, dim: int, ball: bool) -> None:
    """Random boxes against a region: what is trimmed away, or called a miss, holds no point of the region."""
    rng = np.random.default_rng(seed)
    region: Region = Ball(rng.uniform(0.1, 2), dim) if ball else Box(tuple(rng.uniform(0.1, 2, dim)))
    ends = np.sort(rng.uniform(-1.2, 1.2, (2, dim)) * region.half_widths, axis=0)
    low, high = ends[0][None], ends[1][None]
    places = rng.uniform(low[0], high[0], (400, dim))
    edges = np.where(
        rng.random(places.shape) < 0.5, np.where(rng.random(places.shape) < 0.5, low, high), places
    )
    nearest = np.clip(0.0, low, high)
    # Points of the box on the boundary of the region: scale box points onto it and keep those still in the box.
    everything = np.vstack([places, edges, nearest])
    onto = everything / np.maximum(region.gauge(everything), 1e-9)[:, None]
    everything = np.vstack([everything, onto, onto * (1 - 1e-12)])
    in_box = np.all((low <= everything) & (everything <= high), axis=1)
    common = everything[in_box & (region.gauge(everything) <= 1.0)]
    if len(common):
        assert bool(region.meets(low, high)[0])
        assert float(region.nearest_gauge(low, high)[0]) <= float(region.gauge(common).min()) + 1e-12
        new_low, new_high = region.trim(low, high)
        assert np.all(new_low >= low)
        assert np.all(new_high <= high)
        assert np.all((new_low <= common + 1e-12) & (common <= new_high + 1e-12))
        for centre in ((new_low + new_high) / 2, everything[:1]):
            span = float(region.span(centre, new_low, new_high)[0])
            assert np.linalg.norm(common - centre, axis=1).max() <= span * (1 + 1e-9) + 1e-12
    samples = region.sample(50, rng)
    assert np.all(region.gauge(samples) <= 1 + 1e-12)
    assert np.all(region.gauge(region.extremes()) <= 1 + 1e-12)
    assert np.all(region.gauge(region.project(samples * 5)) <= 1 + 1e-9)
    assert np.all(region.scaled(0.5).gauge(samples) == pytest.approx(2 * region.gauge(samples)))


# The paper's grids.

GRIDS: dict[str, tuple[float, ...]] = {
    "z-taper": (0.5,),
    "x-taper+x-rotation": (0.3, 0.2),
    "z-twist+z-taper+z-rotation": (0.4, 0.3, 0.2),
    "general-rotation": (0.5,),
    "zyx-rotation": (0.2,),
}


def _unit_ball_cloud(rng: np.random.Generator) -> np.ndarray:
    """Clouds that strain the paper's bounds: many points on the sphere, at the worst latitude."""
    points = rng.normal(size=(8, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if rng.random() < 0.5:
        h = rng.choice([math.sqrt(0.5), 0.5, 0.8])
        turn = rng.uniform(0, 2 * math.pi, 8)
        points = np.stack(
            [math.sqrt(1 - h * h) * np.cos(turn), math.sqrt(1 - h * h) * np.sin(turn), np.full(8, h)], axis=1
        )
    return points


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("resolution", [1, 2, 4])
def test_the_grid_of_the_paper_covers_its_region_within_its_bound(name: str, resolution: int) -> None:
    transform, radii = parse_transform(name), GRIDS[name]
    rng = np.random.default_rng(resolution)
    points = _unit_ball_cloud(rng)
    grid = paper_grid(transform, radii, points, 0.25, resolution)
    cloud = torch.from_numpy(points)
    places = _places(transform.region(radii), rng, 60)
    mover = GeneralRotation() if isinstance(transform, ZYXRotation) else transform
    tested = mover.apply(cloud, torch.tensor([c.centre for c in grid.cells], dtype=torch.float64))
    for z in places:
        distance = (tested - transform.apply(cloud, torch.from_numpy(z))).flatten(-2).norm(dim=-1)
        if name in ("general-rotation", "zyx-rotation"):
            assert float(distance.min()) <= grid.cells[0].reach * 0.25 + 1e-9
            continue
        low, high = np.array([c.low for c in grid.cells]), np.array([c.high for c in grid.cells])
        holders = np.flatnonzero(np.all((low <= z + 1e-12) & (z <= high + 1e-12), axis=1))
        assert len(holders)
        assert all(float(distance[i]) <= grid.cells[i].reach * 0.25 + 1e-9 for i in holders)


@pytest.mark.parametrize("angle", [0.3, math.pi])
def test_every_point_of_a_rotation_cell_is_within_the_bound_of_its_own_tested_point(angle: float) -> None:
    """Cells are (polar, azimuth, angle); a cell may vouch for its own points only."""
    rng = np.random.default_rng(4)
    points = _unit_ball_cloud(rng)
    transform = GeneralRotation()
    grid = paper_grid(transform, (angle,), points, 1.0, 3)
    low, high = np.array([c.low for c in grid.cells]), np.array([c.high for c in grid.cells])
    volume = float(
        np.sum(
            (np.cos(low[:, 0]) - np.cos(high[:, 0]))
            * (high[:, 1] - low[:, 1])
            * (high[:, 2] ** 3 - low[:, 2] ** 3)
            / 3
        )
    )
    assert volume == pytest.approx(4 / 3 * math.pi * angle**3)  # nothing is missing
    cloud = torch.from_numpy(points)
    tested = transform.apply(cloud, torch.tensor([c.centre for c in grid.cells], dtype=torch.float64))
    for _ in range(8):
        mix = rng.choice([0.0, 1.0, rng.random()], size=low.shape)
        polar, azimuth, size = (low + mix * (high - low)).T
        axis = np.stack(
            [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=1
        )
        moved = transform.apply(cloud, torch.from_numpy(axis * size[:, None]))
        assert float((moved - tested).flatten(-2).norm(dim=-1).max()) <= grid.cells[0].reach + 1e-9


def test_a_cloud_at_the_rim_of_the_tolerance_is_still_within_the_bound_of_the_paper() -> None:
    """Clouds may stick out of the unit ball by a thousandth; the paper's bound must know it."""
    h = math.sqrt(0.5) * 1.0009
    cloud = Cloud(torch.tensor([[h, 0, h], [-h, 0, h], [0, h, h], [0, -h, -h]]))
    points = cloud.points.double().numpy()
    transform = parse_transform("z-taper")
    grid = paper_grid(transform, (0.5,), points, 1.0, 2)
    exact = float(
        transform.reach(points)(np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), 0.25), np.array([0.25]))[
            0
        ]
    )
    assert exact <= grid.cells[0].reach


def test_grids_without_sense_are_refused() -> None:
    for resolution in (0, -1, 10**6):
        with pytest.raises(InvalidValue, match="M in"):
            paper_grid(parse_transform("z-taper"), (0.1,), POINTS, 0.1, resolution)
