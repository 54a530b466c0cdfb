"""Every format that is accepted from outside: genuine files of it, and what reads them."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import trimesh

from app.server import certificate_reader
from tests.certificate.made import QUESTIONS, genuine, model_of
from tpc_core.border import CARD, checked, read_json
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, certify
from tpc_core.data import MODELNET40_CLASSES, open_dataset
from tpc_core.data.files import read_geometry
from tpc_core.data.geometry import ordered_points
from tpc_core.data.own import OwnSet
from tpc_core.data.own.files import find_table
from tpc_core.evaluation.journal import read_journal
from tpc_core.evaluation.plan import load_plan
from tpc_core.models import ModelCard, build
from tpc_core.models.brought.onnx_network import OnnxNetwork
from tpc_core.models.brought.tensors import read_tensors
from tpc_core.models.store import encode_weights, load_model
from tpc_core.training.config import load_config
from tpc_core.training.state import load_state, save_state
from tpc_core.verify import verify

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """Genuine files, and the reader that is fed with damaged ones; it gets an empty folder of its own."""

    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], object]


def _mesh() -> trimesh.Trimesh:
    return trimesh.creation.box((1.0, 2.0, 3.0))


def _points(count: int = 40) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(count, 3))


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _pcd(kind: str) -> bytes:
    points = _points().astype("<f4")
    header = (
        "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
        f"WIDTH {len(points)}\nHEIGHT 1\nPOINTS {len(points)}\nDATA {kind}\n"
    ).encode()
    if kind == "ascii":
        return header + "\n".join(" ".join(f"{v:.6f}" for v in row) for row in points).encode() + b"\n"
    if kind == "binary":
        return header + points.tobytes()
    plain = points.T.copy().tobytes()
    # Literal runs only: a legal, if useless, LZF stream.
    runs = b"".join(bytes([len(plain[i : i + 32]) - 1]) + plain[i : i + 32] for i in range(0, len(plain), 32))
    return header + len(runs).to_bytes(4, "little") + len(plain).to_bytes(4, "little") + runs


def _text(columns: int) -> bytes:
    rows = np.hstack([_points(), np.zeros((40, columns - 3))])
    return "\n".join(",".join(f"{v:.6f}" for v in row) for row in rows).encode()


def _exported(kind: str, **options: Any) -> bytes:
    data = _mesh().export(file_type=kind, **options)
    return data if isinstance(data, bytes) else data.encode()


def _file(ending: str, *makers: Callable[[], bytes]) -> Target:
    def read(data: bytes, folder: Path) -> object:
        return ordered_points(read_geometry(data, f"file.{ending}"))

    return Target(lambda: [make() for make in makers], read)


# -- data sets ---------------------------------------------------------------------------------------------------


def _npz() -> bytes:
    stream = io.BytesIO()
    points = np.random.default_rng(3).normal(size=(3, 32, 3)).astype(np.float16)
    np.savez_compressed(
        stream,
        points=points,
        labels=np.arange(3),
        ids=np.array(["a_1", "b_2", "c_3"]),
        classes=np.array(MODELNET40_CLASSES),
    )
    return stream.getvalue()


def _read_npz(data: bytes, folder: Path) -> object:
    (folder / "modelnet40_test.npz").write_bytes(data)
    return open_dataset("modelnet40", "test", root=folder).points_array(16)


def _hdf5() -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["data"] = np.random.default_rng(3).normal(size=(3, 32, 3)).astype(np.float32)
        file["label"] = np.arange(3, dtype=np.uint8)[:, None]
        file["pid"] = np.zeros((3, 32), dtype=np.uint8)
    return stream.getvalue()


def _read_hdf5(data: bytes, folder: Path) -> object:
    (folder / "test_files.txt").write_text("data/ply_data_test0.h5\n")
    (folder / "ply_data_test0.h5").write_bytes(data)
    return open_dataset("modelnet40", "test", root=folder).points_array(16)


def _read_shapenet_text(data: bytes, folder: Path) -> object:
    lists = folder / "train_test_split"
    lists.mkdir()
    for part in ("train", "val", "test"):
        (lists / f"shuffled_{part}_file_list.json").write_text('["shape_data/02691156/abc"]')
    (folder / "02691156").mkdir()
    (folder / "02691156" / "abc.txt").write_bytes(data)
    return open_dataset("shapenetpart", "test", root=folder).points_array(16)


def _read_resampled_text(data: bytes, folder: Path) -> object:
    (folder / "modelnet40_test.txt").write_text("chair_0001\n")
    (folder / "modelnet40_shape_names.txt").write_text("\n".join(MODELNET40_CLASSES))
    (folder / "chair").mkdir()
    (folder / "chair" / "chair_0001.txt").write_bytes(data)
    return open_dataset("modelnet40", "test", root=folder).points_array(16)


def _read_lists(data: bytes, folder: Path) -> object:
    """The list of a release, which names files."""
    (folder / "modelnet40_test.txt").write_bytes(data)
    (folder / "modelnet40_shape_names.txt").write_text("\n".join(MODELNET40_CLASSES))
    (folder / "chair").mkdir()
    (folder / "chair" / "chair_0001.txt").write_bytes(_text(6))
    return open_dataset("modelnet40", "test", root=folder)[0]


def _read_json_list(data: bytes, folder: Path) -> object:
    lists = folder / "train_test_split"
    lists.mkdir()
    for part in ("train", "val", "test"):
        (lists / f"shuffled_{part}_file_list.json").write_bytes(data)
    (folder / "02691156").mkdir()
    (folder / "02691156" / "abc.txt").write_bytes(_text(7))
    dataset = open_dataset("shapenetpart", "test", root=folder)
    return dataset[0]


# -- models ------------------------------------------------------------------------------------------------------


@functools.cache
def _weights() -> bytes:
    return encode_weights(build("pointnet", classes=2).state_dict())


@functools.cache
def _card() -> bytes:
    card = ModelCard(
        name="tiny",
        architecture="pointnet",
        classes=["chair", "lamp"],
        num_points=64,
        smoothing={"kind": "coordinate", "sigma": 0.1},
        dataset="modelnet40",
        data="none",
        seed=0,
        recipe={},
        parameters=1,
        sha256=hashlib.sha256(_weights()).hexdigest(),
    )
    return card.model_dump_json().encode()


def _read_model(card: bytes, weights: bytes, folder: Path) -> object:
    (folder / "tiny.safetensors").write_bytes(weights)
    (folder / "tiny.json").write_bytes(card)
    return load_model(str(folder / "tiny.safetensors")).smoothing


def _read_weights(data: bytes, folder: Path) -> object:
    """Damaged weights with a card that was made for them: the checksum is no protection against their author."""
    card = json.loads(_card())
    card["sha256"] = hashlib.sha256(data).hexdigest()
    return _read_model(json.dumps(card).encode(), data, folder)


def _state() -> bytes:
    with tempfile.TemporaryDirectory() as place:
        save_state(
            Path(place) / "state.pt",
            {"epoch": 3, "state_dict": dict(build("pointnet", classes=2).head.state_dict())},
        )
        return (Path(place) / "state.pt").read_bytes()


def _read_state(data: bytes, folder: Path) -> object:
    (folder / "state.pt").write_bytes(data)
    load_state(folder / "state.pt")
    return read_tensors(folder / "state.pt")


# -- texts -------------------------------------------------------------------------------------------------------


def _as_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def write_and_read(data: bytes, folder: Path) -> object:
        (folder / name).write_bytes(data)
        return read(folder / name)

    return write_and_read


def _first(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(ROOT.glob(pattern))[:3]]


def _journal() -> bytes:
    from tpc_core.evaluation.records import ClaimRow, ObjectRow
    from tpc_core.evaluation.settings import Settings

    settings = Settings(
        data="modelnet40", split="test", points=64, objects=2, objects_digest="0" * 16, model="m",
        model_digest="0" * 64, architecture="pointnet", task="classification", smoothing={"kind": "group"},
        claims=["z-taper:0.1"], alpha=0.001, budget_samples=1000,
    )  # fmt: skip
    row = ObjectRow(
        index=0, id="a", label="chair", cloud="0" * 16, base="chair", prediction="chair",
        claims=[ClaimRow(status="certified", samples=10)], evaluations=10, seconds=0.5,
    )  # fmt: skip
    header = json.dumps({"format": "tpc-journal/2", "settings": settings.model_dump(mode="json")})
    return f"{header}\n{row.model_dump_json()}\n".encode()


# -- certificates ------------------------------------------------------------------------------------------------

KINDS = tuple(QUESTIONS)


@functools.cache
def _certificates() -> list[bytes]:
    return [genuine(kind).to_json().encode() for kind in KINDS]


@functools.cache
def _meanings() -> frozenset[str]:
    return frozenset(_meaning(genuine(kind)) for kind in KINDS)


def _meaning(certificate: Certificate) -> str:
    """All that a certificate says; the clock is no part of it."""
    return json.dumps(certificate.model_dump(mode="json", exclude={"seconds"}), sort_keys=True)


def _read_certificate(data: bytes, folder: Path) -> object:
    """What verify accepts must say exactly what a genuine certificate says."""
    certificate = Certificate.from_json(data)
    verify(certificate)
    assert _meaning(certificate) in _meanings(), "verify accepted a certificate that nobody made"
    return certificate


COUNTED = ("/ledger/places", "/ledger/refutations", "/ledger/seed", "/ledger/own_seed", "/samples", "/cloud",
           "/model/smoothing", "/model/classes", "/model/digest")  # fmt: skip
"""What a certificate takes as given: a forger may invent votes that fit together, and only a replay finds out."""


def _read_forged(data: bytes, folder: Path) -> object:
    """One value of a genuine certificate changed and the file sealed anew: the claim must not become stronger."""
    rng = random.Random(data)
    kind = rng.choice(KINDS)
    content = genuine(kind).model_dump(mode="json")
    place = _change_one(content, rng)
    forged = Certificate.from_json(json.dumps(content)).sealed()
    verify(forged)
    if not place.startswith(COUNTED):
        before = genuine(kind)
        claimed = forged.verdict == "certified"
        # Another radius or another alpha is no forgery where the same votes carry it.
        other = forged.radius != before.radius or forged.alpha < before.alpha
        stronger = claimed and other and not _carries(kind, forged)
        stronger |= forged.verdict == "refuted" and before.verdict != "refuted"
        assert not stronger, f"verify accepted a stronger claim after {place} was changed"
        assert forged.question.transform == before.question.transform
    return forged


def _carries(kind: str, forged: Certificate) -> bool:
    """Whether the genuine votes, read again without a further one, say the same."""
    before, asked = genuine(kind), forged.question
    options = replace(asked.options, budget=Budget(samples=max(before.samples, 1)))
    again = certify(
        model_of(kind), before.cloud.cloud(), asked.transform, asked.radius, options, resume=before
    )
    return again.verdict == "certified" and all(
        forged.radius[name] <= again.radius[name] * (1 + 1e-9) for name in again.radius
    )


def _change_one(content: Any, rng: random.Random) -> str:
    """Replace one value somewhere in a JSON document; returns its place."""
    place = ""
    while True:
        keys: list[Any] = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = rng.choice(keys)
        place += f"/{key}"
        value = content[key]
        if isinstance(value, dict | list) and value and rng.random() < 0.9:
            content = value
            continue
        content[key] = _another(value, rng)
        return place


def _another(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = (value + 1, value - 1, value * 2, value / 2, value * (1 + 1e-6), value * (1 - 1e-6), -value)
        return rng.choice((*near, 0, 1, 1e308, 2**40, 2**63, "1", None))
    if isinstance(value, str):
        words = (
            "",
            "certified",
            "refuted",
            "undecided",
            "passed",
            "failed",
            "refined",
            value + "0",
            value[:-1],
            "z-twist",
        )
        return rng.choice((*words, value.upper(), 3, None))
    return rng.choice(([], {}, None, 0, "x", [value]))


def _own_set() -> bytes:
    made = OwnSet(name="mine", path="/nowhere", kind="folder of classes", classes=["a", "b"], train=1, test=1)
    return made.model_dump_json().encode()


def _read_own_set(data: bytes, folder: Path) -> object:
    return checked(OwnSet, read_json(data, CARD, "mine.json"), CARD, "mine.json")


def _onnx() -> list[bytes]:
    """A graph of one product; none where the packages are not installed, and then every file is refused."""
    if find_spec("onnx") is None:
        return [b"onnx"]
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", "n", 3]) for name in ("x", "y")]
    nodes = [helper.make_node("Mul", ["x", "x"], ["y"])]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    opset = [helper.make_opsetid("", 17)]
    return [helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()]


TARGETS: dict[str, Target] = {
    "off": _file("off", lambda: _exported("off"), lambda: b"OFF4 1 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4 0 1 2 3\n"),
    "obj": _file("obj", lambda: _exported("obj"), lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf -1 -2"),
    "ply": _file("ply", lambda: _exported("ply"), lambda: _exported("ply", encoding="ascii")),
    "stl": _file("stl", lambda: _exported("stl"), lambda: _exported("stl_ascii")),
    "glb": _file("glb", lambda: _exported("glb")),
    "xyz": _file("xyz", lambda: _text(3), lambda: _text(6)),
    "npy": _file("npy", lambda: _saved(_points()), lambda: _saved(_points().astype(np.float16))),
    "pcd": _file("pcd", *(functools.partial(_pcd, kind) for kind in ("ascii", "binary", "binary_compressed"))),
    "npz": Target(lambda: [_npz()], _read_npz),
    "hdf5": Target(lambda: [_hdf5()], _read_hdf5),
    "shapenet text": Target(lambda: [_text(7)], _read_shapenet_text),
    "resampled text": Target(lambda: [_text(6)], _read_resampled_text),
    "table of files": Target(
        lambda: [b"file,label,split\na/one.ply,chair,train\nb/two.ply,lamp,test\n"],
        _as_file("table.csv", find_table),
    ),
    "data set": Target(lambda: [_own_set()], _read_own_set),
    "onnx": Target(_onnx, lambda data, folder: OnnxNetwork(data, "net.onnx")),
    "list of objects": Target(lambda: [b"chair_0001\nnight_stand_0002\n"], _read_lists),
    "list of names": Target(lambda: [b'["shape_data/02691156/abc", "shape_data/03001627/x"]'], _read_json_list),
    "card": Target(lambda: [_card()], lambda data, folder: _read_model(data, _weights(), folder)),
    "weights": Target(lambda: [_weights()], _read_weights),
    "state": Target(lambda: [_state()], _read_state),
    "recipe": Target(lambda: _first("configs/*.toml"), _as_file("recipe.toml", load_config)),
    "plan": Target(
        lambda: [b'[defaults]\nevery = 10\n[[evaluate]]\nmodel = "a"\nclaims = ["z-taper:0.1"]\nalpha = 0.01\n'],
        _as_file("plan.toml", load_plan),
    ),
    "journal": Target(lambda: [_journal()], _as_file("journal.jsonl", lambda path: read_journal(path.parent))),
    "certificate": Target(_certificates, _read_certificate),
    "uploaded certificate": Target(
        _certificates, lambda data, folder: certificate_reader.answer(data, "certificate.json")
    ),
    "forged certificate": Target(lambda: [b"0123456789abcdef" * 4], _read_forged),
}  # fmt: skip
"""Format -> genuine files and reader. A new format is one row."""
