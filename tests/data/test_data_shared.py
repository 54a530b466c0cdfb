"""The real data sets, where this machine has them: sizes, and that all releases agree on the axes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tpc_core.data import open_dataset
from tpc_core.data.files import load_file
from tpc_core.data.releases.modelnet_off import find_modelnet_off
from tpc_core.data.releases.modelnet_resampled import find_modelnet_resampled
from tpc_core.data.releases.release import Release
from tpc_core.data.releases.shapenet_text import find_shapenet_text
from tpc_core.shipped import shipped

SHARED = shipped().parent / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (SHARED / "modelnet40_test.npz").is_file(), reason="the packed data sets are not on this machine"
)


def found(release: Release | None) -> Release:
    if release is None:
        pytest.skip("this release is not on this machine")
    return release


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The mean gap from each cloud to the other."""
    return float((cKDTree(one).query(other)[0].mean() + cKDTree(other).query(one)[0].mean()) / 2)


def partners(release: Release, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same objects from a release and from the packed file, 512 points each."""
    packed = open_dataset(name, "test", root=SHARED)
    rows = {packed.object_id(i): i for i in range(len(packed))}
    return [
        (release.ordered(i).first(512, key)[0].numpy(), packed[rows[key]].cloud(512).points.numpy())
        for i, key in enumerate(release.ids)
        if key in rows
    ]


@pytest.mark.parametrize(
    ("name", "split", "size"),
    [
        ("modelnet40", "train", 9843),
        ("modelnet40", "test", 1975),
        ("modelnet10", "train", 3991),
        ("shapenetpart", "train", 13972),
        ("shapenetpart", "test", 2299),
    ],
)
def test_the_packed_splits_are_whole(name: str, split: str, size: int) -> None:
    dataset = open_dataset(name, split, root=SHARED)
    assert len(dataset) == size
    assert set(dataset.labels.tolist()) == set(range(len(dataset.classes)))


def test_no_shapenet_test_object_is_trained_on() -> None:
    train, test = (open_dataset("shapenetpart", split, root=SHARED) for split in ("train", "test"))
    seen = {train.object_id(i) for i in range(len(train))}
    assert not seen & {test.object_id(i) for i in range(len(test))}


def test_normal_resampled_lies_on_the_packed_clouds() -> None:
    release = found(find_modelnet_resampled(SHARED / "modelnet40_normal_resampled", "test"))
    pairs = partners(release, "modelnet40")
    assert pairs
    assert max(distance(*pair) for pair in pairs) < 0.06


def test_the_shapenet_tree_lies_on_the_packed_clouds() -> None:
    folder = SHARED / "shapenetcore_partanno_segmentation_benchmark_v0_normal"
    pairs = partners(found(find_shapenet_text(folder, "test")), "shapenetpart")
    assert pairs
    assert max(distance(*pair) for pair in pairs) < 0.06


def test_the_off_tree_stands_as_the_packed_clouds_do() -> None:
    """Up is up for every object; about the vertical the two releases differ from object to object."""
    pairs = partners(found(find_modelnet_off(SHARED / "ModelNet40", "test")), "modelnet40")
    assert pairs
    for ours, packed in pairs:
        assert np.allclose(np.ptp(ours, axis=0)[2], np.ptp(packed, axis=0)[2], atol=0.1)
        assert abs(np.sort(ours[:, 2]) - np.sort(packed[:, 2])).mean() < 0.05


@pytest.mark.parametrize(
    "path", sorted(SHARED.glob("ModelNet40/*/test/*.off")), ids=lambda path: Path(path).stem
)
def test_every_real_mesh_is_read(path: Path) -> None:
    shape = load_file(path)
    assert shape.max_points == 2048
    assert shape.mesh is not None
