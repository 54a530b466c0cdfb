"""A data set of your own promises to be one more data set: folders, tables and releases, read where they lie."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from tpc_core.cli import main
from tpc_core.data import gallery, load_object, load_shape, open_dataset
from tpc_core.data.classes import match_classes
from tpc_core.data.gallery.library import GALLERY_FOLDER
from tpc_core.data.own import add_set, own_names, read_set, remove_set
from tpc_core.errors import InvalidFile, InvalidValue, MissingDependency, TpcError

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    return tmp_path


def meshes(folder: Path, per_class: int = 2) -> Path:
    """Meshes of the gallery, one folder for each class."""
    for entry in [entry for entry in gallery() if entry.category in ("chair", "lamp", "bed")]:
        place = folder / entry.category
        if place.is_dir() and len(list(place.iterdir())) >= per_class:
            continue
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(GALLERY_FOLDER / f"{entry.name}.ply", place)
    return folder


def test_a_folder_of_classes_is_a_data_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "add", "mine", str(meshes(home / "objects")), "--model", "pointnet64-noise"]) == 0
    said = capsys.readouterr().out
    assert "folder of classes, 3 classes, z-up" in said
    assert "every class of mine is one of the model's" in said
    split = open_dataset("mine", "test")
    assert split.classes == ["bed", "chair", "lamp"]
    assert [split[i].label for i in range(len(split))] == ["bed", "chair", "lamp"]
    assert load_shape("mine:test/1").mesh is not None
    again = load_object("gallery:" + Path(split.object_id(1)).name)
    assert load_object("mine:test/1").digest == again.digest
    assert main(["data", "remove", "mine"]) == 0
    assert own_names() == []
    assert (home / "objects" / "chair").is_dir()


@pytest.mark.parametrize("order", ["class first", "split first"])
def test_splits_may_be_folders(home: Path, order: str) -> None:
    for split in ("train", "test"):
        where = home / "objects"
        for name in ("chair", "lamp"):
            place = where / name / split if order == "class first" else where / split / name
            place.mkdir(parents=True)
            shutil.copy(GALLERY_FOLDER / f"{name}-1.ply", place / f"{split}.ply")
    made = add_set("mine", home / "objects")
    assert (made.train, made.test, made.classes) == (2, 2, ["chair", "lamp"])
    assert all("train" in open_dataset("mine", "train").object_id(i) for i in range(2))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_names_files_and_labels(home: Path, ending: str) -> None:
    folder = meshes(home / "objects")
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.ply"))
    rows = [{"file": file, "label": Path(file).parent.name, "split": "test"} for file in files]
    table = folder / f"table.{ending}"
    if ending == "csv":
        with table.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(rows), table)
    made = add_set("mine", table)
    assert (made.kind, made.test, made.train) == (f"{ending} table", len(files), 0)
    assert open_dataset("mine", "test")[0].label == "bed"
    with pytest.raises(TpcError, match="no object in its train split"):
        open_dataset("mine", "train")


def test_scanobjectnn_is_read_as_it_is_published(home: Path) -> None:
    folder = home / "main_split"
    folder.mkdir()
    clouds = RANDOM.normal(size=(4, 2048, 3)).astype(np.float32)
    for name in ("training_objectdataset", "test_objectdataset"):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["data"], file["label"] = clouds, np.array([0, 4, 9, 14], dtype=np.int32)
            file["mask"] = np.zeros((4, 2048), dtype=np.int32)
    made = add_set("scan", folder)
    assert (made.kind, made.up, made.train, made.test) == ("ScanObjectNN h5", "y", 4, 4)
    split = open_dataset("scan", "test")
    assert [split[i].label for i in range(4)] == ["bag", "chair", "table", "toilet"]
    stored = clouds[1].astype(np.float64)
    turned = np.stack([stored[:, 0], -stored[:, 2], stored[:, 1]], axis=1)
    turned -= turned.mean(axis=0)
    turned /= np.linalg.norm(turned, axis=1).max()
    assert np.abs(turned - split[1].cloud(2048).array[0]).sum(axis=1).min() < 1e-4


def test_modelnet40c_is_read_as_it_is_published(home: Path) -> None:
    folder = home / "modelnet40_c"
    folder.mkdir()
    for corruption in ("background_1", "cutout_5"):
        np.save(folder / f"data_{corruption}.npy", RANDOM.normal(size=(3, 128, 3)).astype(np.float32))
    np.save(folder / "label.npy", np.array([[0], [8], [39]]))
    made = add_set("corrupted", folder)
    assert (made.kind, made.up, made.test) == ("ModelNet40-C npy", "y", 6)
    assert add_set("cutout", folder / "data_cutout_5.npy").test == 3
    assert open_dataset("corrupted", "test")[4].label == "chair"
    assert open_dataset("corrupted", "test").object_id(4) == "cutout_5/0001"


def test_a_hugging_face_folder_is_read_where_that_package_is(home: Path) -> None:
    try:
        import datasets
    except ImportError:
        (home / "saved").mkdir()
        (home / "saved" / "dataset_info.json").write_text("{}")
        with pytest.raises(MissingDependency, match="pip install datasets"):
            add_set("hub", home / "saved")
        return
    rows = {"points": RANDOM.normal(size=(4, 64, 3)).tolist(), "label": [0, 1, 0, 1]}
    features = datasets.Features(
        {
            "points": datasets.List(datasets.List(datasets.Value("float32"))),
            "label": datasets.ClassLabel(names=["chair", "lamp"]),
        }
    )
    datasets.Dataset.from_dict(rows, features=features).save_to_disk(str(home / "saved"))
    made = add_set("hub", home / "saved")
    assert (made.kind, made.classes, made.test) == ("Hugging Face data set", ["chair", "lamp"], 2)
    assert open_dataset("hub", "test")[1].label == "lamp"
    assert len(load_object("hub:test/1")) == 64


def test_names_of_classes_are_matched_and_the_rest_is_said() -> None:
    found = match_classes(["Night-Stands", "couch", "CHAIR", "dragon"], ["chair", "night_stand", "sofa"])
    assert found.pairs == {0: 1, 1: 2, 2: 0}
    assert found.sentence("mine") == "the model has no class for 1 of mine: dragon"


# -- hostile versions: one sentence each -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "file", ["../outside.ply", "/etc/passwd", "..\\outside.ply", "chair/../../outside.ply"]
)
def test_a_table_that_points_outside_is_refused(
    home: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = meshes(home / "objects")
    shutil.copy(GALLERY_FOLDER / "chair-1.ply", home / "outside.ply")
    (folder / "table.csv").write_text(f"file,label\n{file},chair\n")
    assert main(["data", "add", "mine", str(folder / "table.csv")]) == 2
    said = capsys.readouterr().err
    assert "does not name a file inside" in said
    assert said.count("\n") == 1
    (folder / "link.ply").symlink_to(home / "outside.ply")
    (folder / "table.csv").write_text("file,label\nlink.ply,chair\n")
    with pytest.raises(InvalidFile, match="leads out of"):
        add_set("mine", folder / "table.csv")


def test_classes_with_markup_are_refused(home: Path) -> None:
    folder = meshes(home / "objects")
    (folder / "chair").rename(folder / "<img src=x onerror=alert(1)>")
    with pytest.raises(InvalidValue, match="is no name for a class"):
        add_set("mine", folder)
    (folder / "table.csv").write_text("file,label\nbed/bed-1.ply,<script>\n")
    with pytest.raises(InvalidValue, match="is no name for a class"):
        add_set("mine", folder / "table.csv")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("file,label\n", "holds no row"),
        ("path,colour\na,b\n", "no column called label"),
        ("file,label\nbed/bed-1.ply\n", "more or fewer cells"),
        ("file,label,split\nbed/bed-1.ply,bed,dev\n", "splits are called train and test"),
        ("file,label\nbed/bed-1.exe,bed\n", "no mesh or cloud"),
    ],
)
def test_a_bad_table_gets_one_sentence(home: Path, text: str, complaint: str) -> None:
    folder = meshes(home / "objects")
    (folder / "table.csv").write_text(text)
    with pytest.raises(InvalidFile, match=complaint):
        add_set("mine", folder / "table.csv")


@pytest.mark.parametrize("name", ["gallery", "modelnet40", "../x", "A b", "", "upload"])
def test_a_name_is_a_plain_word(home: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match="cannot be the name of a data set"):
        add_set(name, meshes(home / "objects"))


def test_what_is_no_data_set_is_said(home: Path) -> None:
    (home / "empty").mkdir()
    with pytest.raises(InvalidFile, match="is no data set"):
        add_set("mine", home / "empty")
    with pytest.raises(InvalidFile, match="nothing at"):
        add_set("mine", home / "absent")


def test_a_data_set_that_changed_its_classes_is_noticed(home: Path) -> None:
    add_set("mine", meshes(home / "objects"))
    shutil.rmtree(home / "objects" / "bed")
    from tpc_core.data.own import find_own

    find_own.cache_clear()
    with pytest.raises(InvalidFile, match="other classes than when it was added"):
        open_dataset("mine", "test")
    (home / "sets" / "mine.json").write_text(json.dumps({"name": "<b>"}))
    find_own.cache_clear()
    with pytest.raises(InvalidFile):
        read_set("mine")
    remove_set("mine")
