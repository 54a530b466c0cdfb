"""Weights of public releases promise to load by the names that the releases give them, and to give their logits.

The files themselves cannot be had here, so the weights are random; names, shapes and what the layers do are those of
the public code.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.models.release_of_3dcertify import ReleasedPointNet, accuracy, trained
from tpc_core.cli import main
from tpc_core.data import open_dataset
from tpc_core.errors import InvalidFile
from tpc_core.models import bring, load_model
from tpc_core.smoothing import CoordinateSmoothing

CLASSES = ["a", "b", "c", "d", "e"]
SMOOTHING = CoordinateSmoothing(0.1)


def conv(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU()]


class Sequential(nn.Module):
    """Layers in nn.Sequential blocks called mlp1, mlp2, mlp3."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp1 = nn.Sequential(*conv(3, 64), *conv(64, 64))
        self.mlp2 = nn.Sequential(*conv(64, 64), *conv(64, 128), *conv(128, 1024))
        self.mlp3 = nn.Sequential(
            nn.Linear(1024, 512), nn.BatchNorm1d(512), nn.ReLU(),
            nn.Linear(512, 256), nn.Dropout(0.3), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 5),
        )  # fmt: skip

    def forward(self, points: Tensor) -> Tensor:
        logits: Tensor = self.mlp3(self.mlp2(self.mlp1(points.transpose(1, 2))).amax(dim=2))
        return logits


class Transform(nn.Module):
    """A spatial transformer with numbered layers."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        widths = [size, 64, 128, 1024]
        for i in range(3):
            setattr(self, f"conv{i + 1}", nn.Conv1d(widths[i], widths[i + 1], 1))
        self.fc1, self.fc2, self.fc3 = nn.Linear(1024, 512), nn.Linear(512, 256), nn.Linear(256, size * size)
        for i, width in enumerate([64, 128, 1024, 512, 256]):
            setattr(self, f"bn{i + 1}", nn.BatchNorm1d(width))

    def forward(self, x: Tensor) -> Tensor:
        for i in (1, 2, 3):
            x = torch.relu(getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(x)))
        x = x.amax(dim=2)
        x = torch.relu(getattr(self, "bn4")(self.fc1(x)))  # noqa: B009
        x = torch.relu(getattr(self, "bn5")(self.fc2(x)))  # noqa: B009
        matrix: Tensor = self.fc3(x).view(-1, self.size, self.size) + torch.eye(self.size)
        return matrix


class Features(nn.Module):
    """The per-point part with numbered layers; its pooled features have no ReLU."""

    def __init__(self, feature_transform: bool) -> None:
        super().__init__()
        self.stn = Transform(3)
        self.fstn = Transform(64) if feature_transform else None
        self.conv1, self.conv2, self.conv3 = (
            nn.Conv1d(3, 64, 1),
            nn.Conv1d(64, 128, 1),
            nn.Conv1d(128, 1024, 1),
        )
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1d(64), nn.BatchNorm1d(128), nn.BatchNorm1d(1024)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.bmm(x.transpose(1, 2), self.stn(x)).transpose(1, 2)
        x = torch.relu(self.bn1(self.conv1(x)))
        if self.fstn is not None:
            x = torch.bmm(x.transpose(1, 2), self.fstn(x)).transpose(1, 2)
        x = torch.relu(self.bn2(self.conv2(x)))
        pooled: Tensor = self.bn3(self.conv3(x)).amax(dim=2)
        return pooled


class Numbered(nn.Module):
    """The classifier with numbered layers."""

    def __init__(self, feature_transform: bool) -> None:
        super().__init__()
        self.feat = Features(feature_transform)
        self.fc1, self.fc2, self.fc3 = nn.Linear(1024, 512), nn.Linear(512, 256), nn.Linear(256, 5)
        self.bn1, self.bn2 = nn.BatchNorm1d(512), nn.BatchNorm1d(256)

    def forward(self, points: Tensor) -> Tensor:
        x = self.feat(points.transpose(1, 2))
        x = torch.relu(self.bn2(self.fc2(torch.relu(self.bn1(self.fc1(x))))))
        logits: Tensor = self.fc3(x)
        return logits


@pytest.mark.parametrize("network", [Sequential(), Numbered(False), Numbered(True)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_public_network_keeps_its_logits(network: nn.Module, wrapped: bool, tmp_path: Path) -> None:
    with torch.no_grad():
        network.train()(torch.randn(16, 30, 3))
    state = network.state_dict()
    if wrapped:
        state = {"model_state_dict": {f"module.{k}": v for k, v in state.items()}, "epoch": 3}
    torch.save(state, tmp_path / "w.pth")
    model = bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING)
    points = 0.5 * torch.randn(4, 48, 3)
    with torch.no_grad():
        expected = network.eval()(points)
    torch.testing.assert_close(model.classifier()(points), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(model.module(points), expected, atol=1e-4, rtol=1e-4)


def solids(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Boxes, rods, plates, cones, balls and posts of random proportions, with six of ModelNet40's numbers."""
    generator = torch.Generator().manual_seed(seed)
    clouds, labels = [], []
    for number in range(count):
        kind = number % 6
        directions = torch.randn(256, 3, generator=generator)
        ball = directions / directions.norm(dim=1, keepdim=True)
        box = directions / directions.abs().amax(dim=1, keepdim=True)
        shape = ball if kind in (1, 4) else box
        if kind == 3:
            shape = box * torch.cat([(1.1 - box[:, 2:]).expand(-1, 2) / 2, torch.ones(256, 1)], dim=1)
        stretch = torch.tensor(
            [(1, 1, 1), (1, 0.2, 0.2), (1, 1, 0.1), (0.7, 0.7, 1), (1, 1, 1), (0.2, 0.2, 1)][kind]
        )
        clouds.append(shape * stretch * (0.8 + 0.4 * torch.rand(3, generator=generator)))
        labels.append((0, 8, 19, 2, 37, 26)[kind])
    return torch.stack(clouds), torch.tensor(labels)


