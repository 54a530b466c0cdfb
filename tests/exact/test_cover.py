"""Cells with exact edges: what covers a region is accepted, what leaves a hair of it out is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tpc_core.exact.cells import Cells, covers, join, root
from tpc_core.transforms import Ball, Box, Product, Region

seeds = st.integers(0, 2**32 - 1)
REGIONS = [Box((0.3,)), Box((0.1, 2.0)), Ball(0.7, 2), Ball(0.05, 3), Box((0.1, 0.2, 0.3))]
REGIONS += [Product((Ball(0.7, 2), Box((0.3,))))]


def tree(region: Region, rng: np.random.Generator, splits: int) -> Cells:
    """The leaves that meet the region after cutting random cells across random axes."""
    leaves = [root(region.dim)]
    for _ in range(splits):
        cell = leaves.pop(int(rng.integers(len(leaves))))
        halves = cell.halved(rng.integers(0, region.dim, 1))
        leaves += [halves[k : k + 1] for k in range(2) if bool(halves[k : k + 1].meets(region)[0])]
    return join(leaves, region.dim)


@pytest.mark.parametrize("region", REGIONS, ids=str)
@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_the_leaves_of_any_tree_cover_and_none_may_be_missing(region: Region, seed: int) -> None:
    rng = np.random.default_rng(seed)
    leaves = tree(region, rng, int(rng.integers(0, 60)))
    leaves = leaves[rng.permutation(len(leaves))]
    assert covers(leaves, region)
    for number in rng.permutation(len(leaves))[:5]:
        kept = np.arange(len(leaves)) != number
        assert not covers(leaves[kept], region)
    assert not covers(join([leaves, leaves[:1]], region.dim), region)


def test_a_cell_that_shrank_by_one_level_is_a_hole() -> None:
    region = Box((1.0,))
    leaves = root(1).halved(np.array([0]))
    shrunk = Cells(leaves.levels + np.array([[0], [1]]), leaves.indices * np.array([[1], [2]]))
    assert covers(leaves, region)
    assert not covers(shrunk, region)


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_neighbours_meet_without_a_gap_and_the_ends_are_the_regions(region: Region) -> None:
    rng = np.random.default_rng(1)
    leaves = tree(Box(tuple(region.half_widths.tolist())), rng, 200)
    low, high = leaves.edges(region)
    for axis in range(region.dim):
        assert low[:, axis].min() == -region.half_widths[axis]
        assert high[:, axis].max() == region.half_widths[axis]
        inner = np.unique(high[high[:, axis] < region.half_widths[axis], axis])
        assert set(inner) <= set(low[:, axis])
    z = region.sample(2000, rng)
    inside = ((z[:, None] >= low) & (z[:, None] <= high)).all(axis=2)
    assert bool(inside.any(axis=1).all())


def test_a_smaller_claim_needs_fewer_cells() -> None:
    """What lies outside the claim may be open."""
    region = Box((1.0,))
    quarters = root(1).halved(np.array([0])).halved(np.array([0, 0]))
    low, high = quarters.edges(region)
    middle = quarters[(low[:, 0] > -1) & (high[:, 0] < 1)]
    assert not covers(middle, region)
    assert covers(middle, region, Box((0.4999,)))
    assert not covers(middle, region, Box((0.5001,)))
