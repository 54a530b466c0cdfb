"""Ways to run the same network, compared: eager, folded, torch.compile, ONNX Runtime, OpenVINO.

Forward passes alone, on one thread, in the blocks of 32 clouds that certificates use. ONNX Runtime and OpenVINO are
measured where they are installed (`pip install onnx onnxruntime openvino`); the library does not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from benchmarks.plain import plain_network
from benchmarks.timing import Contestant, flops, rates, sgemm
from tpc_core import Model, load_model
from tpc_core.models.folded import Affine, FoldedPointNet, FoldedRows
from tpc_core.models.pointnet import PointNet
from tpc_core.votes import BLOCK

Network = Callable[[Tensor], Tensor]
MODEL = "pointnet64-noise"
PASSES = {64: 16, 1024: 2}
AGREEMENT_CLOUDS = 8192


class Unchunked(nn.Module):
    """The folded network as one graph of matrix products, for compilers that choose their own pieces."""

    def __init__(self, folded: FoldedPointNet) -> None:
        super().__init__()
        trunk = folded.trunk
        layers = [*trunk.first.layers, *trunk.second.layers]
        self.per_point = nn.ModuleList(_linear(layer) for layer in layers)
        self.wide = _linear(trunk.pool.affine)
        self.head = nn.ModuleList(_linear(layer) for layer in _head_layers(folded.head.hidden))
        self.output = _linear(folded.head.output)

    def forward(self, points: Tensor) -> Tensor:
        rows = points
        for layer in self.per_point:
            rows = torch.relu(layer(rows))
        pooled = torch.relu(self.wide(rows).amax(dim=1))
        for layer in self.head:
            pooled = torch.relu(layer(pooled))
        logits: Tensor = self.output(pooled)
        return logits


def _head_layers(rows: FoldedRows) -> list[Affine]:
    return rows.layers


def _linear(affine: Affine) -> nn.Linear:
    linear = nn.Linear(*affine.weight.shape)
    linear.weight.data, linear.bias.data = affine.weight.T.contiguous(), affine.bias.clone()
    return linear


def measure(*, full: bool) -> list[str]:
    """The table: clouds per second, the largest difference of a logit, and how many votes differ."""
    model = load_model(MODEL)
    lines = [
        "## Ways to run the network",
        "",
        f"Forward passes of {BLOCK} clouds on one thread, in turns. Logits and votes are compared with the eager "
        f"module's, over {AGREEMENT_CLOUDS:,} noisy clouds of 64 points.",
        "",
        "| network | 64 points, clouds/s | of the floor | 1,024 points | of the floor | largest difference of a logit "
        "| votes that differ |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    with TemporaryDirectory() as folder, torch.inference_mode():
        networks = dict(_networks(model, Path(folder), full=full))
        speed = {points: _speed(networks, points) for points in PASSES}
        for name, network in networks.items():
            shares = []
            for points, found in speed.items():
                floor = found["sgemm"] / flops(model.module, points)
                shares.append(f"{found[name]:,.0f} | {found[name] / floor:.0%}")
            difference, votes = _agreement(model, network)
            lines.append(f"| {name} | {' | '.join(shares)} | {difference:.1e} | {votes} |")
            print(lines[-1], flush=True)
    return lines


def _networks(model: Model, folder: Path, *, full: bool) -> Iterator[tuple[str, Network]]:
    assert isinstance(model.module, PointNet)
    plain = plain_network(model)
    folded = FoldedPointNet(model.module)
    whole = Unchunked(folded).eval()
    yield "eager Conv1d + BatchNorm (plain)", lambda points: plain(points.transpose(1, 2))
    yield "eager, points as rows (the reference)", model.module
    yield "folded, in pieces (used)", folded
    yield "folded, whole", whole
    if full:
        yield "torch.compile of folded, whole", torch.compile(whole)
    if find_spec("onnxruntime") and find_spec("onnx"):
        yield "ONNX Runtime", _onnx_runtime(_write_onnx(whole, folder))
    if find_spec("openvino") and find_spec("onnx"):
        yield "OpenVINO", _openvino(_write_onnx(whole, folder))


def _speed(networks: dict[str, Network], points: int) -> dict[str, float]:
    clouds = 0.4 * torch.randn(BLOCK, points, 3)
    amount = PASSES[points] * BLOCK

    def passes(network: Network) -> Callable[[], object]:
        return lambda: [network(clouds) for _ in range(PASSES[points])]

    contestants = {name: Contestant(passes(network), amount, 1) for name, network in networks.items()}
    return rates({"sgemm": sgemm(1), **contestants}, rounds=6)


def _agreement(model: Model, network: Network) -> tuple[float, int]:
    generator = torch.Generator().manual_seed(0)
    difference, votes = 0.0, 0
    for _ in range(AGREEMENT_CLOUDS // BLOCK):
        clouds = 0.4 * torch.randn(BLOCK, 64, 3, generator=generator)
        expected, found = model.module(clouds), network(clouds)
        difference = max(difference, float((expected - found).abs().max()))
        votes += int((expected.argmax(1) != found.argmax(1)).sum())
    return difference, votes


def _write_onnx(network: Unchunked, folder: Path) -> str:
    """The network as an ONNX file, layer by layer."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights = [], []

    def dense(name: str, linear: nn.Linear, source: str, *, relu: bool) -> str:
        weights.append(
            numpy_helper.from_array(linear.weight.detach().T.contiguous().numpy(), f"{name}.weight")
        )
        weights.append(numpy_helper.from_array(linear.bias.detach().numpy(), f"{name}.bias"))
        nodes.append(helper.make_node("MatMul", [source, f"{name}.weight"], [f"{name}.product"]))
        nodes.append(helper.make_node("Add", [f"{name}.product", f"{name}.bias"], [f"{name}.sum"]))
        if relu:
            nodes.append(helper.make_node("Relu", [f"{name}.sum"], [name]))
        return name if relu else f"{name}.sum"

    source = "points"
    for number, layer in enumerate(network.per_point):
        source = dense(f"point{number}", layer, source, relu=True)
    source = dense("wide", network.wide, source, relu=False)
    weights.append(numpy_helper.from_array(torch.tensor([1]).numpy(), "axis"))
    nodes.append(helper.make_node("ReduceMax", [source, "axis"], ["pooled"], keepdims=0))
    nodes.append(helper.make_node("Relu", ["pooled"], ["features"]))
    source = "features"
    for number, layer in enumerate(network.head):
        source = dense(f"head{number}", layer, source, relu=True)
    source = dense("output", network.output, source, relu=False)
    graph = helper.make_graph(
        nodes,
        "pointnet",
        [helper.make_tensor_value_info("points", TensorProto.FLOAT, [BLOCK, "points_per_cloud", 3])],
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, [BLOCK, network.output.out_features])],
        weights,
    )
    path = folder / "pointnet.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return str(path)


def _onnx_runtime(path: str) -> Network:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda points: torch.from_numpy(session.run(None, {"points": points.numpy()})[0])


def _openvino(path: str) -> Network:
    import openvino

    compiled = openvino.Core().compile_model(
        path, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    )
    return lambda points: torch.from_numpy(compiled(points.numpy())[0])