def test_the_64_point_pointnet_of_3dcertify_loads_by_one_command_with_its_accuracy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is not downloadable here: a network of its code, trained here, is saved as that code saves it."""
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    for name, seed, count in (("learnt", 0, 384), ("asked", 1, 120)):
        clouds, labels = solids(count, seed)
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "data_clean_0.npy", clouds.numpy())
        np.save(tmp_path / name / "label.npy", labels.numpy())
        assert main(["data", "add", name, str(tmp_path / name), "--up", "z"]) == 0
    torch.manual_seed(0)
    network = ReleasedPointNet(64, classes=40)
    learnt, asked = open_dataset("learnt", "test"), open_dataset("asked", "test")
    of_set = lambda data: (torch.from_numpy(data.points_array(64)), torch.from_numpy(data.labels))  # noqa: E731
    trained(network, *of_set(learnt), epochs=6, batch=16)
    torch.save(network.state_dict(), tmp_path / "64p_natural.pth")
    source = str(tmp_path / "64p_natural.pth")
    command = ["models", "add", "certify-64p", "--from", source, "--points", "64", "--data", "asked"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "named as in PointNet (3DCertify" in said
    assert "taken to be ModelNet40's" in said
    expected = accuracy(network, *of_set(asked))
    assert expected > 60  # one in six by chance
    assert f"clean accuracy: {expected:.1f} % of 120 test objects" in said
    clouds, _ = of_set(asked)
    with torch.no_grad():
        logits = network(clouds)
    answers = load_model("certify-64p").classifier()(clouds)
    torch.testing.assert_close(answers, logits, atol=1e-3, rtol=1e-3)
    assert torch.equal(answers.argmax(dim=1), logits.argmax(dim=1))


def normed(name: str, shape: tuple[int, ...], norm: str, bias: bool) -> dict[str, tuple[int, ...]]:
    """A layer with BatchNorm, as a release's state dict names its tensors."""
    width = shape[0]
    of_norm = {f"{norm}.{item}": (width,) for item in ("weight", "bias", "running_mean", "running_var")}
    return (
        {f"{name}.weight": shape, f"{norm}.num_batches_tracked": ()}
        | of_norm
        | ({f"{name}.bias": (width,)} if bias else {})
    )


