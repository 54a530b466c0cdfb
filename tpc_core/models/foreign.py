"""Other people's models: public PointNet weights, any module by dotted path, exported programs."""

from __future__ import annotations

import hashlib
import importlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load as load_tensors
from torch import Tensor, nn

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue, UnsupportedRequest
from tpc_core.models.card import ModelCard
from tpc_core.models.layouts import to_pointnet
from tpc_core.models.store import MAX_WEIGHTS_BYTES, Model, check_finite
from tpc_core.models.tasks import Task
from tpc_core.smoothing import Smoothing

PROGRAMS = frozenset({".pt2", ".ts", ".jit", ".torchscript"})
"""Endings of files that hold a network together with its code."""

Layout = Literal["points-first", "channels-first"]


class Adapter(nn.Module):
    """Someone's network behind our interface: (B, N, 3) in, logits out.

    Many public networks take (B, 3, N), and many give a tuple whose first item is the logits.
    """

    def __init__(self, network: nn.Module | Callable[[Tensor], Any], layout: Layout) -> None:
        super().__init__()
        self.network = network
        self.layout = layout

    def forward(self, points: Tensor) -> Tensor:
        given = points.transpose(1, 2).contiguous() if self.layout == "channels-first" else points
        answer = self.network(given)
        logits: Tensor = answer[0] if isinstance(answer, tuple | list) else answer
        return logits


def bring(
    source: str,
    *,
    classes: Sequence[str],
    smoothing: Smoothing,
    weights: str | Path | None = None,
    task: Task = "classification",
    num_points: int | None = None,
    layout: Layout = "points-first",
    run_code: bool = False,
) -> Model:
    """Make a Model from your own network.

    `source` is a dotted path to a factory ("my_package.nets:make", called without arguments; `weights` then
    holds its state), a torch.export file (.pt2), a TorchScript file (.ts, .jit, .torchscript), or "pointnet"
    with `weights` in a known public layout.

    Weights are never unpickled. A .pt2 or TorchScript file is a program: loading it runs what its author wrote,
    so it is refused unless `run_code=True` says that you trust them. A factory is code of yours.
    """
    path = Path(source)
    digest_of = Path(weights) if weights is not None else path
    options: dict[str, Any] = {}
    if path.suffix in PROGRAMS and not run_code:
        raise UnsupportedRequest(
            f"{source} is a program, and opening it runs its author's code; pass run_code=True if you trust them"
        )
    module: nn.Module
    if source == "pointnet":
        if weights is None:
            raise InvalidValue("a public PointNet needs its weights file")
        module, options = to_pointnet(read_tensors(weights), len(classes), str(weights))
    elif path.suffix == ".pt2":
        module = Adapter(_exported(path), layout)
    elif path.suffix in PROGRAMS:
        module = Adapter(_scripted(path), layout)
    else:
        network = make(source)
        if weights is not None:
            _fill(network, read_tensors(weights), str(weights))
        module = Adapter(network.eval(), layout)
    digest = _digest(digest_of) if digest_of.exists() else _digest_of_state(module)
    card = ModelCard(
        name=path.stem if path.suffix else source,
        architecture="pointnet" if source == "pointnet" else f"external:{source}",
        options=options,
        task=task,
        classes=list(classes),
        num_points=num_points,
        smoothing=smoothing.to_json(),
        dataset="unknown",
        data="brought by the user",
        seed=0,
        recipe={},
        parameters=sum(p.numel() for p in module.parameters()),
        precision="float32",
        sha256=digest,
    )
    if not isinstance(module, Adapter) or isinstance(module.network, nn.Module):
        module.requires_grad_(False)
    model = Model(card, module if path.suffix == ".pt2" else module.eval())
    _try_out(model, num_points or 64)
    return model


def make(dotted: str) -> nn.Module:
    """Call the factory that a dotted path names: "package.module:factory" or "package.module.factory"."""
    home, _, name = dotted.partition(":") if ":" in dotted else dotted.rpartition(".")
    if not home or not name:
        raise InvalidValue(f"{dotted!r} is not a dotted path; write it as package.module:factory")
    try:
        factory = getattr(importlib.import_module(home), name)
    except ImportError as error:
        raise InvalidValue(f"cannot import {home}: {error}") from error
    except AttributeError as error:
        raise InvalidValue(f"{home} has nothing called {name}") from error
    network = factory()
    if not isinstance(network, nn.Module):
        raise InvalidValue(f"{dotted} gave a {type(network).__name__}, not a torch module")
    return network


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, or of a pickle that holds nothing but tensors."""
    path = Path(path)
    data = read_bytes(path, MAX_WEIGHTS_BYTES)
    if path.suffix == ".safetensors":
        try:
            tensors = dict(load_tensors(data))
        except Exception as error:
            raise InvalidFile(f"{path} is not a safetensors file: {error}") from error
        check_finite(tensors, str(path))
        return tensors
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:
        raise InvalidFile(
            f"{path} cannot be read as plain weights (pickled code is refused): {str(error).splitlines()[0]}"
        ) from error
    for key in ("model_state_dict", "state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    if not isinstance(content, dict):
        raise InvalidFile(f"{path} holds a {type(content).__name__}, not a table of named weights")
    tensors = {str(k).removeprefix("module."): v for k, v in content.items() if isinstance(v, Tensor)}
    if not tensors:
        raise InvalidFile(f"{path} holds no tensors")
    check_finite(tensors, str(path))
    return tensors


def _fill(network: nn.Module, tensors: dict[str, Tensor], source: str) -> None:
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise InvalidFile(
            f"the weights in {source} do not fit: {str(error).splitlines()[-1].strip()}"
        ) from error


def _exported(path: Path) -> nn.Module:
    try:
        return torch.export.load(path).module()
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidFile(f"{path} is not a torch.export program: {reason}") from error


def _scripted(path: Path) -> nn.Module:
    try:
        network: nn.Module = torch.jit.load(str(path), map_location="cpu")
    except Exception as error:
        raise InvalidFile(f"{path} is not a TorchScript file: {str(error).splitlines()[0]}") from error
    return network.eval()


def _try_out(model: Model, num_points: int) -> None:
    """Fail now, with a sentence, rather than in the middle of a certification."""
    wanted = (
        (2, len(model.classes)) if model.task == "classification" else (2, num_points, len(model.classes))
    )
    try:
        logits = model.classifier()(torch.linspace(-0.5, 0.5, 2 * num_points * 3).view(2, num_points, 3))
    except Exception as error:
        raise InvalidValue(
            f"{model.name} does not accept clouds of shape (2, {num_points}, 3): {str(error).splitlines()[0]}"
        ) from error
    if tuple(logits.shape) != wanted:
        raise InvalidValue(f"{model.name} gave logits of shape {tuple(logits.shape)}; {wanted} was expected")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest_of_state(module: nn.Module) -> str:
    whole = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        whole.update(name.encode())
        whole.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return whole.hexdigest()
