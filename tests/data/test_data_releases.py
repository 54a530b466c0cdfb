"""Every release that people have on disk gives the same objects: z-up, centred, labelled."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from tpc_core.data import (
    MODELNET10_CLASSES,
    MODELNET40_CLASSES,
    SHAPENET_CATEGORIES,
    SHAPENET_PARTS,
    load_object,
    open_dataset,
)
from tpc_core.errors import InvalidCloud, InvalidFile, InvalidValue, TpcError, UnknownName, UnsupportedRequest

Y_UP_EXTENTS = np.array([1.0, 4.0, 2.0])
"""Tall along y and deep along z; z-up that is 1, 2, 4."""


def y_up_cloud(rng: np.random.Generator, count: int) -> np.ndarray:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * Y_UP_EXTENTS / 2
    inner = (rng.random((count - 8, 3)) - 0.5) * Y_UP_EXTENTS
    return np.vstack([corners, inner]) + np.array([3, 1, 2])


def assert_z_up(points: np.ndarray) -> None:
    extents = np.ptp(points, axis=0)
    assert np.allclose(extents / extents[0], [1, 2, 4], rtol=1e-3)


def write_off_tree(root: Path, off: str, classes: list[str] = MODELNET40_CLASSES) -> None:
    for name in classes:
        for split, numbers in (("train", (1, 2)), ("test", (3,))):
            folder = root / name / split
            folder.mkdir(parents=True)
            for number in numbers:
                (folder / f"{name}_{number:04d}.off").write_text(off)
    (root / classes[0] / "test" / "._hidden.off").write_text("left by a Mac")


def test_the_off_tree_gives_meshes_in_a_stable_order(tmp_path: Path, tetrahedron_off: str) -> None:
    write_off_tree(tmp_path / "ModelNet40", tetrahedron_off)
    train, test = (open_dataset("modelnet40", split, root=tmp_path) for split in ("train", "test"))
    assert (len(train), len(test)) == (80, 40)
    assert [test.object_id(i) for i in range(40)] == [f"{name}_0003" for name in MODELNET40_CLASSES]
    assert test.labels.tolist() == list(range(40))
    assert test.classes == MODELNET40_CLASSES
    assert test[7].label == "car"
    assert test[7].mesh is not None
    assert test.points_array(64).shape == (40, 64, 3)


def test_modelnet10_is_ten_classes_of_modelnet40(tmp_path: Path, tetrahedron_off: str) -> None:
    write_off_tree(tmp_path / "ModelNet40", tetrahedron_off)
    ten = open_dataset("modelnet10", "test", root=tmp_path)
    assert ten.classes == MODELNET10_CLASSES
    assert ten.labels.tolist() == list(range(10))
    assert [ten[i].label for i in range(10)] == MODELNET10_CLASSES


def test_the_modelnet10_tree_is_found_by_its_own_name(tmp_path: Path, tetrahedron_off: str) -> None:
    write_off_tree(tmp_path / "ModelNet10", tetrahedron_off, MODELNET10_CLASSES)
    assert len(open_dataset("modelnet10", "train", root=tmp_path)) == 20
    with pytest.raises(InvalidFile, match="tpc data fetch modelnet40"):
        open_dataset("modelnet40", "train", root=tmp_path)


def write_resampled(root: Path, rng: np.random.Generator, ids: list[str]) -> None:
    root.mkdir(parents=True)
    (root / "modelnet40_shape_names.txt").write_text("\n".join(MODELNET40_CLASSES))
    for split in ("train", "test"):
        (root / f"modelnet40_{split}.txt").write_text("\n".join(ids) + "\n")
    for name in ids:
        folder = root / name.rpartition("_")[0]
        folder.mkdir(exist_ok=True)
        rows = np.hstack([y_up_cloud(rng, 200), np.zeros((200, 3))])
        (folder / f"{name}.txt").write_text("\n".join(",".join(f"{v:.6f}" for v in row) for row in rows))


def test_normal_resampled_is_turned_z_up(tmp_path: Path, rng: np.random.Generator) -> None:
    write_resampled(tmp_path / "modelnet40_normal_resampled", rng, ["night_stand_0201", "airplane_0001"])
    dataset = open_dataset("modelnet40", "test", root=tmp_path)
    assert [dataset.object_id(i) for i in range(2)] == ["night_stand_0201", "airplane_0001"]
    assert dataset[0].label == "night_stand"
    assert dataset[0].mesh is None
    for points in dataset.points_array(200):
        assert_z_up(points)
        assert np.abs(points.mean(axis=0)).max() < 1e-6
        assert abs(np.linalg.norm(points, axis=1).max() - 1) < 1e-6


@pytest.mark.parametrize("name", ["../secret_0001", "/etc/passwd_0001", "airplane_/../../x", "unicorn_0001"])
def test_a_list_cannot_name_files_elsewhere(tmp_path: Path, rng: np.random.Generator, name: str) -> None:
    root = tmp_path / "modelnet40_normal_resampled"
    write_resampled(root, rng, ["airplane_0001"])
    (root / "modelnet40_test.txt").write_text(name)
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path).points_array(64)


def test_a_link_out_of_the_root_is_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    root = tmp_path / "modelnet40_normal_resampled"
    write_resampled(root, rng, ["airplane_0001"])
    inside = root / "airplane" / "airplane_0001.txt"
    outside = tmp_path / "outside.txt"
    inside.rename(outside)
    inside.symlink_to(outside)
    with pytest.raises(InvalidFile, match="leads out"):
        open_dataset("modelnet40", "test", root=tmp_path)[0]


def write_h5(path: Path, **arrays: np.ndarray) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


@pytest.fixture
def modelnet_h5(tmp_path: Path, rng: np.random.Generator) -> Path:
    root = tmp_path / "modelnet40_ply_hdf5_2048"
    root.mkdir()
    (root / "shape_names.txt").write_text("\n".join(MODELNET40_CLASSES) + "\n")
    for split, files in (("train", 2), ("test", 1)):
        names = [f"ply_data_{split}{number}.h5" for number in range(files)]
        (root / f"{split}_files.txt").write_text(
            "\n".join(f"data/modelnet40_ply_hdf5_2048/{n}" for n in names)
        )
        for number, name in enumerate(names):
            points = np.stack([y_up_cloud(rng, 64) for _ in range(3)]).astype(np.float32)
            labels = np.array([[0], [8], [39]], dtype=np.uint8)
            write_h5(root / name, data=points, label=labels)
            ids = [
                f"{MODELNET40_CLASSES[label]}/{MODELNET40_CLASSES[label]}_{number:04d}.ply"
                for label in (0, 8, 39)
            ]
            (root / f"ply_data_{split}_{number}_id2file.json").write_text(json.dumps(ids))
    return root


def test_the_modelnet_hdf5_release_is_turned_z_up(tmp_path: Path, modelnet_h5: Path) -> None:
    dataset = open_dataset("modelnet40", "train", root=tmp_path)
    assert len(dataset) == 6
    assert dataset.labels.tolist() == [0, 8, 39, 0, 8, 39]
    assert dataset.object_id(4) == "chair_0001"
    for points in dataset.points_array(64):
        assert_z_up(points)
    assert np.array_equal(dataset[4].cloud(64).points.numpy(), dataset.points_array(64)[4])


@pytest.mark.parametrize(
    "arrays",
    [
        {"label": np.zeros((3, 1), np.uint8)},
        {"data": np.zeros((3, 64, 3), np.float32)},
        {"data": np.zeros((3, 64, 2), np.float32), "label": np.zeros((3, 1), np.uint8)},
        {"data": np.zeros((3, 64, 3), np.float32), "label": np.zeros((2, 1), np.uint8)},
        {"data": np.zeros((3, 64, 3), np.float32), "label": np.full((3, 1), 40, np.uint8)},
        {"data": np.zeros((3, 64, 3), np.float32), "label": np.zeros((3, 1), np.float32)},
    ],
)
def test_an_hdf5_file_whose_arrays_do_not_fit_is_refused(
    tmp_path: Path, modelnet_h5: Path, arrays: dict[str, np.ndarray]
) -> None:
    write_h5(modelnet_h5 / "ply_data_test0.h5", **arrays)
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)


def test_an_hdf5_file_cannot_point_to_another_file(tmp_path: Path, modelnet_h5: Path) -> None:
    with h5py.File(modelnet_h5 / "ply_data_test0.h5", "a") as file:
        del file["data"]
        file["data"] = h5py.ExternalLink(str(modelnet_h5 / "ply_data_train0.h5"), "/data")
    with pytest.raises(InvalidFile, match="no array"):
        open_dataset("modelnet40", "test", root=tmp_path)


def test_a_truncated_hdf5_file_is_refused(tmp_path: Path, modelnet_h5: Path) -> None:
    path = modelnet_h5 / "ply_data_test0.h5"
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)


def write_shapenet_tree(root: Path, rng: np.random.Generator) -> None:
    lists = {
        "train": ["02691156/a", "03797390/b", "03797390/both"],
        "val": ["03797390/v", "02691156/a"],
        "test": ["03797390/both", "02691156/t"],
    }
    (root / "train_test_split").mkdir(parents=True)
    for split, ids in lists.items():
        listing = root / "train_test_split" / f"shuffled_{split}_file_list.json"
        listing.write_text(json.dumps([f"shape_data/{name}" for name in ids]))
        for name in ids:
            synset = name.split("/")[0]
            first = {"02691156": 0, "03797390": 36}[synset]
            (root / synset).mkdir(exist_ok=True)
            points = y_up_cloud(rng, 100)
            # The part says whether the point lies high or low, so that a lost pairing shows.
            parts = first + (points[:, 1] > 1)
            rows = np.hstack([points, np.zeros((100, 3)), parts[:, None]])
            (root / f"{name}.txt").write_text("\n".join(" ".join(f"{v:.6f}" for v in row) for row in rows))


def test_the_shapenet_tree_keeps_every_point_with_its_part(tmp_path: Path, rng: np.random.Generator) -> None:
    write_shapenet_tree(tmp_path / "shapenetcore_partanno_segmentation_benchmark_v0_normal", rng)
    test = open_dataset("shapenetpart", "test", root=tmp_path)
    assert [test.object_id(i) for i in range(2)] == ["03797390/both", "02691156/t"]
    assert test.classes == SHAPENET_CATEGORIES
    assert [test[i].label for i in range(2)] == ["Mug", "Airplane"]
    points, parts = test.points_array(100), test.part_labels(100)
    assert parts.dtype == np.int64
    for cloud, labels, first in zip(points, parts, (36, 0), strict=True):
        assert_z_up(cloud)
        low, high = cloud[labels == first], cloud[labels == first + 1]
        assert low[:, 2].max() < high[:, 2].min()


def test_no_test_object_is_in_the_train_split(tmp_path: Path, rng: np.random.Generator) -> None:
    write_shapenet_tree(tmp_path / "shapenetcore_partanno_segmentation_benchmark_v0_normal", rng)
    train = open_dataset("shapenetpart", "train", root=tmp_path)
    assert [train.object_id(i) for i in range(len(train))] == ["02691156/a", "03797390/b", "03797390/v"]


@pytest.mark.parametrize("part", ["50", "-1", "1.5", "nan"])
def test_a_part_that_is_not_of_the_benchmark_is_refused(
    tmp_path: Path, rng: np.random.Generator, part: str
) -> None:
    root = tmp_path / "shapenetcore_partanno_segmentation_benchmark_v0_normal"
    write_shapenet_tree(root, rng)
    (root / "02691156" / "t.txt").write_text(f"0 0 0 0 0 1 0\n1 1 1 0 0 1 {part}\n")
    with pytest.raises(InvalidFile, match="part ids"):
        open_dataset("shapenetpart", "test", root=tmp_path)[1]


def test_the_shapenet_hdf5_release_keeps_every_point_with_its_part(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    root = tmp_path / "hdf5_data"
    root.mkdir()
    for split in ("train", "val", "test"):
        (root / f"{split}_hdf5_file_list.txt").write_text(f"ply_data_{split}0.h5\n")
        points = np.stack([y_up_cloud(rng, 64) for _ in range(2)]).astype(np.float32)
        parts = (36 + (points[:, :, 1] > 1)).astype(np.uint8)
        write_h5(root / f"ply_data_{split}0.h5", data=points, label=np.full((2, 1), 11, np.uint8), pid=parts)
    train, test = (open_dataset("shapenetpart", split, root=tmp_path) for split in ("train", "test"))
    assert (len(train), len(test)) == (4, 2)
    cloud, labels = test.points_array(64)[0], test.part_labels(64)[0]
    assert_z_up(cloud)
    assert cloud[labels == 36][:, 2].max() < cloud[labels == 37][:, 2].min()


def write_packed(root: Path, rng: np.random.Generator, **changes: np.ndarray) -> None:
    arrays: dict[str, np.ndarray] = {
        "points": rng.normal(size=(3, 64, 3)).astype(np.float16),
        "labels": np.array([0, 8, 39], dtype=np.uint8),
        "ids": np.array(["airplane_0001", "chair_0002", "xbox_0003"]),
        "classes": np.array(MODELNET40_CLASSES),
    }
    np.savez(root / "modelnet40_test.npz", **(arrays | changes))


def test_packed_points_are_centred_and_scaled_again(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng)
    dataset = open_dataset("modelnet40", "test", root=tmp_path)
    points = dataset.points_array(32)
    assert points.dtype == np.float32
    assert np.abs(points.mean(axis=1)).max() < 1e-6
    assert np.allclose(np.linalg.norm(points, axis=2).max(axis=1), 1, atol=1e-6)
    assert np.array_equal(dataset[1].cloud(32).points.numpy(), points[1])


def test_packed_labels_follow_the_class_list_of_the_file(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng, classes=np.array(MODELNET40_CLASSES[::-1]))
    assert open_dataset("modelnet40", "test", root=tmp_path).labels.tolist() == [39, 31, 0]


BAD_PACKED: dict[str, dict[str, np.ndarray]] = {
    "a label past the classes": {"labels": np.array([0, 8, 40], dtype=np.uint8)},
    "labels that are words": {"labels": np.array(["a", "b", "c"])},
    "fewer labels than clouds": {"labels": np.array([0, 8], dtype=np.uint8)},
    "fewer ids than clouds": {"ids": np.array(["a"])},
    "flat points": {"points": np.zeros((3, 64, 2), np.float16)},
    "NaN": {"points": np.full((3, 64, 3), np.nan, np.float16)},
    "a class that is not ours": {"classes": np.array(["unicorn"] * 40)},
}


@pytest.mark.parametrize("what", BAD_PACKED)
def test_a_packed_file_that_contradicts_itself_is_refused(
    tmp_path: Path, rng: np.random.Generator, what: str
) -> None:
    write_packed(tmp_path, rng, **BAD_PACKED[what])
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)


def test_a_packed_file_with_a_pickle_in_it_is_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng, ids=np.array([{"a": 1}, 2, 3], dtype=object))
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)


@pytest.mark.parametrize("kept", [0, 10, 2000])
def test_a_truncated_packed_file_is_refused(tmp_path: Path, rng: np.random.Generator, kept: int) -> None:
    write_packed(tmp_path, rng)
    path = tmp_path / "modelnet40_test.npz"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)


def test_the_caller_may_change_the_arrays(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng)
    dataset = open_dataset("modelnet40", "test", root=tmp_path)
    before = dataset.points_array(64)
    dataset.points_array(64)[:] = 0
    assert np.array_equal(dataset.points_array(64), before)


def test_modelnet_has_no_parts_and_says_so(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng)
    with pytest.raises(UnsupportedRequest, match="no part labels"):
        open_dataset("modelnet40", "test", root=tmp_path).part_labels(64)


def test_no_release_invents_points(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(tmp_path, rng)
    with pytest.raises(InvalidCloud, match="64 points on disk"):
        open_dataset("modelnet40", "test", root=tmp_path).points_array(65)


def test_a_spec_names_an_object_by_its_number(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_packed(tmp_path, rng)
    monkeypatch.setenv("TPC_MODELNET40", str(tmp_path))
    cloud = load_object("modelnet40:test/1", points=32)
    assert (cloud.name, cloud.label, len(cloud)) == ("chair_0002", "chair", 32)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("modelnet40:test/3", InvalidValue),
        ("modelnet40:test/-1", UnknownName),
        ("modelnet40:test/../1", UnknownName),
        ("modelnet40:/etc/passwd", UnknownName),
        ("modelnet40:validation/1", UnknownName),
        ("modelnet40:test/1\n", UnknownName),
        ("modelnet40:", UnknownName),
        ("gallery:../index", UnknownName),
        ("gallery:", UnknownName),
        ("modelnet41:test/1", InvalidFile),
    ],
)
def test_a_spec_that_names_nothing_is_refused(
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    error: type[TpcError],
) -> None:
    write_packed(tmp_path, rng)
    monkeypatch.setenv("TPC_MODELNET40", str(tmp_path))
    with pytest.raises(error):
        load_object(spec)


def test_a_variable_that_is_set_is_never_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPC_DATA", str(tmp_path))
    with pytest.raises(InvalidFile, match=str(tmp_path)):
        open_dataset("modelnet40", "test")
    monkeypatch.setenv("TPC_MODELNET40", str(tmp_path / "missing"))
    with pytest.raises(InvalidFile, match="TPC_MODELNET40"):
        open_dataset("modelnet40", "test")


def test_unknown_data_sets_and_splits_list_what_there_is() -> None:
    with pytest.raises(UnknownName, match="modelnet10"):
        open_dataset("modelnet", "test")
    with pytest.raises(UnknownName, match="train"):
        open_dataset("modelnet40", "validation")


def test_the_fifty_parts_have_their_official_numbers() -> None:
    assert [part.id for parts in SHAPENET_PARTS.values() for part in parts] == list(range(50))
    assert {name: parts[0].id for name, parts in SHAPENET_PARTS.items()} == {
        "Airplane": 0, "Bag": 4, "Cap": 6, "Car": 8, "Chair": 12, "Earphone": 16, "Guitar": 19, "Knife": 22,
        "Lamp": 24, "Laptop": 28, "Motorbike": 30, "Mug": 36, "Pistol": 38, "Rocket": 41, "Skateboard": 44,
        "Table": 47,
    }  # fmt: skip
    assert sorted(MODELNET40_CLASSES) == MODELNET40_CLASSES
    assert len(MODELNET40_CLASSES) == 40
