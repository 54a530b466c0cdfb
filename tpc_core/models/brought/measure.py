"""What can be said of a brought model at once: whether it still works, and how often it is right."""

from __future__ import annotations

import numpy as np
import torch

from tpc_core.data.classes import match_classes
from tpc_core.data.dataset import Dataset, open_dataset
from tpc_core.errors import TpcError
from tpc_core.models.brought.adapter import Adapter
from tpc_core.models.brought.recognise import check_function
from tpc_core.models.card import Frame, Measurement
from tpc_core.models.store import Model, load_model

MOST = 400
"""Objects that clean accuracy is measured on at most when a model is added, spread over the test split."""


def examine(name: str) -> Model:
    """Load a model and try it on clouds; whatever is wrong is one TpcError."""
    model = load_model(name)
    module = model.module if isinstance(model.module, Adapter) else Adapter(model.module, Frame())
    if model.task == "classification":
        check_function(module, model.num_points or 64, name)
    return model


def with_clean_accuracy(model: Model, data: str | None) -> tuple[Model, list[str]]:
    """The model with its accuracy on plain clouds, where a data set is here whose classes it has; and what to say."""
    if model.task != "classification":
        return model, []
    split = _found(model, data)
    if split is None:
        return model, []
    matched = match_classes(split.classes, model.classes)
    numbers = np.flatnonzero(np.isin(split.labels, list(matched.pairs)))
    if not len(numbers):
        return model, [f"clean accuracy was not measured: {matched.sentence(split.name)}"]
    every = -(-len(numbers) // MOST)
    chosen = numbers[::every]
    value = 100 * _right(model, split, chosen, matched.pairs)
    command = f"tpc models add {model.name} --replace --data {split.name}"
    measurement = Measurement(value=value, objects=len(chosen), command=command)
    card = model.card.model_copy(update={"clean_accuracy": measurement, "dataset": split.name})
    said = [f"clean accuracy: {value:.1f} % of {len(chosen)} test objects of {split.name}"]
    if matched.unmatched:
        said.append(matched.sentence(split.name))
    return Model(card, model.module), said


def _found(model: Model, data: str | None) -> Dataset | None:
    """The data set that was named, or ModelNet40 where it is here and has the model's classes."""
    if data is not None:
        return open_dataset(data, "test")
    try:
        split = open_dataset("modelnet40", "test")
    except TpcError:
        return None
    return split if split.classes == model.classes else None


@torch.inference_mode()
def _right(model: Model, split: Dataset, chosen: np.ndarray, pairs: dict[int, int]) -> float:
    classify, size = model.classifier(), model.num_points or 64
    right = 0
    for start in range(0, len(chosen), 32):
        rows = [int(row) for row in chosen[start : start + 32]]
        clouds = torch.stack([split[row].cloud(size).points for row in rows])
        answers = classify(clouds).argmax(dim=1).tolist()
        right += sum(pairs[split.label(row)] == answer for row, answer in zip(rows, answers, strict=True))
    return right / len(chosen)
