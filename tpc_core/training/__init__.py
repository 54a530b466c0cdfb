"""Training base classifiers under exactly the smoothing distribution that will certify them."""

from __future__ import annotations

from tpc_core.training.advice import advice_for
from tpc_core.training.config import TrainConfig, load_config
from tpc_core.training.loop import TrainResult, train
from tpc_core.training.retrain import PASSES_PER_STEP, Retraining, clouds_shown, retraining_recipe

__all__ = [
    "PASSES_PER_STEP",
    "Retraining",
    "TrainConfig",
    "TrainResult",
    "advice_for",
    "clouds_shown",
    "load_config",
    "retraining_recipe",
    "train",
]
