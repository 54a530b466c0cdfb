"""A run that is killed with -9 and resumed promises bit-identical weights to one that was never disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tpc_core.errors import InvalidFile
from tpc_core.training.config import parse_config
from tpc_core.training.loop import train
from tpc_core.training.state import load_state

from .conftest import Shapes

RECIPE = {
    "name": "tiny",
    "points": 16,
    "epochs": 4,
    "batch": 16,
    "views": 3,
    "votes": 2,
    "smoothing": {"kind": "group", "group": "z-rotation"},
    "augment": {
        "scale": 0.1,
        "flip": True,
        "jitter": 0.01,
        "rotation": 5,
        "yaw": 5,
        "taper": 0.1,
        "twist": 5,
    },
    "consistency": {"noises": 2, "weight": 1.0, "entropy": 0.1},
    "options": {"dropout": 0.4},
}

CHILD = """
import sys, time
from pathlib import Path
import torch
torch.set_num_threads(1)
sys.path.insert(0, sys.argv[3])
import tpc_core.training.loop as loop
from tpc_core.training.config import TrainConfig
from tests.training.conftest import Shapes

plain = loop.Run.train_epoch
def slow(self, clouds, on_step):
    # Print, then stall inside the third epoch, so that the kill lands in the middle of one.
    def step(loss):
        on_step(loss)
        if self.epoch == 2:
            print("in epoch 3", flush=True)
            time.sleep(60)
    return plain(self, clouds, step)
loop.Run.train_epoch = slow
config = TrainConfig.model_validate_json(sys.argv[1])
loop.train(config, runs=Path(sys.argv[2]) / "runs", checkpoints=Path(sys.argv[2]) / "out", progress=False,
           split=Shapes())
"""


def test_killed_and_resumed_equals_undisturbed(tmp_path: Path, shapes: Shapes) -> None:
    torch.set_num_threads(1)
    config = parse_config(RECIPE, "test")
    undisturbed = train(
        config, runs=tmp_path / "a" / "runs", checkpoints=tmp_path / "a" / "out", progress=False, split=shapes
    )
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, config.model_dump_json(), str(tmp_path / "b"), str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "in epoch 3"
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert load_state(tmp_path / "b" / "runs" / "tiny" / "state.pt")["epoch"] == 2
    assert not (tmp_path / "b" / "out").exists()

    resumed = train(
        config,
        runs=tmp_path / "b" / "runs",
        checkpoints=tmp_path / "b" / "out",
        resume=True,
        progress=False,
        split=shapes,
    )
    assert resumed.weights.read_bytes() == undisturbed.weights.read_bytes()
    ours = load_state(tmp_path / "a" / "runs" / "tiny" / "state.pt")
    theirs = load_state(tmp_path / "b" / "runs" / "tiny" / "state.pt")
    for part in ("module", "average"):
        assert all(torch.equal(ours[part][name], theirs[part][name]) for name in ours[part])
    lines = (tmp_path / "b" / "runs" / "tiny" / "log.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch", "1", "2", "3", "4"]


def test_without_resume_a_run_starts_again(tmp_path: Path, shapes: Shapes) -> None:
    config = parse_config({**RECIPE, "epochs": 1}, "test")
    first = train(config, runs=tmp_path, checkpoints=tmp_path, progress=False, split=shapes)
    before = first.weights.read_bytes()
    train(config, runs=tmp_path, checkpoints=tmp_path, progress=False, split=shapes)
    assert first.weights.read_bytes() == before
    assert load_state(tmp_path / "tiny" / "state.pt")["epoch"] == 1


def test_a_state_of_another_recipe_is_refused(tmp_path: Path, shapes: Shapes) -> None:
    train(parse_config({**RECIPE, "epochs": 1}, "test"), runs=tmp_path, checkpoints=tmp_path, progress=False,
          split=shapes)  # fmt: skip
    other = parse_config({**RECIPE, "epochs": 2}, "test")
    with pytest.raises(InvalidFile, match="another recipe"):
        train(other, runs=tmp_path, checkpoints=tmp_path, resume=True, progress=False, split=shapes)


def test_a_damaged_state_is_explained(tmp_path: Path, shapes: Shapes) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "state.pt").write_bytes(b"half a file")
    with pytest.raises(InvalidFile, match="delete it to start again"):
        train(parse_config(RECIPE, "test"), runs=tmp_path, checkpoints=tmp_path, resume=True, progress=False,
              split=shapes)  # fmt: skip
