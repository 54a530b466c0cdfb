"""Your own network promises to work by dotted path, as a torch.export program and as TorchScript."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from tpc_core.errors import InvalidFile, InvalidValue, UnsupportedRequest
from tpc_core.models import bring
from tpc_core.smoothing import GroupSmoothing

SMOOTHING = GroupSmoothing("z-rotation")
MODULE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, points):
        return self.linear(points.amax(dim=1)), points

def make():
    return Net()

def make_nothing():
    return 3
"""


class Tiny(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, channels: Tensor) -> Tensor:
        logits: Tensor = self.linear(channels.amax(dim=2))
        return logits


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_net.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_net", None)


@pytest.mark.parametrize("source", ["my_net:make", "my_net.make"])
def test_a_factory_with_safetensors(package: Path, source: str) -> None:
    weights = {"linear.weight": torch.randn(4, 3), "linear.bias": torch.randn(4)}
    save_file(weights, package / "w.safetensors")
    model = bring(source, weights=package / "w.safetensors", classes=list("abcd"), smoothing=SMOOTHING)
    points = torch.randn(5, 9, 3)
    expected = points.amax(dim=1) @ weights["linear.weight"].T + weights["linear.bias"]
    torch.testing.assert_close(model.classifier()(points), expected)
    assert len(model.digest) == 64


def test_an_exported_program(tmp_path: Path) -> None:
    tiny = Tiny().eval()
    sizes = ({0: torch.export.Dim("clouds"), 2: torch.export.Dim("points")},)
    program = torch.export.export(tiny, (torch.randn(3, 3, 7),), dynamic_shapes=sizes)
    torch.export.save(program, tmp_path / "net.pt2")
    model = bring(
        str(tmp_path / "net.pt2"),
        classes=list("abcd"),
        smoothing=SMOOTHING,
        layout="channels-first",
        run_code=True,
    )
    points = torch.randn(6, 11, 3)
    torch.testing.assert_close(model.classifier()(points), tiny(points.transpose(1, 2)).detach())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_torchscript_file(tmp_path: Path) -> None:
    tiny = Tiny().eval()
    torch.jit.script(tiny).save(str(tmp_path / "net.ts"))
    model = bring(
        str(tmp_path / "net.ts"),
        classes=list("abcd"),
        smoothing=SMOOTHING,
        layout="channels-first",
        run_code=True,
    )
    points = torch.randn(6, 11, 3)
    torch.testing.assert_close(model.classifier()(points), tiny(points.transpose(1, 2)).detach())


def test_pickled_code_is_refused(package: Path) -> None:
    torch.save(Tiny(), package / "evil.pth")
    with pytest.raises(InvalidFile, match="pickled code is refused"):
        bring("my_net:make", weights=package / "evil.pth", classes=list("abcd"), smoothing=SMOOTHING)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("nothing_of_this_name:make", "cannot import"),
        ("my_net:absent", "has nothing called absent"),
        ("my_net:make_nothing", "not a torch module"),
        ("nonsense", "write a factory as package.module:make"),
    ],
)
def test_bad_factories_are_explained(package: Path, source: str, complaint: str) -> None:
    with pytest.raises(InvalidValue, match=complaint):
        bring(source, classes=list("abcd"), smoothing=SMOOTHING)


def test_a_wrong_number_of_classes_is_noticed_at_once(package: Path) -> None:
    with pytest.raises(InvalidValue, match="has 4 classes, and 3 names were given"):
        bring("my_net:make", classes=list("abc"), smoothing=SMOOTHING)


@pytest.mark.parametrize("suffix", [".pt2", ".ts", ".safetensors", ".pth"])
def test_garbage_files_are_refused(package: Path, suffix: str) -> None:
    path = package / f"garbage{suffix}"
    path.write_bytes(b"not a network")
    program = suffix in {".pt2", ".ts"}
    source, weights = (str(path), None) if program else ("my_net:make", path)
    with pytest.raises(InvalidFile):
        bring(source, weights=weights, classes=list("abcd"), smoothing=SMOOTHING, run_code=program)


@pytest.mark.parametrize("suffix", [".pt2", ".ts", ".jit", ".torchscript"])
def test_a_program_is_not_opened_without_being_told_to_run_it(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UnsupportedRequest, match="run_code=True"):
        bring(str(tmp_path / f"net{suffix}"), classes=list("abcd"), smoothing=SMOOTHING)
