"""The app's own folder is the repository: `app` is run from there, not installed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

pytest.importorskip("streamlit", reason="the explorer needs streamlit: pip install 'tpc-explorer[app]'")

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tpc_core import Cloud, CoordinateSmoothing, ParameterSmoothing, Smoothing, parse_transform  # noqa: E402


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """AppTest leaves its script behind as __main__, which processes spawned by later tests would run again."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@dataclass(frozen=True)
class Rule:
    """A base classifier made of one rule: class b where the cloud's highest point is above a height."""

    smoothing: Smoothing
    height: float = 5.0
    task: str = "classification"
    name: str = "rule"
    digest: str = "0" * 64
    classes: tuple[str, ...] = ("a", "b", "c")
    num_points: int = 32

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        def logits(points: Tensor) -> Tensor:
            if self.task == "segmentation":
                return torch.stack([points[..., 2], -points[..., 2], points[..., 2] * 0 - 9], dim=-1)
            high = (points[..., 2].amax(dim=-1) > self.height).float()
            return torch.stack([1 - high, high, torch.zeros_like(high)], dim=-1)

        return logits


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
