"""From a finished run to a checkpoint: weights rounded to float16, and the card that describes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from torch import Tensor

from tpc_core.models.architectures import task_of
from tpc_core.models.brought.digest import digest_of_answers
from tpc_core.models.brought.library import opened_again
from tpc_core.models.card import ModelCard
from tpc_core.models.store import encode_weights
from tpc_core.training.config import TrainConfig
from tpc_core.training.start import brought_start
from tpc_core.training.state import write_atomically

KEPT_ASIDE = {
    "spread": "every {}th object",
    "last": "the last of every class, one in {}",
    "groups": "whole groups of near-copies, one object in {}",
}


def export(
    tensors: dict[str, Tensor],
    config: TrainConfig,
    classes: list[str],
    objects: int,
    held_aside: dict[str, float] | None,
    folder: Path,
) -> Path:
    """Write NAME.safetensors and NAME.json; gives the path of the weights."""
    brought = brought_start(config)
    if brought is not None:  # the adapter around somebody's network is no part of its weights
        tensors = {name.removeprefix("network."): tensor for name, tensor in tensors.items()}
    data = encode_weights(tensors)
    aside = f", {KEPT_ASIDE[config.aside].format(config.hold_out)} kept aside" if config.hold_out else ""
    sigma = config.smoothing.get("sigma")
    card = ModelCard(
        name=config.name,
        architecture=config.architecture,
        options=config.options,
        task=task_of(config.architecture),
        classes=classes,
        num_points=config.points,
        smoothing=config.smoothing,
        sigma=sigma if sigma is None or isinstance(sigma, list) else [sigma],
        dataset=config.dataset,
        data=f"{config.dataset} train split, {objects} objects{aside}",
        seed=config.seed,
        recipe=config.model_dump(),
        parameters=sum(t.numel() for t in tensors.values() if t.is_floating_point()),
        sha256=hashlib.sha256(data).hexdigest(),
        held_aside=held_aside,
        brought=brought,
    )
    if brought is not None and brought.answers is not None:
        card.brought = brought.model_copy(update={"answers": None})
        answers = digest_of_answers(opened_again(card, data, config.name).module, card.num_points)
        card.brought = brought.model_copy(update={"answers": answers})
    weights = folder / f"{config.name}.safetensors"
    write_atomically(weights, data)
    text = json.dumps(card.model_dump(), indent=1)
    write_atomically(weights.with_suffix(".json"), f"{text}\n".encode())
    return weights
