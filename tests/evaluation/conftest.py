"""A tiny ModelNet40 and a tiny trained PointNet, made on the spot: no download, no shipped checkpoint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tpc_core.data import MODELNET40_CLASSES
from tpc_core.evaluation import Request
from tpc_core.models import ModelCard, build
from tpc_core.models.store import encode_weights

CLASSES = ["lamp", "table", "bowl"]
POINTS = 16
OBJECTS = 40
EXTENTS = np.array([[0.15, 0.15, 1.0], [0.8, 0.8, 0.1], [0.5, 0.5, 0.5]])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ray: needs the ray package and starts a cluster")


def made_up_clouds(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Sticks, discs and balls with some noise: separable, but not by every vote."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % len(CLASSES)
    sizes = EXTENTS[labels][:, None] * np.exp(0.35 * rng.standard_normal((count, 1, 3)))
    points = rng.standard_normal((count, POINTS, 3)) * sizes
    points -= points.mean(axis=1, keepdims=True)
    points /= np.linalg.norm(points, axis=2).max(axis=1)[:, None, None]
    return points.astype(np.float32), labels.astype(np.int64)


@pytest.fixture(scope="session")
def weights() -> bytes:
    """A PointNet trained for a moment, so that its votes neither all agree nor are all alike."""
    torch.manual_seed(0)
    module = build("pointnet", classes=len(CLASSES))
    points, labels = made_up_clouds(120, seed=1)
    inputs, targets = torch.from_numpy(points), torch.from_numpy(labels)
    optimiser = torch.optim.AdamW(module.parameters(), lr=0.002)
    generator = torch.Generator().manual_seed(0)
    for _ in range(25):
        shaken = inputs + 0.08 * torch.randn(inputs.shape, generator=generator)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(shaken), targets).backward()
        optimiser.step()
    return encode_weights(module.state_dict())


def save_model(folder: Path, name: str, data: bytes, smoothing: dict[str, Any], **card: Any) -> str:
    path = folder / f"{name}.safetensors"
    path.write_bytes(data)
    described = {
        "name": name,
        "architecture": "pointnet",
        "classes": CLASSES,
        "num_points": POINTS,
        "smoothing": smoothing,
        "dataset": "modelnet40",
        "data": "made up",
        "seed": 0,
        "recipe": {},
        "parameters": 0,
        "sha256": hashlib.sha256(data).hexdigest(),
        **card,
    }
    path.with_suffix(".json").write_text(json.dumps(ModelCard.model_validate(described).model_dump()))
    return str(path)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, weights: bytes) -> Path:
    """A folder with a test split and three models of the same weights: one for each way to certify."""
    folder = tmp_path_factory.mktemp("world")
    points, labels = made_up_clouds(OBJECTS, seed=2)
    np.savez(
        folder / "modelnet40_test.npz",
        points=points.astype(np.float16),
        labels=labels,
        ids=np.array([f"{CLASSES[label]}_{number:04}" for number, label in enumerate(labels)]),
        classes=np.array(CLASSES),
    )
    assert set(CLASSES) <= set(MODELNET40_CLASSES)
    save_model(
        folder, "tiny-rotation", weights, {"kind": "parameter", "transform": "x-rotation", "sigma": [30.0]}
    )
    save_model(folder, "tiny-noise", weights, {"kind": "coordinate", "sigma": 0.1})
    save_model(folder, "tiny-group", weights, {"kind": "group", "group": "so3"})
    return folder


@pytest.fixture
def ask(world: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Request]:
    """Make a request about one of the tiny models."""
    monkeypatch.setenv("TPC_MODELNET40", str(world))

    def request(model: str, *claims: str, **options: Any) -> Request:
        return Request(
            model=str(world / f"{model}.safetensors"), claims=list(claims), device="cpu", **options
        )

    return request
