"""The gallery: ours, small, labelled, and the same byte for byte wherever it is built."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import trimesh

from tpc_core.data import MODELNET40_CLASSES, SHAPENET_PARTS, gallery, load_object, load_shape, shapenet_pose
from tpc_core.data.gallery import library
from tpc_core.data.gallery.build import build_gallery, recipes
from tpc_core.data.gallery.library import GALLERY_FOLDER
from tpc_core.data.gallery.ply import read_ply
from tpc_core.data.gallery.recipe import Recipe
from tpc_core.errors import InvalidFile, UnknownName, UnsupportedRequest

NAMES = [entry.name for entry in gallery()]
WITH_PARTS = [entry.name for entry in gallery() if entry.parts]


def test_the_gallery_is_wide_enough_and_small_enough() -> None:
    assert len(NAMES) >= 24
    assert len({entry.category for entry in gallery()}) >= 16
    assert {entry.category for entry in gallery()} <= set(MODELNET40_CLASSES)
    assert len(WITH_PARTS) >= 6
    assert sum(path.stat().st_size for path in GALLERY_FOLDER.iterdir()) < 3_000_000


def test_building_it_again_gives_the_same_bytes(tmp_path: Path) -> None:
    build_gallery(tmp_path)
    shipped = {path.name: path.read_bytes() for path in GALLERY_FOLDER.iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == shipped


@pytest.mark.parametrize("name", NAMES)
def test_every_object_gives_clouds_of_every_size(name: str) -> None:
    shape = load_shape(f"gallery:{name}")
    assert shape.mesh is not None
    for count in (16, 64, 2048):
        points = shape.cloud(count).points
        assert points.shape == (count, 3)
        assert points.mean(dim=0).abs().max() < 1e-5


@pytest.mark.parametrize("name", WITH_PARTS)
def test_part_labels_are_those_of_the_category(name: str) -> None:
    (entry,) = (entry for entry in gallery() if entry.name == name)
    (allowed,) = (
        {part.id: part.name for part in parts}
        for parts in SHAPENET_PARTS.values()
        if min(entry.part_names) in {part.id for part in parts}
    )
    labels = load_object(f"gallery:{name}", points=2048).part_labels
    assert labels is not None
    assert set(labels.tolist()) == set(entry.part_names)
    assert entry.part_names.items() <= allowed.items()


def test_parts_lie_where_their_names_say() -> None:
    chair = load_object("gallery:chair-1", points=1024)
    assert chair.part_labels is not None
    back, seat, leg = (chair.points[chair.part_labels == part] for part in (12, 13, 14))
    assert back[:, 2].min() > seat[:, 2].mean() > leg[:, 2].mean()
    assert back[:, 1].max() < 0
    plane = load_object("gallery:airplane-1", points=1024)
    assert plane.part_labels is not None
    body, wing, tail = (plane.points[plane.part_labels == part] for part in (0, 1, 2))
    assert wing[:, 0].abs().max() > 3 * body[:, 0].abs().max()
    assert tail[:, 1].max() < wing[:, 1].min()


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.name)
def test_every_piece_faces_outwards(recipe: Recipe) -> None:
    solid = recipe.make()
    pieces = trimesh.graph.connected_component_labels(
        solid.faces[:, [0, 1, 1, 2]].reshape(-1, 2), len(solid.vertices)
    )
    a, b, c = np.moveaxis(solid.vertices[solid.faces], 1, 0)
    volumes = np.bincount(pieces[solid.faces[:, 0]], np.einsum("ij,ij->i", a, np.cross(b, c)) / 6)
    assert volumes[np.unique(pieces[solid.faces[:, 0]])].min() > 0


def test_the_files_open_in_any_viewer() -> None:
    path = GALLERY_FOLDER / "chair-1.ply"
    vertices, faces, _ = read_ply(path.read_bytes(), path.name)
    mesh = trimesh.load_mesh(path, process=False)
    assert np.allclose(mesh.vertices, vertices)
    assert np.array_equal(mesh.faces, faces)
    assert len(load_object(str(path))) == 64


def test_an_object_that_was_changed_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gallery"
    shutil.copytree(GALLERY_FOLDER, folder)
    content = bytearray((folder / "chair-1.ply").read_bytes())
    content[-1] ^= 1
    (folder / "chair-1.ply").write_bytes(bytes(content))
    monkeypatch.setattr(library, "GALLERY_FOLDER", folder)
    with pytest.raises(InvalidFile, match="gallery build"):
        load_object("gallery:chair-1")


@pytest.mark.parametrize("index", ["", "{}", '{"objects": [{"name": "../../x"}]}', "[1]", "\xff"])
def test_a_damaged_index_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str) -> None:
    (tmp_path / "index.json").write_text(index, encoding="latin-1")
    monkeypatch.setattr(library, "GALLERY_FOLDER", tmp_path)
    with pytest.raises(InvalidFile):
        gallery()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="chair-1"):
        load_object("gallery:unicorn-1")


def test_the_shapenet_pose_turns_chairs_and_stands_guitars_up() -> None:
    chair = shapenet_pose(load_object("gallery:chair-1", points=512))
    assert chair.part_labels is not None
    assert chair.points[chair.part_labels == 12][:, 0].max() < 0
    guitar = shapenet_pose(load_object("gallery:guitar-1", points=512))
    assert guitar.part_labels is not None
    head, body = (guitar.points[guitar.part_labels == part] for part in (19, 21))
    assert head[:, 2].min() > body[:, 2].max()


@pytest.mark.parametrize("name", WITH_PARTS)
def test_the_shapenet_pose_is_a_rotation(name: str) -> None:
    cloud = load_object(f"gallery:{name}", points=64)
    turned = shapenet_pose(cloud).points
    assert torch.allclose(torch.cdist(turned, turned), torch.cdist(cloud.points, cloud.points), atol=1e-3)
    basis = torch.linalg.lstsq(cloud.points, turned).solution
    assert torch.linalg.det(basis) > 0


def test_a_class_without_parts_has_no_shapenet_pose() -> None:
    with pytest.raises(UnsupportedRequest):
        shapenet_pose(load_object("gallery:bathtub-1"))
