"""Single files: every format loads, and every way of being broken is one sentence."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

from tpc_core.data import load_object, load_shape
from tpc_core.data.files import FORMATS
from tpc_core.errors import InvalidCloud, InvalidFile, TpcError

Mesh = tuple[np.ndarray, np.ndarray]


def pcd(points: np.ndarray, encoding: str) -> bytes:
    """A PCD file with an extra field before x, so that column positions matter."""
    header = (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS rgb x y z\nSIZE 4 4 4 4\nTYPE U F F F\nCOUNT 1 1 1 1\n"
        f"WIDTH {len(points)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\nDATA {encoding}\n"
    ).encode()
    if encoding == "ascii":
        return header + "\n".join(f"255 {x} {y} {z}" for x, y, z in points).encode()
    rows = np.zeros(len(points), dtype=[("rgb", "<u4"), ("x", "<f4"), ("y", "<f4"), ("z", "<f4")])
    rows["x"], rows["y"], rows["z"] = points.T
    if encoding == "binary":
        return header + rows.tobytes()
    plain = b"".join(rows[name].tobytes() for name in rows.dtype.names or ())
    # The first column is all zeros: one literal, then back-references that overlap themselves.
    zeros = rows["rgb"].nbytes
    packed = b"\x00\x00"
    left = zeros - 1
    while left >= 9:
        run = min(left, 264)
        packed += bytes([7 << 5, run - 9, 0])
        left -= run
    rest = plain[zeros - left :]
    packed += b"".join(bytes([len(rest[i : i + 32]) - 1]) + rest[i : i + 32] for i in range(0, len(rest), 32))
    return header + struct.pack("<II", len(packed), len(plain)) + packed


@pytest.fixture
def cloud_points(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(300, 3)) * [1, 2, 4]


@pytest.mark.parametrize("ending", ["off", "obj", "ply", "stl", "glb"])
def test_a_mesh_of_every_format_keeps_its_axes(tmp_path: Path, tetrahedron: Mesh, ending: str) -> None:
    vertices, faces = tetrahedron
    if ending == "glb":  # stored y-up, as the standard demands: (x, y, z) -> (x, z, -y)
        vertices = np.stack([vertices[:, 0], vertices[:, 2], -vertices[:, 1]], axis=1)
    path = tmp_path / f"object.{ending}"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    shape = load_shape(str(path))
    assert shape.name == "object"
    assert shape.mesh is not None
    extents = np.ptp(shape.mesh.vertices, axis=0)
    assert np.allclose(extents / extents[0], [1, 2, 3], atol=1e-5)
    assert np.linalg.norm(shape.mesh.vertices, axis=1).max() <= 1 + 1e-9
    spread = np.ptp(shape.cloud(1024).points.numpy(), axis=0)
    assert np.allclose(spread / spread[0], [1, 2, 3], rtol=0.1)


@pytest.mark.parametrize(
    "ending", ["xyz", "txt", "npy", "ply", "ascii.pcd", "binary.pcd", "binary_compressed.pcd"]
)
def test_a_cloud_of_every_format_gives_its_own_points(
    tmp_path: Path, cloud_points: np.ndarray, ending: str
) -> None:
    path = tmp_path / f"cloud.{ending}"
    stored = cloud_points.astype(np.float32).astype(np.float64)
    if ending in ("xyz", "txt"):
        comma = "," if ending == "txt" else " "
        path.write_text("\n".join(comma.join(map(str, row)) + f"{comma}0{comma}0" for row in stored))
    elif ending == "npy":
        np.save(path, stored)
    elif ending == "ply":
        trimesh.PointCloud(stored).export(path)
    else:
        path.write_bytes(pcd(stored, ending.partition(".")[0]))
    shape = load_shape(str(path))
    assert shape.mesh is None
    assert shape.max_points == 300
    seen = shape.cloud(300).points.numpy()
    wanted = stored - stored.mean(axis=0)
    wanted /= np.linalg.norm(wanted, axis=1).max()
    gaps = np.linalg.norm(seen[:, None] - wanted[None], axis=2)
    assert gaps.min(axis=0).max() < 1e-5
    assert gaps.min(axis=1).max() < 1e-5


@pytest.mark.parametrize(
    "header",
    [
        "OFF\n4 4 0\n",
        "OFF4 4 0\n",
        "OFF 4 4 0\n",
        "OFF\n# made by hand\n\n4 4 0 # counts\n",
        "OFF\r\n4 4 0\r\n",
        "OFF\n4 4\n",
    ],
)
def test_every_off_header_that_is_out_there_is_read(
    tmp_path: Path, tetrahedron_off: str, header: str
) -> None:
    path = tmp_path / "mesh.off"
    path.write_bytes(tetrahedron_off.replace("OFF\n4 4 0\n", header).encode())
    shape = load_shape(str(path))
    assert shape.mesh is not None
    assert len(shape.mesh.faces) == 4


def test_off_polygons_become_triangles_and_colours_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "square.off"
    path.write_text("COFF\n4 1 0\n0 0 0 9 9 9\n1 0 0 9 9 9\n1 1 0 9 9 9\n0 1 0 9 9 9\n4 0 1 2 3 255 0 0\n")
    mesh = load_shape(str(path)).mesh
    assert mesh is not None
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_mesh_and_cloud_lie_on_each_other(tmp_path: Path, tetrahedron_off: str) -> None:
    path = tmp_path / "mesh.off"
    path.write_text(tetrahedron_off)
    shape = load_shape(str(path))
    mesh = shape.mesh_around(64)
    assert mesh is not None
    planes = zip(mesh.triangles, mesh.face_normals, strict=True)
    gaps = [np.abs((shape.cloud(64).points.numpy() - corner[0]) @ normal) for corner, normal in planes]
    assert np.min(gaps, axis=0).max() < 1e-6


BROKEN_OFF = {
    "no header": "4 4 0\n",
    "only a header": "OFF\n",
    "counts that are words": "OFF\nfour 4 0\n",
    "a count below zero": "OFF\n-4 4 0\n0 0 0\n",
    "more vertices than lines": "OFF\n9 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "fewer vertices than lines": "OFF\n2 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "a billion vertices": "OFF\n1000000000 1 0\n0 0 0\n",
    "a count of a hundred digits": f"OFF\n{'9' * 100} 1 0\n0 0 0\n",
    "a face that names no vertex": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n",
    "a face with a negative vertex": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n",
    "a vertex number past int64": f"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 {10**30}\n",
    "a face with too few corners": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n",
    "a vertex that is no number": "OFF\n3 1 0\n0 0 zero\n1 0 0\n0 1 0\n3 0 1 2\n",
    "a vertex with two numbers": "OFF\n3 1 0\n0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
}
SHAPELESS_OFF = {
    "NaN": "OFF\n3 1 0\nnan 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "infinity": "OFF\n3 1 0\ninf 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "coordinates that overflow": "OFF\n3 1 0\n1e300 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "only zero-area faces": "OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n",
    "only edges": "OFF\n2 1 0\n0 0 0\n1 0 0\n2 0 1\n",
    "one point": "OFF\n1 0 0\n0 0 0\n",
    "the same point thrice": "OFF\n3 1 0\n5 5 5\n5 5 5\n5 5 5\n3 0 1 2\n",
    "nothing": "OFF\n0 0 0\n",
}


@pytest.mark.parametrize("what", BROKEN_OFF)
def test_a_broken_off_file_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "bad.off"
    path.write_text(BROKEN_OFF[what])
    with pytest.raises(InvalidFile) as caught:
        load_object(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what", SHAPELESS_OFF)
def test_a_file_without_a_shape_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "bad.off"
    path.write_text(SHAPELESS_OFF[what])
    with pytest.raises(InvalidCloud):
        load_object(str(path))


@pytest.mark.parametrize("ending", sorted(FORMATS))
@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00bad\x80", b"OFF", b"\x93NUMPY", b"ply\n", b"glTF" + b"\0" * 40]
)
def test_bytes_that_are_not_the_format_are_refused(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"bad{ending}"
    path.write_bytes(content)
    with pytest.raises(TpcError) as caught:
        load_object(str(path))
    assert "\n" not in str(caught.value)


# OBJ is not here: it declares no counts, so a file cut between two lines is simply a smaller object.
@pytest.mark.parametrize("ending", ["ply", "stl", "glb", "off", "npy", "binary.pcd", "binary_compressed.pcd"])
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_truncated_file_never_passes_as_whole(
    tmp_path: Path, cloud_points: np.ndarray, ending: str, kept: float
) -> None:
    path = tmp_path / f"whole.{ending}"
    if ending == "npy":
        np.save(path, cloud_points)
    elif ending.endswith("pcd"):
        path.write_bytes(pcd(cloud_points, ending.partition(".")[0]))
    else:
        trimesh.creation.icosphere(subdivisions=2).export(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(TpcError):
        load_object(str(path))


def test_a_truncated_ascii_ply_never_passes_as_whole(tmp_path: Path) -> None:
    path = tmp_path / "cut.ply"
    text = trimesh.PointCloud(np.random.default_rng(0).normal(size=(50, 3))).export(
        file_type="ply", encoding="ascii"
    )
    lines = (text if isinstance(text, bytes) else text.encode()).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-10]))
    with pytest.raises(InvalidFile):
        load_object(str(path))


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "evil.npy"
    np.save(path, np.array([[{"a": 1}, 2, 3]], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidFile, match="not numbers"):
        load_object(str(path))


def test_an_npy_header_that_is_not_python_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.npy"
    np.save(path, np.zeros((20, 3)))
    path.write_bytes(path.read_bytes().replace(b"'shape': (20, 3)", b"'shape': ((20, 3"))
    with pytest.raises(InvalidFile, match="not a NumPy array"):
        load_object(str(path))


def test_an_npy_header_that_promises_terabytes_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (3_000_000, 3)}
    )
    path = tmp_path / "huge.npy"
    path.write_bytes(stream.getvalue() + b"\0" * 64)
    with pytest.raises(InvalidFile, match="declares"):
        load_object(str(path))


@pytest.mark.parametrize(
    "nodes",
    [
        [{"children": [0]}],
        [{"children": [1]}, {"children": [0]}],
        [{"children": [1, 1]}, {}],
        [{"mesh": 4}],
        [7],
    ],
)
def test_a_glb_scene_that_is_no_tree_is_refused(tmp_path: Path, nodes: list[object]) -> None:
    scene = json.dumps(
        {"asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0]}], "scene": 0}
    ).encode()
    scene += b" " * (-len(scene) % 4)
    path = tmp_path / "loop.glb"
    path.write_bytes(b"glTF" + struct.pack("<III", 2, 20 + len(scene), len(scene)) + b"JSON" + scene)
    with pytest.raises(InvalidFile):
        load_object(str(path))


def test_an_unknown_ending_says_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.docx"
    path.write_text("hello")
    with pytest.raises(InvalidFile, match=r"\.off"):
        load_object(str(path))


def test_a_file_that_is_not_there_is_one_sentence() -> None:
    for spec in ("nowhere.off", "~nobody/x.off", "x" * 5000, "a\0b", ""):
        with pytest.raises(InvalidFile):
            load_object(spec)


def test_a_folder_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.off"
    os.mkfifo(pipe)
    for path in (tmp_path, pipe):
        with pytest.raises(InvalidFile):
            load_object(str(path))


def test_a_file_past_the_size_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.off"
    with path.open("wb") as stream:
        stream.truncate(2**33)
    with pytest.raises(InvalidFile, match="more than"):
        load_object(str(path))


@pytest.mark.parametrize("count", [-1, 0, 15, 2049])
def test_only_counts_that_a_cloud_can_have_are_accepted(
    tmp_path: Path, tetrahedron_off: str, count: int
) -> None:
    path = tmp_path / "mesh.off"
    path.write_text(tetrahedron_off)
    with pytest.raises(InvalidCloud, match="between 16 and 2048"):
        load_object(str(path), points=count)


@pytest.mark.parametrize("count", [16, 64, 1024, 2048])
def test_clouds_of_every_size_are_centred_in_the_unit_ball(
    tmp_path: Path, tetrahedron_off: str, count: int
) -> None:
    path = tmp_path / "mesh.off"
    path.write_text(tetrahedron_off)
    points = load_object(str(path), points=count).points
    assert points.shape == (count, 3)
    assert points.mean(dim=0).abs().max() < 1e-6
    assert abs(points.norm(dim=1).max() - 1) < 1e-6


def test_more_points_than_the_file_holds_are_not_invented(tmp_path: Path, cloud_points: np.ndarray) -> None:
    path = tmp_path / "cloud.npy"
    np.save(path, cloud_points)
    with pytest.raises(InvalidCloud, match="300 points"):
        load_object(str(path), points=301)
