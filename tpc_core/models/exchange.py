"""Models on their way out: as an ONNX graph or a torch.export program, with the names of their classes."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidValue, MissingDependency, UnsupportedRequest
from tpc_core.machinery.atomic import write_atomically
from tpc_core.models.brought.onnx_network import OnnxNetwork
from tpc_core.models.brought.probe import probe
from tpc_core.models.store import Model

BATCH = 32
"""The batch of a program that can take one size only: a block of votes."""
CHECKED = 256
"""Clouds on which what was written is compared with the network."""


@dataclass(frozen=True)
class Exported:
    """What was written: where, which sizes it takes, and how far its logits are from the network's."""

    path: Path
    sizes: str
    difference: float
    changed: int
    """Of the compared clouds, how many it answers otherwise."""


def export_model(model: Model, path: Path) -> Exported:
    """Write a model as .onnx or .pt2; clouds (B, N, 3) in, logits out."""
    if path.suffix not in (".onnx", ".pt2"):
        raise InvalidValue(f"{path.name}: a model is written as .onnx or .pt2")
    if model.card.brought is not None and model.card.brought.format not in ("factory", "weights"):
        raise UnsupportedRequest(f"{model.name} is a {model.card.brought.format} file already; copy that")
    points = model.num_points or 64
    program, sizes = _program(model.module, points)
    if path.suffix == ".pt2":
        sink = io.BytesIO()
        torch.export.save(program, sink, extra_files={"classes": ",".join(model.classes)})
        content, again = sink.getvalue(), program.module()
    else:
        content = _onnx(program, model)
        again = OnnxNetwork(content, path.name)
    write_atomically(path, content)
    difference, changed = _compared(model.module, again, points)
    return Exported(path, sizes, difference, changed)


def _program(module: nn.Module, points: int) -> tuple[Any, str]:
    """The network as a graph, for clouds of any size where it allows that."""
    batch = torch.export.Dim("clouds", min=1, max=65536)
    size = torch.export.Dim("points", min=16, max=65536)
    cloud = probe(BATCH, points)
    ways: tuple[tuple[str, Any], ...] = (
        ("any number of clouds, of any size", ({0: batch, 1: size},)),
        (f"any number of clouds, of {points} points", ({0: batch},)),
        (f"{BATCH} clouds of {points} points at a time", None),
    )
    reason = ""
    for words, shapes in ways:
        with _quiet(), torch.no_grad():
            try:
                return torch.export.export(module.eval(), (cloud,), dynamic_shapes=shapes), words
            except Exception as error:  # what a network does may be beyond the exporter in many ways
                reason = (str(error).splitlines() or [type(error).__name__])[0]
    raise UnsupportedRequest(f"this network cannot be written as a graph: {reason}")


def _onnx(program: Any, model: Model) -> bytes:
    try:
        import onnx
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            "ONNX files need onnx and onnxscript: pip install 'tpc-explorer[onnx]'"
        ) from error
    with _quiet():
        try:
            made = torch.onnx.export(program, dynamo=True, verbose=False, external_data=False)
        except Exception as error:
            raise UnsupportedRequest(
                f"{model.name} uses an operation that ONNX does not have; write it as .pt2 instead"
            ) from error
    assert made is not None
    graph = made.model_proto
    for key, value in {
        "classes": ",".join(model.classes),
        "model": model.name,
        "digest": model.digest,
    }.items():
        entry = graph.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(graph)
    return bytes(graph.SerializeToString())


@torch.no_grad()
def _compared(module: nn.Module, again: Any, points: int) -> tuple[float, int]:
    """The largest difference of the logits, and how many answers differ."""
    clouds = probe(CHECKED, points)
    difference, changed = 0.0, 0
    for block in clouds.split(BATCH):
        before: Tensor = module(block)
        after: Tensor = again(block)
        difference = max(difference, float((before - after).abs().max()))
        changed += int((before.argmax(dim=-1) != after.argmax(dim=-1)).sum())
    return difference, changed


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the notes that PyTorch's exporter writes for its own authors."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(before)
