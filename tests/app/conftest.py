"""The app's own folder is the repository: `app` is run from there, not installed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

pytest.importorskip("streamlit", reason="the explorer needs streamlit: pip install 'tpc-explorer[app]'")

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.engines.models import Rule, shared_engine  # noqa: E402
from tpc_core import Cloud, CoordinateSmoothing, ParameterSmoothing, parse_transform  # noqa: E402
from tpc_core.engines import LocalEngine  # noqa: E402


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """AppTest leaves its script behind as __main__, which processes spawned by later tests would run again."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture
def cloud() -> Cloud:
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(32, 3, generator=generator)
    points = points - points.mean(dim=0)
    return Cloud(points / points.norm(dim=1).max() * 0.999, "blob", "a")


@pytest.fixture
def sure() -> Rule:
    """A model that says class a whatever happens, smoothed by coordinate noise."""
    return Rule(CoordinateSmoothing(0.1))


@pytest.fixture
def twister() -> Rule:
    """The same, smoothed by random twists."""
    return Rule(ParameterSmoothing(parse_transform("z-twist"), (math.radians(60),)))


@pytest.fixture
def engine() -> LocalEngine:
    """One worker for all tests of this process."""
    return shared_engine()