def dgcnn_names() -> dict[str, tuple[int, ...]]:
    """WangYueFt/dgcnn, pytorch/model.py: every BatchNorm appears under two names."""
    names: dict[str, tuple[int, ...]] = {}
    widths = [(64, 6), (64, 128), (128, 128), (256, 256)]
    for number, (out, into) in enumerate(widths, start=1):
        for norm in (f"conv{number}.1", f"bn{number}"):
            names |= normed(f"conv{number}.0", (out, into, 1, 1), norm, False)
    for norm in ("conv5.1", "bn5"):
        names |= normed("conv5.0", (1024, 512, 1), norm, False)
    names |= normed("linear1", (512, 2048), "bn6", False) | normed("linear2", (256, 512), "bn7", True)
    return names | {"linear3.weight": (5, 256), "linear3.bias": (5,)}


def pointnet2_names() -> dict[str, tuple[int, ...]]:
    """yanx27/Pointnet_Pointnet2_pytorch, models/pointnet2_cls_ssg.py without normals."""
    names: dict[str, tuple[int, ...]] = {}
    for stage, widths in {
        "sa1": [3, 64, 64, 128],
        "sa2": [131, 128, 128, 256],
        "sa3": [259, 256, 512, 1024],
    }.items():
        for i in range(3):
            shape = (widths[i + 1], widths[i], 1, 1)
            names |= normed(f"{stage}.mlp_convs.{i}", shape, f"{stage}.mlp_bns.{i}", True)
    names |= normed("fc1", (512, 1024), "bn1", True) | normed("fc2", (256, 512), "bn2", True)
    return names | {"fc3.weight": (5, 256), "fc3.bias": (5,)}


def pointnet2_msg_names() -> dict[str, tuple[int, ...]]:
    """The same, models/pointnet2_cls_msg.py."""
    names = {name: shape for name, shape in pointnet2_names().items() if not name.startswith(("sa1", "sa2"))}
    blocks = {
        "sa1": (3, [[32, 32, 64], [64, 64, 128], [64, 96, 128]]),
        "sa2": (323, [[64, 64, 128], [128, 128, 256], [128, 128, 256]]),
    }
    for stage, (inputs, scales) in blocks.items():
        for i, widths in enumerate(scales):
            for j, (into, out) in enumerate(pairwise([inputs, *widths])):
                convolution, norm = f"{stage}.conv_blocks.{i}.{j}", f"{stage}.bn_blocks.{i}.{j}"
                names |= normed(convolution, (out, into, 1, 1), norm, True)
    return names | {"sa3.mlp_convs.0.weight": (256, 643, 1, 1)}


def pointmlp_names() -> dict[str, tuple[int, ...]]:
    """ma-xu/pointMLP-pytorch, pointMLPElite."""
    names = normed("embedding.net.0", (32, 3, 1), "embedding.net.1", False)
    width = 32
    for stage, (growth, blocks) in enumerate([(2, 1), (2, 1), (2, 2), (1, 1)]):
        for item in ("affine_alpha", "affine_beta"):
            names[f"local_grouper_list.{stage}.{item}"] = (1, 1, 1, width)
        wide = width * growth
        transfer = f"pre_blocks_list.{stage}.transfer.net"
        names |= normed(f"{transfer}.0", (wide, 2 * width, 1), f"{transfer}.1", False)
        for kind in ("pre", "pos"):
            for block in range(blocks):
                place, middle = f"{kind}_blocks_list.{stage}.operation.{block}", wide // 4
                names |= normed(f"{place}.net1.0", (middle, wide, 1), f"{place}.net1.1", False)
                names |= normed(f"{place}.net2.0", (wide, middle, 1), f"{place}.net2.1", False)
        width = wide
    names |= normed("classifier.0", (512, width), "classifier.1", True)
    names |= normed("classifier.4", (256, 512), "classifier.5", True)
    return names | {"classifier.8.weight": (5, 256), "classifier.8.bias": (5,)}


