"""Training base classifiers under exactly the smoothing distribution that will certify them."""

from __future__ import annotations

from tpc_core.training.config import TrainConfig, load_config
from tpc_core.training.loop import TrainResult, train

__all__ = ["TrainConfig", "TrainResult", "load_config", "train"]
