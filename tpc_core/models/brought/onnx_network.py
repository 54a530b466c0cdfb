"""ONNX files, run by ONNX Runtime. The graph must hold its own weights: it may point to no other file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidFile, MissingDependency


class OnnxNetwork(nn.Module):
    """An ONNX graph with one input of floats (B, ?, ?); its outputs are a tuple, or one tensor."""

    def __init__(self, content: bytes, source: str) -> None:
        super().__init__()
        checked_graph(content, source)
        runtime = _package("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # blocks of votes are shared out to threads before they come here
        options.log_severity_level = 4
        try:
            self.session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise InvalidFile(f"ONNX Runtime cannot run {source}: {reason}") from error
        inputs = self.session.get_inputs()
        if len(inputs) != 1 or inputs[0].type != "tensor(float)":
            kinds = ", ".join(f"{item.name}: {item.type}" for item in inputs)
            raise InvalidFile(f"{source} takes {kinds}; one input of float32 points was expected")
        self.input = inputs[0].name

    def forward(self, points: Tensor) -> Tensor | tuple[Tensor, ...]:
        given = points.detach().cpu().contiguous().numpy()
        answers = tuple(torch.from_numpy(answer) for answer in self.session.run(None, {self.input: given}))
        return answers[0] if len(answers) == 1 else answers


def checked_graph(content: bytes, source: str) -> Any:
    """The parsed file, if it is one graph that is whole in itself."""
    onnx = _package("onnx")
    try:
        graph = onnx.load_model_from_string(content)
    except Exception as error:
        raise InvalidFile(f"{source} is not an ONNX file") from error
    for tensor in _tensors(graph, onnx.TensorProto):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise InvalidFile(
                f"{source} keeps its weights in another file ({tensor.name}); save it with the weights inside"
            )
    return graph


def onnx_metadata(content: bytes, source: str) -> dict[str, str]:
    """The notes that an exporter left in the file, such as the names of the classes."""
    return {item.key: item.value for item in checked_graph(content, source).metadata_props}


def _tensors(message: Any, kind: type[Any]) -> Iterator[Any]:
    """Every tensor anywhere in a file: of the graph, of graphs inside nodes, of functions and what they default to."""
    if isinstance(message, kind):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                yield from _tensors(inner, kind)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependency(f"ONNX files need {name}: pip install 'tpc-explorer[onnx]'") from error