def curvenet_names(setting: str = "default") -> dict[str, tuple[int, ...]]:
    """tiangexiang/CurveNet, core/models/curvenet_cls.py, without anything behind the second setting's first stage."""
    names = normed("lpfa.mlp.0.0", (32, 9, 1, 1), "lpfa.mlp.0.1", False)
    width = 32
    for stage, wide in enumerate((64, 128, 256, 512), start=1):
        for block, (inputs, ratio) in enumerate([(width, 2), (wide, 4)], start=1):
            place, planes = f"cic{stage}{block}", inputs // ratio
            names |= normed(f"{place}.conv1.0", (planes, inputs, 1), f"{place}.conv1.1", False)
            names |= normed(f"{place}.conv2.0", (wide, planes, 1), f"{place}.conv2.1", False)
            if inputs != wide:
                names |= normed(f"{place}.shortcut.0", (wide, inputs, 1), f"{place}.shortcut.1", False)
            names |= normed(
                f"{place}.lpfa.xyz2feature.0", (planes, 9, 1, 1), f"{place}.lpfa.xyz2feature.1", False
            )
            names |= normed(f"{place}.lpfa.mlp.0.0", (planes, planes, 1, 1), f"{place}.lpfa.mlp.0.1", False)
            if stage <= (2 if setting == "default" else 1):
                walk, gather = f"{place}.curvegrouping.walk", f"{place}.curveaggregation"
                names |= normed(f"{walk}.agent_mlp.0", (1, 2 * planes, 1, 1), f"{walk}.agent_mlp.1", False)
                names |= normed(f"{walk}.momentum_mlp.0", (2, 2 * planes, 1), f"{walk}.momentum_mlp.1", False)
                names |= normed(f"{gather}.convd.0", (planes, planes, 1), f"{gather}.convd.1", False)
                names |= {f"{gather}.conv{x}.weight": (planes // 2, planes, 1) for x in "abc"}
                names |= {f"{gather}.conv{x}.weight": (planes // 2, planes // 2, 1) for x in "nl"}
                names[f"{gather}.line_conv_att.weight"] = (1, planes, 1, 1)
                names[f"{place}.curvegrouping.att.weight"] = (1, planes, 1)
        width = wide
    names |= normed("conv0.0", (1024, 512, 1), "conv0.1", False) | normed("conv1", (512, 2048), "bn1", False)
    return names | {"conv2.weight": (5, 512), "conv2.bias": (5,)}


def random_state(names: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    state = {}
    for name, shape in names.items():
        if name.endswith("num_batches_tracked"):
            state[name] = torch.tensor(3)
        elif name.endswith("running_var") or (name.endswith(".weight") and len(shape) == 1):
            state[name] = 0.5 + torch.rand(shape, generator=generator)
        elif len(shape) == 1:
            state[name] = 0.2 * torch.randn(shape, generator=generator)
        else:
            # Gains near one: with smaller ones a deep network would say the same of every cloud.
            state[name] = 1.5 * torch.randn(shape, generator=generator) / max(1, shape[1]) ** 0.5
    for i in range(1, 6):  # the two names of DGCNN's BatchNorms are one tensor
        state |= {f"bn{i}.{k.split('.', 2)[2]}": v for k, v in state.items() if k.startswith(f"conv{i}.1.")}
    return state


RELEASES = {
    "dgcnn": dgcnn_names,
    "pointnet2": pointnet2_names,
    "pointnet2-msg": pointnet2_msg_names,
    "pointmlp": pointmlp_names,
    "curvenet-release": curvenet_names,
    "curvenet-release-long": partial(curvenet_names, "long"),
}


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_loads_by_the_names_of_its_state_dict(release: str, tmp_path: Path) -> None:
    state = random_state(RELEASES[release]())
    if release != "dgcnn":
        state = {name: tensor for name, tensor in state.items() if name in RELEASES[release]()}
    torch.save(state, tmp_path / "w.pth")
    model = bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING, num_points=64)
    assert release.startswith(model.card.architecture)
    answers = model.classifier()(0.5 * torch.randn(3, 64, 3))
    assert answers.shape == (3, 5)
    assert bool(torch.isfinite(answers).all())


def layer(state: dict[str, Tensor], name: str, norm: str, rows: Tensor) -> Tensor:
    """Linear and BatchNorm of a state dict, on rows (R, K)."""
    rows = rows @ state[f"{name}.weight"].flatten(1).T + state.get(f"{name}.bias", torch.zeros(()))
    mean, variance = state[f"{norm}.running_mean"], state[f"{norm}.running_var"]
    return (rows - mean) / (variance + 1e-5).sqrt() * state[f"{norm}.weight"] + state[f"{norm}.bias"]


def test_pointnet2_gives_the_logits_of_its_definition(tmp_path: Path) -> None:
    """Point by point, as the paper says: farthest centres, the first points in their balls, shared layers, max."""
    state = random_state(pointnet2_names())
    torch.save(state, tmp_path / "w.pth")
    model = bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING, num_points=64)
    cloud = 0.4 * torch.randn(64, 3, generator=torch.Generator().manual_seed(5))
    points, features = cloud, torch.zeros(64, 0)
    for stage, centres, radius, keep in (("sa1", 512, 0.2, 32), ("sa2", 128, 0.4, 64)):
        chosen, distance, new = [0], torch.full((len(points),), torch.inf), []
        while len(chosen) < centres:
            distance = torch.minimum(distance, (points - points[chosen[-1]]).square().sum(dim=1))
            chosen.append(int(distance.argmax()))
        for centre in points[chosen]:
            near = torch.nonzero((points - centre).square().sum(dim=1) <= radius**2)[:keep, 0]
            rows = torch.cat([points[near] - centre, features[near]], dim=1)
            for i in range(3):
                rows = torch.relu(layer(state, f"{stage}.mlp_convs.{i}", f"{stage}.mlp_bns.{i}", rows))
            new.append(rows.amax(dim=0))
        points, features = points[chosen], torch.stack(new)
    rows = torch.cat([points, features], dim=1)
    for i in range(3):
        rows = torch.relu(layer(state, f"sa3.mlp_convs.{i}", f"sa3.mlp_bns.{i}", rows))
    rows = rows.amax(dim=0, keepdim=True)
    for i in (1, 2):
        rows = torch.relu(layer(state, f"fc{i}", f"bn{i}", rows))
    expected = rows @ state["fc3.weight"].T + state["fc3.bias"]
    torch.testing.assert_close(model.classifier()(cloud[None]), expected, atol=1e-3, rtol=1e-3)


def test_dgcnn_gives_the_logits_of_its_definition(tmp_path: Path) -> None:
    """Edge by edge: the layers on (x_j - x_i, x_i) of the 20 nearest, max, and so on in feature space."""
    state = random_state(dgcnn_names())
    torch.save(state, tmp_path / "w.pth")
    model = bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING, num_points=48)
    cloud = 0.4 * torch.randn(48, 3, generator=torch.Generator().manual_seed(6))
    leaky = partial(torch.nn.functional.leaky_relu, negative_slope=0.2)
    features, stages = cloud, []
    for i in range(1, 5):
        near = torch.cdist(features, features).topk(20, largest=False).indices
        own = features[:, None].expand(-1, 20, -1)
        edges = torch.cat([features[near] - own, own], dim=2)
        rows = leaky(layer(state, f"conv{i}.0", f"conv{i}.1", edges.flatten(0, 1)))
        features = rows.view(48, 20, -1).amax(dim=1)
        stages.append(features)
    rows = leaky(layer(state, "conv5.0", "conv5.1", torch.cat(stages, dim=1)))
    rows = torch.cat([rows.amax(dim=0), rows.mean(dim=0)])[None]
    rows = leaky(layer(state, "linear2", "bn7", leaky(layer(state, "linear1", "bn6", rows))))
    expected = rows @ state["linear3.weight"].T + state["linear3.bias"]
    torch.testing.assert_close(model.classifier()(cloud[None]), expected, atol=1e-3, rtol=1e-3)


class OneCurveNet:
    """CurveNet's release on one cloud, step by step from a state dict; features are (N, C)."""

    def __init__(self, state: dict[str, Tensor], setting: str) -> None:
        self.state = state
        self.curves, self.length = {"default": (100, 5), "long": (10, 30)}[setting]

    def __call__(self, points: Tensor) -> Tensor:
        positions = self.positions(points, "lpfa.mlp.0")
        features = LEAKY(positions).amax(dim=1)
        for stage, (count, radius) in enumerate([(1024, 0.05), (1024, 0.05), (256, 0.1), (64, 0.2)], start=1):
            if len(points) > count:
                points, features = self.coarser(points, features, count, radius)
            for block in (1, 2):
                features = self.block(f"cic{stage}{block}", points, features)
        rows = torch.relu(layer(self.state, "conv0.0", "conv0.1", features))
        rows = torch.cat([rows.amax(dim=0), rows.mean(dim=0)])[None]
        rows = torch.relu(layer(self.state, "conv1", "bn1", rows))
        return rows @ self.state["conv2.weight"].T + self.state["conv2.bias"]

    def near(self, points: Tensor) -> Tensor:
        """The 21 nearest of each, itself first."""
        return torch.cdist(points, points).topk(21, largest=False).indices

    def positions(self, points: Tensor, place: str) -> Tensor:
        near = self.near(points)[:, :20]
        own = points[:, None].expand(-1, 20, -1)
        triples = torch.cat([own, points[near], points[near] - own], dim=2)
        return layer(self.state, f"{place}.0", f"{place}.1", triples.flatten(0, 1)).view(len(points), 20, -1)

    def coarser(self, points: Tensor, features: Tensor, count: int, radius: float) -> tuple[Tensor, Tensor]:
        chosen, distance = [0], torch.full((len(points),), torch.inf)
        while len(chosen) < count:
            distance = torch.minimum(distance, (points - points[chosen[-1]]).square().sum(dim=1))
            chosen.append(int(distance.argmax()))
        inside = [
            torch.nonzero((points - points[c]).square().sum(dim=1) <= radius**2)[:20, 0] for c in chosen
        ]
        return points[chosen], torch.stack([features[rows].amax(dim=0) for rows in inside])

    def block(self, place: str, points: Tensor, features: Tensor) -> Tensor:
        state = self.state
        x = LEAKY(layer(state, f"{place}.conv1.0", f"{place}.conv1.1", features))
        near = self.near(points)
        if f"{place}.curvegrouping.att.weight" in state:
            x = self.with_curves(place, x, near[:, 1:])
        edges = LEAKY(x[near[:, :20]] - x[:, None] + self.positions(points, f"{place}.lpfa.xyz2feature"))
        edges = LEAKY(layer(state, f"{place}.lpfa.mlp.0.0", f"{place}.lpfa.mlp.0.1", edges.flatten(0, 1)))
        x = edges.view(len(points), 20, -1).mean(dim=1)
        x = layer(state, f"{place}.conv2.0", f"{place}.conv2.1", x)
        if f"{place}.shortcut.0.weight" in state:
            features = layer(state, f"{place}.shortcut.0", f"{place}.shortcut.1", features)
        return LEAKY(x + features)

    def with_curves(self, place: str, x: Tensor, near: Tensor) -> Tensor:
        def matrix(name: str) -> Tensor:
            return self.state[f"{place}.{name}.weight"].flatten(1).T

        curves = self.walked(place, x, near)  # (S, L, C)
        weight = curves @ matrix("curveaggregation.line_conv_att")
        inter = (curves * weight.softmax(dim=1)).sum(dim=1) @ matrix("curveaggregation.conva")
        intra = (curves * weight.softmax(dim=0)).sum(dim=0) @ matrix("curveaggregation.convb")
        query = x @ matrix("curveaggregation.convc")
        learnt = torch.cat(
            [
                (query @ inter.T).softmax(dim=1) @ inter @ matrix("curveaggregation.convn"),
                (query @ intra.T).softmax(dim=1) @ intra @ matrix("curveaggregation.convl"),
            ],
            dim=1,
        )
        out = "curveaggregation.convd"
        return LEAKY(x + layer(self.state, f"{place}.{out}.0", f"{place}.{out}.1", learnt))

    def walked(self, place: str, x: Tensor, near: Tensor) -> Tensor:
        walk = f"{place}.curvegrouping.walk"
        score = (x @ self.state[f"{place}.curvegrouping.att.weight"].flatten(1).T).sigmoid()
        rows, at = x * score, score[:, 0].topk(self.curves).indices
        before, here, path = rows[at], rows[at], []
        for step in range(self.length):
            if step:
                both = torch.cat([here, before], dim=1)
                shares = layer(self.state, f"{walk}.momentum_mlp.0", f"{walk}.momentum_mlp.1", both)
                # The release holds them as (2, S), and reads that memory as (S, 2).
                shares = shares.softmax(dim=1).T.contiguous().view(self.curves, 2)
                before = shares[:, :1] * here + shares[:, 1:] * before
            around = rows[near[at]]  # (S, 20, C)
            asked = torch.cat([around, before[:, None].expand_as(around)], dim=2).flatten(0, 1)
            scores = layer(self.state, f"{walk}.agent_mlp.0", f"{walk}.agent_mlp.1", asked).view(-1, 20)
            if step:
                cosine = torch.cosine_similarity((here - before)[:, None], around - here[:, None], dim=2)
                scores = scores * (1 + cosine).clamp(0, 1)
            best = scores.argmax(dim=1)
            curve = torch.arange(self.curves)
            here, at = around[curve, best], near[at][curve, best]
            path.append(here)
        return torch.stack(path, dim=1)


LEAKY = partial(torch.nn.functional.leaky_relu, negative_slope=0.2)


@pytest.mark.parametrize("setting", ["default", "long"])
def test_curvenets_release_gives_the_logits_of_its_definition(setting: str, tmp_path: Path) -> None:
    state = random_state(curvenet_names(setting))
    torch.save(state, tmp_path / "w.pth")
    model = bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING)
    assert model.card.num_points == 1024
    clouds = torch.randn(2, 1024, 3, generator=torch.Generator().manual_seed(8))
    clouds = clouds / clouds.norm(dim=2, keepdim=True)
    expected = torch.cat([OneCurveNet(state, setting)(cloud) for cloud in clouds])
    torch.testing.assert_close(model.classifier()(clouds), expected, atol=1e-3, rtol=1e-3)


def test_unknown_names_are_refused_in_one_line(tmp_path: Path) -> None:
    torch.save({"encoder.weight": torch.zeros(3)}, tmp_path / "w.pth")
    with pytest.raises(InvalidFile, match="none of the known layouts"):
        bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING)


def test_a_missing_layer_is_named(tmp_path: Path) -> None:
    state = Sequential().state_dict()
    del state["mlp3.7.bias"]
    torch.save(state, tmp_path / "w.pth")
    with pytest.raises(InvalidFile, match=r"mlp3\.7\.bias is missing"):
        bring(str(tmp_path / "w.pth"), classes=CLASSES, smoothing=SMOOTHING)
