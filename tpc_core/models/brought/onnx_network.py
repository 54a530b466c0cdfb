"""ONNX files, run by ONNX Runtime. The graph must hold its own weights: it may point to no other file."""

from __future__ import annotations

import itertools
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
    for tensor in itertools.chain(_tensors(graph.graph), *map(_inside, graph.functions)):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise InvalidFile(
                f"{source} keeps its weights in another file ({tensor.name}); save it with the weights inside"
            )
    return graph


def onnx_metadata(content: bytes, source: str) -> dict[str, str]:
    """The notes that an exporter left in the file, such as the names of the classes."""
    return {item.key: item.value for item in checked_graph(content, source).metadata_props}


def _tensors(graph: Any) -> Any:
    """Every tensor of a graph, those of its nodes and of the graphs inside them included."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _inside(graph)


def _inside(holder: Any) -> Any:
    """Every tensor in the nodes of a graph, or of a function of the file's own."""
    for node in holder.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for inner in (attribute.g, *attribute.graphs):
                if inner.node or inner.initializer:
                    yield from _tensors(inner)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependency(f"ONNX files need {name}: pip install 'tpc-explorer[onnx]'") from error
