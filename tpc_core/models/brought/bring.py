"""From somebody's network to a Model: read, tried out, recognised, and described by a card."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn

from tpc_core.data.classes import checked_class
from tpc_core.data.names import MODELNET40_CLASSES
from tpc_core.errors import InvalidValue
from tpc_core.models.brought.adapter import Adapter
from tpc_core.models.brought.digest import digest_of_answers, digest_of_state
from tpc_core.models.brought.probe import USUAL_POINTS
from tpc_core.models.brought.recognise import Network, recognise
from tpc_core.models.brought.sources import Opened, open_source
from tpc_core.models.card import Brought, Frame, ModelCard
from tpc_core.models.store import Model
from tpc_core.models.tasks import Task
from tpc_core.smoothing import CoordinateSmoothing, Smoothing

UNTRAINED = CoordinateSmoothing(0.05)
"""The smoothing of a brought network where none is named: little noise, which most transforms can be certified by."""


def bring(
    source: str,
    *,
    name: str | None = None,
    classes: Sequence[str] | None = None,
    smoothing: Smoothing = UNTRAINED,
    weights: str | Path | None = None,
    task: Task = "classification",
    num_points: int | None = None,
    layout: Literal["points-first", "channels-first"] | None = None,
    up: Literal["z", "y"] = "z",
    scale: Literal["ball", "cube", "half-cube"] = "ball",
    run_code: bool = False,
    folder: str | Path | None = None,
) -> Model:
    """Make a Model from your own network.

    `source` is a factory ("my_package.nets:make", called without arguments; `weights` then holds its state), a
    torch.export file (.pt2), a TorchScript file, an ONNX file, or a file of weights in a public layout. Layout and
    answer are found by trying, and said in `model.card.brought.notes`.

    Weights are never unpickled. A .pt2 or TorchScript file is a program: loading it runs what its author wrote,
    so it is refused unless `run_code=True` says that you trust them. A factory is code of yours.
    """
    opened = open_source(source, weights=weights, run_code=run_code, folder=folder)
    return described(
        opened, source, name=name, classes=classes, smoothing=smoothing, task=task, num_points=num_points,
        layout=layout, frame=Frame(up=up, scale=scale),
    )  # fmt: skip


def described(
    opened: Opened,
    source: str,
    *,
    name: str | None,
    classes: Sequence[str] | None,
    smoothing: Smoothing,
    task: Task,
    num_points: int | None,
    layout: str | None,
    frame: Frame,
) -> Model:
    """The model of a network that was read: tried on clouds, with a card."""
    called = name or (Path(source).stem if Path(source).suffix else source)
    fixed = "points-first" if opened.format == "weights" else layout
    num_points = num_points or opened.points
    found = recognise(opened.network, frame, name=called, task=task, layout=fixed, num_points=num_points)
    names, said = class_names(classes or opened.classes, found.classes, called)
    fixed_points = found.frame.points or num_points
    if fixed_points is None and found.num_points != USUAL_POINTS:
        fixed_points = found.num_points  # it does not take the usual size
    module = framed(opened.network, found.frame)
    card = _card(
        called, opened.architecture, opened.options, task, names, fixed_points,
        smoothing, opened.network, hashlib.sha256(opened.content).hexdigest(),
        Brought(
            source=source,
            format=opened.format,
            frame=found.frame,
            folder=opened.folder,
            code=opened.code,
            answers=None if opened.code is None else digest_of_answers(module, fixed_points),
            notes=[*opened.notes, *found.notes, *said],
        ),
    )  # fmt: skip
    freeze(opened.network)
    return Model(card, module)


def freeze(network: nn.Module) -> None:
    """Let no weight of it ask for a gradient; programs have no method for that of their own."""
    for parameter in network.parameters():
        parameter.requires_grad_(False)


def model_of(
    network: Network,
    smoothing: Smoothing,
    *,
    classes: Sequence[str] | None = None,
    num_points: int | None = None,
    name: str | None = None,
) -> Model:
    """A Model of a network in memory: a torch module, or any function of clouds (B, N, 3) or (B, 3, N)."""
    called = name or str(getattr(network, "__name__", type(network).__name__))
    notes: list[str] = []
    if isinstance(network, nn.Module) and any(layer.training for layer in network.modules()):
        network = copy.deepcopy(network).eval()
        notes.append("it was in training mode, or a layer of it; a copy in eval mode is used")
    found = recognise(network, Frame(), name=called, num_points=num_points)
    names, said = class_names(classes, found.classes, called)
    brought = Brought(source=called, format="memory", frame=found.frame, notes=[*notes, *found.notes, *said])
    answers = digest_of_answers(Adapter(network, found.frame), found.num_points)
    digest = digest_of_state(network, f"{called}\n{answers}")
    card = _card(
        called,
        "brought",
        {},
        "classification",
        names,
        found.frame.points,
        smoothing,
        network,
        digest,
        brought,
    )
    return Model(card, framed(network, found.frame))


def framed(network: nn.Module | Callable[[Tensor], Any], frame: Frame) -> nn.Module:
    """The network itself where clouds are shown to it as they are, else behind an adapter."""
    if frame == Frame() and isinstance(network, nn.Module):
        return network
    return Adapter(network, frame)


def class_names(given: Sequence[str] | None, count: int, called: str) -> tuple[list[str], list[str]]:
    """The names of the classes, and what has to be said about them."""
    if given is None:
        if count == len(MODELNET40_CLASSES):
            return list(MODELNET40_CLASSES), [
                "it has 40 classes, which are taken to be ModelNet40's in their usual order"
            ]
        return [f"class {number}" for number in range(count)], [
            f"it has {count} classes without names; --classes names them"
        ]
    names = [checked_class(name) for name in given]
    if len(names) != count:
        raise InvalidValue(f"{called} has {count} classes, and {len(names)} names were given")
    if len(set(names)) != len(names):
        raise InvalidValue(f"two classes of {called} have the same name")
    return names, []


def _card(
    name: str,
    architecture: str,
    options: dict[str, Any],
    task: Task,
    classes: list[str],
    num_points: int | None,
    smoothing: Smoothing,
    network: Network,
    digest: str,
    brought: Brought,
) -> ModelCard:
    parameters = sum(p.numel() for p in network.parameters()) if isinstance(network, nn.Module) else 0
    return ModelCard(
        name=name,
        architecture=architecture,
        options=options,
        task=task,
        classes=classes,
        num_points=num_points,
        smoothing=smoothing.to_json(),
        dataset="unknown",
        data="brought by the user",
        seed=0,
        recipe={},
        parameters=parameters,
        precision="float32",
        sha256=digest,
        brought=brought,
    )
