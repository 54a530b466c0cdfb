"""Files that promise more than they hold, or hold what no shape is, are refused before they cost anything."""

from __future__ import annotations

import base64
import io
import json
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.certificate.made import genuine
from tpc_core.certificate import Certificate
from tpc_core.cloud import Cloud, normalise
from tpc_core.data import load_object, load_shape
from tpc_core.data.files import read_geometry
from tpc_core.data.geometry import ordered_points
from tpc_core.errors import InvalidCertificate, InvalidCloud, InvalidFile, TpcError
from tpc_core.verify import verify

BILLION = 1_000_000_000


def glb(document: object, body: bytes = b"") -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if body:
        chunks += struct.pack("<II", len(body), 0x004E4942) + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def npy_header(shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue()


CLAIMS = {
    "off": f"OFF\n{BILLION} {BILLION} 0\n0 0 0\n".encode(),
    "ply": (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {BILLION}\n"
        "property float x\nproperty float y\nproperty float z\nend_header\n"
    ).encode(),
    "stl": b"\0" * 80 + struct.pack("<I", BILLION) + b"\0" * 50,
    "npy": npy_header((BILLION, 3)),
    "pcd": (
        b"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1000000000\nHEIGHT 1\n"
        b"POINTS 1000000000\nDATA binary\n"
    ),
    "glb": glb(
        {
            "asset": {"version": "2.0"},
            "accessors": [{"count": BILLION, "componentType": 5126, "type": "VEC3"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
        }
    ),
}


@pytest.mark.parametrize("ending", sorted(CLAIMS))
def test_a_small_file_that_claims_a_billion_points_costs_nothing(ending: str) -> None:
    assert len(CLAIMS[ending]) < 500
    tracemalloc.start()
    try:
        with pytest.raises(TpcError):
            read_geometry(CLAIMS[ending], f"claims.{ending}")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_compressed_pcd_cannot_unfold_past_what_it_declares() -> None:
    # Each run of three bytes copies 264 from what is there: a bomb, were it not stopped at the declared size.
    runs = bytes([0, 65]) + bytes([0xE0, 255, 0]) * 200_000
    header = b"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nPOINTS 10\nDATA binary_compressed\n"
    content = header + struct.pack("<II", len(runs), 120) + runs
    with pytest.raises(InvalidFile, match="not 120"):
        read_geometry(content, "bomb.pcd")


def test_an_accessor_that_lies_about_its_buffer_is_refused() -> None:
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
        "accessors": [{"count": 100_000, "componentType": 5126, "type": "VEC3", "bufferView": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    with pytest.raises(TpcError):
        read_geometry(glb(document, b"\0" * 36), "short.glb")


def test_a_scene_nested_a_hundred_thousand_deep_is_refused() -> None:
    text = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    text += b" " * (-len(text) % 4)
    content = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text
    with pytest.raises(InvalidFile):
        read_geometry(content, "deep.glb")


SQUARE = "OFF\n4 1 0\n{0}\n{1}\n{2}\n{3}\n4 0 1 2 3\n"
SHAPELESS = {
    "NaN": (SQUARE.format("nan 0 0", "1 0 0", "1 1 0", "0 1 0"), "NaN or infinity"),
    "infinity": (SQUARE.format("inf 0 0", "1 0 0", "1 1 0", "0 1 0"), "NaN or infinity"),
    "overflow": (SQUARE.format("1e400 0 0", "1 0 0", "1 1 0", "0 1 0"), "NaN or infinity"),
    "huge": (SQUARE.format("1e300 0 0", "1 0 0", "1 1 0", "0 1 0"), "reach past"),
    "zero area": (SQUARE.format("0 0 0", "1 0 0", "2 0 0", "3 0 0"), "zero area"),
    "one place": (SQUARE.format("1 1 1", "1 1 1", "1 1 1", "1 1 1"), "coincide"),
    "one place, far away": (SQUARE.format(*["1e20 1e20 1e20"] * 4), "coincide"),
    "one point": ("OFF\n1 0 0\n1 2 3\n", "single point"),
    "no point": ("OFF\n0 0 0\n", "empty"),
}


@pytest.mark.parametrize("what", sorted(SHAPELESS))
def test_what_has_no_shape_is_refused_and_says_why(what: str) -> None:
    text, reason = SHAPELESS[what]
    with pytest.raises(InvalidCloud, match=reason):
        ordered_points(read_geometry(text.encode(), "file.off"))


def test_duplicate_points_are_read_as_the_one_shape_they_are() -> None:
    text = "\n".join(["0 0 0", "1 0 0", "0 1 0"] * 50)
    points, _ = ordered_points(read_geometry(text.encode(), "file.xyz"))
    assert len(points) == 150
    assert len(np.unique(points.points, axis=0)) == 3
    assert Cloud(points.first(64, "file")[0]).digest


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e29])
def test_size_and_place_of_a_shape_do_not_matter(scale: float) -> None:
    import torch

    points = torch.randn(50, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.allclose(normalise(points * scale), normalise(points), atol=1e-6)


@pytest.mark.parametrize("ending", ["off", "xyz", "obj", "pcd"])
def test_text_that_is_not_utf8_is_refused(ending: str) -> None:
    with pytest.raises(TpcError):
        read_geometry("OFF\n\u00e9 2 3\n".encode("utf-16"), f"file.{ending}")


@pytest.mark.parametrize("ending", ["off", "ply", "stl", "glb", "npy", "pcd", "xyz", "txt"])
def test_a_file_under_the_wrong_ending_is_refused(ending: str) -> None:
    obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    with pytest.raises(TpcError):
        read_geometry(obj, f"file.{ending}")


@pytest.mark.parametrize(
    "name", ["a.zip", "a.tar.gz", "a.gz", "a.7z", "a.obj.gz", "a", "a.", ".off", "a.OFF.exe"]
)
def test_archives_and_unknown_endings_are_not_opened(name: str) -> None:
    with pytest.raises(InvalidFile):
        read_geometry(b"PK\x03\x04", name)


@pytest.mark.parametrize("ending", ["off", "obj", "ply", "stl", "glb", "npy", "pcd", "xyz"])
def test_an_archive_under_another_ending_is_not_unpacked(ending: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("shape.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(TpcError):
        read_geometry(stream.getvalue(), f"file.{ending}")


SPECS = [
    "gallery:../../../etc/passwd", "gallery:", "gallery:..", "gallery:chair-1\0", "gallery:" + "x" * 10_000,
    "modelnet40:../test/1", "modelnet40:test/-1", "modelnet40:test/99999999999", "modelnet40:test/1e3",
    "modelnet40:test/\u0661", "shapenetpart:val/1", "", " ", "\0", "~nobody/x.off", "/dev/zero", "/proc/self/mem", ".",
    "/", "a:b:c", "file:///etc/passwd", "http://localhost/x.off", "\udcff.off",
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_leads_nowhere_but_to_objects(spec: str) -> None:
    with pytest.raises(TpcError):
        load_object(spec, points=64)


def test_a_link_in_place_of_a_file_is_followed_only_to_regular_files(tmp_path: Path) -> None:
    (tmp_path / "zero.off").symlink_to("/dev/zero")
    (tmp_path / "loop.off").symlink_to(tmp_path / "loop.off")
    for name in ("zero.off", "loop.off"):
        with pytest.raises(InvalidFile):
            load_shape(str(tmp_path / name))


def test_a_certificate_that_is_a_pipe_or_a_device_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", Path("/dev/zero"), tmp_path):
        with pytest.raises(TpcError):
            Certificate.load(path)


@pytest.mark.parametrize(
    "points",
    [
        np.full((4, 3), np.nan, dtype="<f4"),
        np.full((4, 3), np.inf, dtype="<f4"),
        np.full((4, 3), 9.0, dtype="<f4"),
    ],
)
def test_a_certificate_whose_cloud_is_none_is_rejected(points: np.ndarray) -> None:
    content = genuine("cover").model_dump(mode="json")
    content["cloud"] |= {"count": 4, "points": base64.b64encode(points.tobytes()).decode()}
    with pytest.raises(InvalidCertificate):
        verify(Certificate.model_validate(content).sealed())


def test_a_certificate_nested_too_deeply_is_refused() -> None:
    with pytest.raises(InvalidCertificate):
        Certificate.from_json(b'{"a":' * 100_000)
