"""Weights of public PointNets promise to give the same logits in our PointNet."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidFile
from tpc_core.models import bring
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
    model = bring("pointnet", weights=tmp_path / "w.pth", classes=CLASSES, smoothing=SMOOTHING)
    points = 0.5 * torch.randn(4, 48, 3)
    with torch.no_grad():
        expected = network.eval()(points)
    torch.testing.assert_close(model.classifier()(points), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(model.module(points), expected, atol=1e-4, rtol=1e-4)


def test_unknown_names_are_refused_in_one_line(tmp_path: Path) -> None:
    torch.save({"encoder.weight": torch.zeros(3)}, tmp_path / "w.pth")
    with pytest.raises(InvalidFile, match="none of the known PointNet layouts"):
        bring("pointnet", weights=tmp_path / "w.pth", classes=CLASSES, smoothing=SMOOTHING)


def test_a_missing_layer_is_named(tmp_path: Path) -> None:
    state = Sequential().state_dict()
    del state["mlp3.7.bias"]
    torch.save(state, tmp_path / "w.pth")
    with pytest.raises(InvalidFile, match=r"mlp3\.7\.bias is missing"):
        bring("pointnet", weights=tmp_path / "w.pth", classes=CLASSES, smoothing=SMOOTHING)
