"""Readers promise: what a file cannot mean is refused in a sentence, and what they cannot read they do not guess."""

from __future__ import annotations

import copy
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hostile.fuzz import check_sentence
from tests.hostile.grammar import GRAMMARS, as_glb, as_json, as_npy, as_toml, changed_by_grammar
from tests.hostile.targets import TARGETS
from tests.hostile.test_limits import glb
from tpc_core.cli import main
from tpc_core.data.files import FORMATS, read_geometry
from tpc_core.data.sandbox import shapes
from tpc_core.data.sandbox.server import answer
from tpc_core.errors import InvalidFile

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype="<f4").tobytes()
SCENE: dict[str, Any] = {
    "asset": {"version": "2.0"},
    "buffers": [{"byteLength": 36}],
    "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
    "accessors": [{"count": 3, "componentType": 5126, "type": "VEC3", "bufferView": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "nodes": [{"mesh": 0}],
    "scenes": [{"nodes": [0]}],
    "scene": 0,
}


def scene(**changed: Any) -> bytes:
    return glb({**copy.deepcopy(SCENE), **changed}, POINTS)


def raw_scene(old: str, new: str) -> bytes:
    """The scene with a piece of its text replaced, which need not be what Python would write."""
    text = json.dumps(SCENE).replace(old, new)
    assert text != json.dumps(SCENE)
    return glb("", POINTS)[:0] + _glb_of(text.encode())


def _glb_of(text: bytes) -> bytes:
    import struct

    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(POINTS), 0x004E4942) + POINTS
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(body), len(text), 0x4E4F534A) + text + body


def sparse() -> bytes:
    document = copy.deepcopy(SCENE)
    document["accessors"][0]["sparse"] = {"count": 1, "indices": {}, "values": {}}
    return glb(document, POINTS)


def unfilled() -> bytes:
    document = copy.deepcopy(SCENE)
    del document["accessors"][0]["bufferView"]
    return glb(document, POINTS)


def npy(shape: str, kind: str = "<f8", body: bytes = bytes(24)) -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


UNREADABLE = {
    "count 1e999": (raw_scene('"count": 3', '"count": 1e999'), "glb", "finite"),
    "count true": (raw_scene('"count": 3', '"count": true'), "glb", "malformed"),
    "count 3.0": (raw_scene('"count": 3', '"count": 3.0'), "glb", "malformed"),
    "count -3": (raw_scene('"count": 3', '"count": -3'), "glb", "malformed"),
    "count twice": (raw_scene('"count": 3', '"count": 3, "count": 2'), "glb", "twice"),
    "position true": (raw_scene('"POSITION": 0', '"POSITION": false'), "glb", "malformed"),
    "draco": (scene(extensionsRequired=["KHR_draco_mesh_compression"]), "glb", "draco"),
    "meshopt": (scene(extensionsRequired=["EXT_meshopt_compression"]), "glb", "meshopt"),
    "quantised": (scene(extensionsRequired=["KHR_mesh_quantization"]), "glb", "quantization"),
    "extensions that are no list": (scene(extensionsRequired={"a": 1}), "glb", "malformed"),
    "extensions that are no names": (scene(extensionsRequired=[7]), "glb", "malformed"),
    "sparse": (sparse(), "glb", "sparse"),
    "no bytes": (unfilled(), "glb", "not in the file"),
    "shape (True, 3)": (npy("(True, 3)"), "npy", "shape"),
    "shape (1, True)": (npy("(1, True)"), "npy", "shape"),
    "shape (-1, 3)": (npy("(-1, 3)"), "npy", "."),
    "shape (3.0, 3)": (npy("(3.0, 3)"), "npy", "."),
}


@pytest.mark.parametrize("what", sorted(UNREADABLE))
def test_what_cannot_be_meant_is_one_sentence_and_exit_2(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, ending, match = UNREADABLE[what]
    with pytest.raises(InvalidFile, match=match) as caught:
        read_geometry(content, f"file.{ending}")
    check_sentence(str(caught.value))
    (tmp_path / f"file.{ending}").write_bytes(content)
    assert main(["data", "show", str(tmp_path / f"file.{ending}")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said


def test_the_plain_scene_is_read_and_an_extension_of_looks_does_not_matter() -> None:
    plain = read_geometry(scene(), "file.glb")
    shiny = read_geometry(scene(extensionsRequired=["KHR_materials_unlit"]), "file.glb")
    assert len(plain.vertices) == 3
    assert np.array_equal(plain.vertices, shiny.vertices)


class Unforeseen(Exception):
    """An error that no reader knows of."""


def broken(content: bytes, name: str) -> Any:
    raise Unforeseen("a stack\nof lines")


def test_an_error_that_nobody_foresaw_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(FORMATS, ".xyz", broken)
    with pytest.raises(InvalidFile, match=r"file\.xyz .*Unforeseen") as caught:
        read_geometry(b"0 0 0", "file.xyz")
    check_sentence(str(caught.value))
    kind, message, *_ = answer(shapes, b"0 0 0", "file.xyz")
    assert kind == b"file"
    assert b"Unforeseen" in message
    (tmp_path / "file.xyz").write_text("0 0 0\n1 1 1\n")
    assert main(["data", "show", str(tmp_path / "file.xyz")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_command_that_breaks_never_says_not_certified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1 is a verdict; an error in the program itself is not one."""
    import tpc_core.cli.transforms

    def fails(*_: object, **__: object) -> None:
        raise Unforeseen("many\nlines")

    monkeypatch.setattr(tpc_core.cli.transforms.transforms, "callback", fails)
    assert main(["transforms"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: something unforeseen: Unforeseen: many lines")
    assert said.count("\n") == 1
    monkeypatch.setenv("TPC_STACK", "1")
    with pytest.raises(Unforeseen):
        main(["transforms"])


@pytest.mark.parametrize(
    ("target", "grammar"),
    [
        ("glb", as_glb),
        ("npy", as_npy),
        ("card", as_json),
        ("journal", as_json),
        ("recipe", as_toml),
        ("plan", as_toml),
    ],
)
def test_a_change_by_grammar_reaches_the_code_behind_the_parser(target: str, grammar: Any) -> None:
    """The fuzzer's grammars fit the formats that they are for, and change the file."""
    seed = TARGETS[target].seeds()[0]
    changed = [grammar(seed, random.Random(number)) for number in range(20)]
    assert all(made is not None for made in changed)
    assert sum(made != seed for made in changed) > 15
    assert grammar in GRAMMARS
    assert changed_by_grammar(seed, random.Random(0)) is not None


def test_files_without_a_grammar_are_left_to_the_other_mutations() -> None:
    stream = io.BytesIO()
    np.savetxt(stream, np.eye(3))
    assert changed_by_grammar(stream.getvalue(), random.Random(0)) is None
