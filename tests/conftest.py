"""Every test sees the shipped models and data sets only, never those that whoever runs it has added."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def nobodys_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Empty folders in place of the user's own; processes that a test starts get them as well."""
    before = {name: os.environ.get(name) for name in ("TPC_MODELS", "TPC_DATA_SETS")}
    for name in before:
        os.environ[name] = str(tmp_path_factory.mktemp(name.lower()))
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
