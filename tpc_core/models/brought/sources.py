"""What `--from` may name: a factory, a program, an ONNX graph, or a file of weights in a public layout."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue, UnsupportedRequest
from tpc_core.models.brought.digest import code_digest
from tpc_core.models.brought.layouts import known_network
from tpc_core.models.brought.onnx_network import OnnxNetwork, onnx_metadata
from tpc_core.models.brought.tensors import WEIGHTS, fill, is_torchscript, read_tensors
from tpc_core.models.store import MAX_WEIGHTS_BYTES

TORCHSCRIPT = frozenset({".ts", ".jit", ".torchscript"})
ENDINGS = {
    "pt2": ".pt2",
    "torchscript": ".ts",
    "onnx": ".onnx",
    "factory": ".safetensors",
    "weights": ".safetensors",
}
"""How the file of each format is called in the model folder."""

Format = Literal["factory", "pt2", "torchscript", "onnx", "weights", "memory"]
CODE_FORMATS = frozenset({"factory", "pt2", "torchscript"})
"""Formats that run their author's code when they are opened."""


@dataclass(frozen=True)
class Opened:
    """A network that was read, and what has to be kept of it."""

    network: nn.Module
    format: Format
    content: bytes
    architecture: str = "brought"
    options: dict[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    """The names of the classes, where the file holds them."""
    points: int | None = None
    """The size of cloud that it was trained on, where the release says so."""
    folder: str | None = None
    code: str | None = None
    notes: tuple[str, ...] = ()


def format_of(source: str) -> Format:
    """Which format a source is in, by its ending and, for .pt, by what is inside."""
    path = Path(source)
    if path.suffix == ".pt2":
        return "pt2"
    if path.suffix == ".onnx":
        return "onnx"
    if path.suffix in TORCHSCRIPT or (path.suffix in (".pt", ".pth") and is_torchscript(path)):
        return "torchscript"
    if path.suffix in WEIGHTS and ":" not in source:
        return "weights"
    return "factory"


def open_source(
    source: str,
    *,
    weights: str | Path | None = None,
    run_code: bool = False,
    folder: str | Path | None = None,
) -> Opened:
    """Read the network that a source names. Programs are refused unless `run_code` says that they are trusted."""
    format = format_of(source)
    if format in ("pt2", "torchscript") and not run_code:
        raise UnsupportedRequest(
            f"{source} is a program, and opening it runs its author's code; add --run-code (run_code=True in Python) "
            "if you trust them"
        )
    if weights is not None and format != "factory":
        raise InvalidValue(
            f"{source} holds its own weights; --weights goes with a factory, package.module:make"
        )
    if format == "factory":
        return open_factory(source, read_tensors(weights) if weights is not None else None, folder)
    content = read_bytes(Path(source), MAX_WEIGHTS_BYTES)
    if format == "weights":
        known = known_network(read_tensors(source), source)
        return Opened(
            known.module,
            "weights",
            encoded(known.module.state_dict()),
            known.architecture,
            known.options,
            points=known.points,
            notes=(f"its weights are named as in {known.origin}",),
        )
    return open_program(format, content, source)


def open_program(format: str, content: bytes, source: str) -> Opened:
    """A .pt2, TorchScript or ONNX file from its bytes."""
    if format == "onnx":
        names = onnx_metadata(content, source).get("classes")
        classes = tuple(names.split(",")) if names else None
        return Opened(OnnxNetwork(content, source), "onnx", content, classes=classes)
    network = _exported(content, source) if format == "pt2" else _scripted(content, source)
    return Opened(network, "pt2" if format == "pt2" else "torchscript", content)


def open_factory(dotted: str, tensors: dict[str, Tensor] | None, folder: str | Path | None = None) -> Opened:
    """Call a factory and fill what it makes with the tensors, if there are any."""
    with importable(folder):
        network = make(dotted)
    if tensors is not None:
        fill(network, tensors, dotted)
    network.eval()
    return Opened(
        network,
        "factory",
        encoded(network.state_dict()),
        folder=None if folder is None else str(Path(folder).resolve()),
        code=code_digest(network, dotted),
    )


def make(dotted: str) -> nn.Module:
    """Call the factory that a dotted path names: "package.module:factory"."""
    home, _, name = dotted.partition(":") if ":" in dotted else dotted.rpartition(".")
    if not home or not name:
        raise InvalidValue(
            f"{dotted!r} is no file here, and not a factory; write a factory as package.module:make"
        )
    try:
        factory = getattr(importlib.import_module(home), name)
    except ImportError as error:
        raise InvalidValue(f"cannot import {home}: {error}") from error
    except AttributeError as error:
        raise InvalidValue(f"{home} has nothing called {name}") from error
    except (Exception, SystemExit) as error:  # whatever its author's code does, it is no end of this program
        raise InvalidValue(f"importing {home} failed: {type(error).__name__}: {error}") from error
    try:
        network = factory()
    except (Exception, SystemExit) as error:
        raise InvalidValue(f"calling {dotted} failed: {type(error).__name__}: {error}") from error
    if not isinstance(network, nn.Module):
        raise InvalidValue(f"{dotted} gave a {type(network).__name__}, not a torch module")
    return network


@contextmanager
def importable(folder: str | Path | None) -> Iterator[None]:
    """The folder on Python's path, for as long as a factory is called; what it imports later is imported by then."""
    if folder is None:
        yield
        return
    place = str(Path(folder).resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def encoded(tensors: dict[str, Tensor]) -> bytes:
    """Tensors as a safetensors file, each with memory of its own, in the precision that they have."""
    return bytes(
        save_tensors({name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()})
    )


def _exported(content: bytes, source: str) -> nn.Module:
    try:
        return torch.export.load(io.BytesIO(content)).module()
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidFile(f"{source} is not a torch.export program: {reason}") from error


def _scripted(content: bytes, source: str) -> nn.Module:
    try:
        network: nn.Module = torch.jit.load(io.BytesIO(content), map_location="cpu")
    except Exception as error:
        raise InvalidFile(f"{source} is not a TorchScript file: {str(error).splitlines()[0]}") from error
    return network.eval()
