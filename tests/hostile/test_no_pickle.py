"""No pickle that a user brought is ever executed: no reader can do it, and a file that tries proves it."""

from __future__ import annotations

import ast
import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from tests.hostile.targets import _card, _read_weights
from tpc_core.data import MODELNET40_CLASSES, open_dataset
from tpc_core.data.cache import cached_points
from tpc_core.data.files import read_geometry
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile, TpcError
from tpc_core.models import bring
from tpc_core.models.brought.tensors import read_tensors
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.training.state import load_state

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path for folder in ("tpc_core", "app", "scripts", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)
BANNED_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "yaml",
}
BANNED_CALLS = {"eval", "exec", "compile"}
PROGRAMS = {"tpc_core/models/brought/sources.py"}
"""The one place that opens files which are programs, and only when told to."""
WIRE = {"tpc_core/engines/wire.py"}
"""The one place that pickles: between this process and workers of its own, never what a user brought."""


def complaints(path: Path) -> Iterator[str]:
    """What in a source file could run a stranger's code."""
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        at = f"{place}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
            for name in names:
                if name.split(".")[0] in BANNED_MODULES and place not in WIRE:
                    yield f"{at} imports {name}"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if options.get("allow_pickle", "False") != "False" or options.get("weights_only", "True") != "True":
            yield f"{at} allows pickles"
        if called == "torch.load" and options.get("weights_only") != "True":
            yield f"{at} calls torch.load without weights_only=True"
        if called in ("torch.jit.load", "torch.export.load") and place not in PROGRAMS:
            yield f"{at} opens a program"
        if called in BANNED_CALLS:
            yield f"{at} calls {called}"


def test_the_scan_finds_what_it_looks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import pickle\nfrom pickle import loads\nimport torch, numpy as np\ntorch.load('x')\n"
        "torch.load('x', weights_only=False)\nnp.load('x', allow_pickle=True)\ntorch.jit.load('x')\neval('1')\n"
    )
    monkeypatch.setattr("tests.hostile.test_no_pickle.ROOT", tmp_path)
    assert len(list(complaints(bad))) == 8


def test_no_source_file_can_run_a_pickle() -> None:
    assert len(SOURCES) > 100
    assert [line for path in SOURCES for line in complaints(path)] == []


class Evil:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.mark,))


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "was-here"


def test_the_evil_object_works(mark: Path) -> None:
    pickle.loads(pickle.dumps(Evil(mark)))
    assert mark.exists()


def evil_npy(mark: Path) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([[Evil(mark)] * 3] * 40, dtype=object), allow_pickle=True)
    return stream.getvalue()


def test_an_array_of_pickles_is_refused(mark: Path) -> None:
    with pytest.raises(InvalidFile, match="not numbers"):
        read_geometry(evil_npy(mark), "evil.npy")
    assert not mark.exists()


@pytest.mark.parametrize("place", ["points", "labels", "ids", "classes"])
def test_a_data_set_with_a_pickle_in_it_is_refused(tmp_path: Path, mark: Path, place: str) -> None:
    arrays = {
        "points": np.random.default_rng(0).normal(size=(2, 32, 3)).astype(np.float16),
        "labels": np.arange(2),
        "ids": np.array(["a", "b"]),
        "classes": np.array(MODELNET40_CLASSES),
    }
    arrays[place] = np.array([Evil(mark), Evil(mark)], dtype=object)
    np.savez(tmp_path / "modelnet40_test.npz", **arrays)
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)
    assert not mark.exists()


def test_hdf5_with_objects_in_it_is_refused(tmp_path: Path, mark: Path) -> None:
    with h5py.File(tmp_path / "ply_data_test0.h5", "w") as file:
        stored = file.create_dataset("data", (1,), dtype=h5py.vlen_dtype(np.uint8))
        stored[0] = np.frombuffer(pickle.dumps(Evil(mark)), dtype=np.uint8)
        file["label"] = np.zeros(1, dtype=np.uint8)
    (tmp_path / "test_files.txt").write_text("ply_data_test0.h5")
    with pytest.raises(InvalidFile):
        open_dataset("modelnet40", "test", root=tmp_path)
    assert not mark.exists()


@pytest.mark.parametrize("old", [False, True])
def test_weights_and_states_with_a_pickle_in_them_are_refused(tmp_path: Path, mark: Path, old: bool) -> None:
    path = tmp_path / "evil.pth"
    torch.save({"weight": torch.zeros(3), "evil": Evil(mark)}, path, _use_new_zipfile_serialization=not old)
    for read in (read_tensors, load_state):
        with pytest.raises(InvalidFile):
            read(path)
    (tmp_path / "plain.pth").write_bytes(pickle.dumps(Evil(mark)))
    with pytest.raises(InvalidFile):
        bring(str(tmp_path / "plain.pth"), smoothing=CoordinateSmoothing(0.1))
    assert not mark.exists()


@pytest.mark.parametrize("make", [lambda mark: pickle.dumps(Evil(mark)), evil_npy])
def test_a_checkpoint_that_is_a_pickle_is_refused(tmp_path: Path, mark: Path, make: object) -> None:
    with pytest.raises(InvalidFile):
        _read_weights(make(mark), tmp_path)  # type: ignore[operator]
    assert json.loads(_card())["name"] == "tiny"
    assert not mark.exists()


def test_a_cache_entry_with_a_pickle_in_it_is_made_again(
    tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPC_CACHE", str(tmp_path / "cache"))
    made = OrderedPoints(np.ones((20, 3), dtype=np.float32))
    cached_points(("key",), lambda: made)
    (entry,) = (tmp_path / "cache").rglob("*.npz")
    with zipfile.ZipFile(entry, "w") as archive:
        archive.writestr("points.npy", evil_npy(mark))
    assert cached_points(("key",), lambda: made) is made
    assert not mark.exists()


def test_pickles_between_our_own_processes_hold_no_errors_from_files() -> None:
    """Worker processes send errors home by pickle: ours come back as what they were, one line each."""
    error = pickle.loads(pickle.dumps(InvalidFile("a\nb")))
    assert isinstance(error, TpcError)
    assert str(error) == "a b"


def test_only_the_engines_speak_over_the_wire() -> None:
    """What pickles is imported by the engine and its workers alone: no reader of files, no page, no command."""
    for path in SOURCES:
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith("tpc_core/engines/"):
            assert "engines.wire" not in path.read_text(encoding="utf-8"), place
