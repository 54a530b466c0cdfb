"""Questions whose answer takes many cells, asked of a model that takes its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.certificate.made import QUESTIONS, SMALL
from tests.classifiers import broken_at
from tpc_core.certify import Options
from tpc_core.cloud import Cloud
from tpc_core.question import Question


class Slow:
    """A model that pauses before every answer."""

    def __init__(self, model: Any, pause: float) -> None:
        self._model, self._pause = model, pause

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what a process asks before the model has its parts
            raise AttributeError(name)
        return getattr(self._model, name)

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        answer = self._model.classifier(device)

        def slowly(clouds: Tensor) -> Tensor:
            time.sleep(self._pause)
            return answer(clouds)

        return slowly


def slow_question(kind: str, pause: float = 0.0) -> tuple[Any, Any, Any, Any, Any]:
    """The question of a kind; only its pace depends on the pause."""
    if kind == "many cells of rotations":  # larger than the one of the tampering tests: dozens of cells
        question = (
            broken_at(SMALL, "general-rotation", [0.5, 0.2, 0.0], 0.15),
            SMALL,
            "general-rotation",
            14,
            Options(),
        )
    else:
        question = QUESTIONS[kind]()
    model, *rest = question
    return (Slow(model, pause), *rest)  # type: ignore[return-value]


def slow_request(request: Any, pause: float) -> Any:
    """The same as a page of the app asks it."""
    model, cloud, transform, radius, options = slow_question("many cells of rotations", pause)
    named = Cloud(cloud.points, "blob", cloud.label)
    asked = Question.of(model.name, "gallery:blob", len(named), transform, radius, options)
    return request("blob", asked, model, named)
