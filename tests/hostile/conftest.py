"""Hostile tests remember nothing and see no data set that happens to lie on this machine."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPC_CACHE", str(tmp_path_factory.mktemp("cache")))
    for variable in ("TPC_DATA", "TPC_MODELNET40", "TPC_SHAPENETPART"):
        monkeypatch.delenv(variable, raising=False)
