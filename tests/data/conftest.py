"""Every data test has its own cache and sees no data set that happens to lie on this machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TPC_CACHE", str(folder))
    for variable in ("TPC_DATA", "TPC_MODELNET40", "TPC_SHAPENETPART"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=np.float64)
"""Extents 1, 2, 3 along x, y, z: it tells which axis is which."""

TETRAHEDRON_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.fixture
def tetrahedron_off() -> str:
    vertices = "\n".join(" ".join(map(str, vertex)) for vertex in TETRAHEDRON)
    faces = "\n".join("3 " + " ".join(map(str, face)) for face in TETRAHEDRON_FACES)
    return f"OFF\n4 4 0\n{vertices}\n{faces}\n"


@pytest.fixture
def tetrahedron() -> tuple[np.ndarray, np.ndarray]:
    return TETRAHEDRON.copy(), TETRAHEDRON_FACES.copy()
