"""A model of your own promises to be one more model everywhere, the same function in every format it comes in."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.data.test_own_data import meshes
from tpc_core import Cloud, certify, load_object
from tpc_core.cli import main
from tpc_core.data.own import add_set
from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.models import add_model, bring, list_models, load_by_digest, load_model, remove_model
from tpc_core.models.brought import model_of
from tpc_core.models.brought.onnx_network import OnnxNetwork
from tpc_core.models.choose import fitting_models, model_for
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.training.advice import advice_for
from tpc_core.transforms import parse_transform
from tpc_core.verify import replay
from tpc_core.votes import Ballot, Voter

CODE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1))
        self.head = nn.Linear(64, 4)

    def forward(self, channels):
        features = self.points(channels).amax(dim=2)
        return self.head(features), features

def make():
    torch.manual_seed(3)
    return Net()
"""
ADD = ["--classes", "lamp,bed,chair,car"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty model folder, and a package of somebody's in the current folder."""
    (tmp_path / "strangers_net.py").write_text(CODE)
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("strangers_net", None)


def strangers_network(home: Path) -> nn.Module:
    sys.path.insert(0, str(home))
    try:
        import strangers_net
    finally:
        sys.path.remove(str(home))
    network: nn.Module = strangers_net.make().eval()
    return network


def script(network: nn.Module, path: Path) -> str:
    torch.jit.trace(network, torch.randn(2, 3, 9), check_trace=False).save(str(path))
    return str(path)


def onnx_file(network: nn.Module, path: Path) -> str:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    sizes = ({0: torch.export.Dim("clouds"), 2: torch.export.Dim("points")},)
    torch.onnx.export(
        network, (torch.randn(3, 3, 7),), path, dynamo=True, dynamic_shapes=sizes, external_data=False,
        verbose=False,
    )  # fmt: skip
    return str(path)


def votes_of(model: object, cloud: Cloud) -> list[list[int]]:
    voter = Voter(model, CoordinateSmoothing(0.2), seed=7, device=torch.device("cpu"))  # type: ignore[arg-type]
    (blocks,) = voter.cast([Ballot(cloud.points, "test", 0, 32 * 40)])
    return np.asarray(blocks).tolist()


def test_a_module_an_onnx_a_torchscript_and_a_pt2_file_cast_the_same_votes(home: Path) -> None:
    network = strangers_network(home)
    smoothing = CoordinateSmoothing(0.2)
    module = model_of(network, smoothing, classes=list("abcd"))
    scripted = bring(script(network, home / "net.ts"), run_code=True, smoothing=smoothing)
    graph = bring(onnx_file(network, home / "net.onnx"), smoothing=smoothing)
    cloud = load_object("gallery:lamp-1")
    sizes = ({0: torch.export.Dim("clouds"), 2: torch.export.Dim("points")},)
    exported = torch.export.export(network, (torch.randn(3, 3, 7),), dynamic_shapes=sizes)
    torch.export.save(exported, home / "net.pt2")
    program = bring(str(home / "net.pt2"), run_code=True, smoothing=smoothing)
    votes = [votes_of(model, cloud) for model in (module, scripted, graph, program)]
    differing = [int(np.abs(np.array(votes[0]) - np.array(other)).sum()) for other in votes[1:]]
    assert differing == [0, 0, 0]  # of 1,280 votes each
    assert np.array(votes[0]).sum() == 1280


def test_an_added_model_is_one_more_model_everywhere(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "add", "mine", "--from", "strangers_net:make", *ADD]) == 0
    said = capsys.readouterr().out
    assert "takes clouds as (B, 3, N)" in said
    assert "logits are item 0" in said
    assert [card.name for card in list_models()][-1] == "mine"
    certificate = home / "c.json"
    question = ["gallery:lamp-1", "-t", "z-taper", "-r", "0.05", "--model", "mine"]
    assert main(["certify", *question, "--out", str(certificate)]) in (0, 1)
    assert main(["verify", str(certificate), "--replay"]) in (0, 1)
    assert main(["attack", *question]) in (0, 1)
    assert main(["explain", str(certificate)]) in (0, 1)
    assert main(["models", "check"]) == 0
    assert main(["models", "show", "mine", "--json"]) == 0
    assert main(["models", "remove", "mine"]) == 0
    assert main(["models", "show", "mine"]) == 2


def test_a_shipped_model_stays_the_default(home: Path) -> None:
    add_model("aaa", "strangers_net:make", folder=home)
    assert model_for(parse_transform("z-taper")).name != "aaa"


def test_another_smoothing_is_a_word_behind_the_name(home: Path) -> None:
    add_model("mine", "strangers_net:make", folder=home)
    certificate = certify(load_model("mine@z-twist:20"), load_object("gallery:lamp-1"), "z-twist", 5)
    assert certificate.model.smoothing == {"kind": "parameter", "transform": "z-twist", "sigma": [20.0]}
    found = load_by_digest(certificate.model.digest, certificate.model.name)
    assert found.name == "mine@z-twist:20"
    assert replay(certificate, found)
    with pytest.raises(InvalidValue, match="as a smoothing"):
        load_model("mine@z-twist:much")


MANY_THINGS = """
import collections, enum, functools, logging, re
import torch
from torch import nn

log = logging.getLogger(__name__)
NAMES = {"lamp", "bed", "chair", "car"}
PATTERN = re.compile("a+b")
QUEUE = collections.deque([1.0, 2.0])

class Kind(enum.Enum):
    ONE = 1.0
    TWO = frozenset({"x", "y", "z"})

@functools.lru_cache
def scale(kind):
    log.debug("asked")
    return kind.value * QUEUE[0] * len(NAMES) * bool(PATTERN.match("ab"))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.kinds = {kind: {kind.name} for kind in Kind}

    def forward(self, points):
        from math import tau

        return tau * scale(Kind.ONE) * self.layer(points).amax(dim=1)

def make():
    torch.manual_seed(0)
    return Net().eval()
"""


def test_the_digest_of_a_network_is_the_same_in_every_process(home: Path) -> None:
    """Somebody else replays the certificate; the order of sets and the numbers of objects are others there."""
    (home / "strangers_net.py").write_text(MANY_THINGS)
    script = (
        "from strangers_net import make\nfrom tpc_core.models.brought import model_of\n"
        "from tpc_core.smoothing import CoordinateSmoothing\n"
        "network = make()\n"
        "for _ in range(2):\n    print(model_of(network, CoordinateSmoothing(0.1)).digest)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    said: list[str] = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        said += done.stdout.split()
    assert len(said) == 4
    assert len(set(said)) == 1


def test_a_network_that_saw_no_noise_gets_the_command_that_helps(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = add_model("mine", "strangers_net:make", classes=["lamp", "bed", "chair", "car"], folder=home).card
    twist = parse_transform("z-twist")
    advice = advice_for(card, twist)
    assert advice is not None
    assert "DATA" in advice.sentence
    monkeypatch.setenv("TPC_DATA_SETS", str(home / "sets"))
    add_set("objects", meshes(home / "objects", per_class=5))
    for smoothing, word in (("", "z-twist:20"), ("z-rotation:5", "z-rotation:5"), ("`rm`", "z-twist:20")):
        advice = advice_for(card, twist, smoothing)
        assert advice is not None
        assert advice.command == f"tpc train --from mine --data objects --smoothing {word}"
    assert main([*shlex.split(advice.command)[1:], "--epochs", "1", "--json"]) == 0
    assert advice_for(load_model("mine-z-twist").card, twist) is None
    script(strangers_network(home), home / "net.ts")
    capsys.readouterr()
    assert main(["models", "add", "finished", "--from", "net.ts", "--run-code"]) == 0
    said = capsys.readouterr().out
    assert "bring the network as a factory" in said
    assert "tpc train --from finished" not in said


def test_changed_code_is_another_network(home: Path) -> None:
    add_model("mine", "strangers_net:make", folder=home)
    (home / "strangers_net.py").write_text(CODE.replace("amax(dim=2)", "amin(dim=2)"))
    sys.modules.pop("strangers_net", None)
    shutil.rmtree(home / "__pycache__", ignore_errors=True)
    with pytest.raises(InvalidFile, match="another network under the same name"):
        load_model("mine")


def test_a_plain_module_and_an_array_take_three_lines(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = np.random.default_rng(0).normal(size=(64, 3))
    certificate = certify(strangers_network(home), points, "z-twist", 5, sigma=30)
    assert certificate.model.smoothing["sigma"] == [30.0]
    assert "takes clouds as (B, 3, N)" in caplog.text
    assert "scaled into the unit ball" in caplog.text
    with pytest.raises(InvalidValue, match="sigma=20"):
        certify(strangers_network(home), points, "z-twist", 5)


def test_a_function_without_weights_will_do() -> None:
    def heights(points: Tensor) -> Tensor:
        top = points[..., 2].amax(dim=1)
        return torch.stack([top, 0.2 - top], dim=1)

    certificate = certify(heights, load_object("gallery:lamp-1"), "z-rotation", 20, sigma=30)
    assert certificate.verdict == "certified"


@pytest.mark.parametrize(
    ("network", "complaint"),
    [
        (lambda points: torch.rand(len(points), 3), "differently each time"),
        (lambda points: points.amax(dim=1) - points.amax(), "depends on the others in its batch"),
        (lambda points: points.amax(dim=1) / 0, "NaN or infinity"),
        (lambda points: points.sum(), "logits of shape"),
    ],
)
def test_what_is_no_function_of_one_cloud_is_refused(network: object, complaint: str) -> None:
    with pytest.raises(InvalidValue, match=complaint):
        certify(network, load_object("gallery:lamp-1"), "z-twist", 5, sigma=20)  # type: ignore[arg-type]


@pytest.mark.parametrize("up", ["z", "y"])
@pytest.mark.parametrize("scale", ["ball", "cube"])
def test_axes_and_scale_are_part_of_the_function(home: Path, up: str, scale: str) -> None:
    model = bring("strangers_net:make", up=up, scale=scale, folder=home)  # type: ignore[arg-type]
    x, y, z = load_object("gallery:lamp-1").points.unbind(1)
    seen = torch.stack([x, y, z] if up == "z" else [x, z, -y], dim=0)
    if scale == "cube":
        low, high = seen.amin(dim=1, keepdim=True), seen.amax(dim=1, keepdim=True)
        seen = 2 * (seen - (low + high) / 2) / (high - low).max()
    expected = strangers_network(home)(seen[None])[0].detach()
    torch.testing.assert_close(model.classifier()(torch.stack([x, y, z], dim=1)[None]), expected)
    plain = bring("strangers_net:make", folder=home)
    assert (model.digest == plain.digest) == (up == "z" and scale == "ball")


def test_a_program_of_one_size_is_asked_in_that_size(home: Path) -> None:
    network = strangers_network(home)
    program = torch.export.export(network, (torch.randn(1, 3, 128),))
    torch.export.save(program, home / "net.pt2")
    model = add_model("fixed", str(home / "net.pt2"), run_code=True, num_points=128)
    assert model.card.brought is not None
    assert (model.card.brought.frame.batch, model.num_points) == (1, 128)
    clouds = torch.randn(5, 128, 3)
    expected = network(clouds.transpose(1, 2))[0].detach()
    torch.testing.assert_close(load_model("fixed").classifier()(clouds), expected)
    with pytest.raises(InvalidValue, match="128 points and no others"):
        load_model("fixed").classifier()(torch.randn(2, 64, 3))


# -- hostile versions: one sentence each -----------------------------------------------------------------------


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


def test_code_in_weights_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(strangers_network(home), home / "whole.pth")
    assert "pickled code is refused" in refused(["models", "add", "x", "--from", "whole.pth"], capsys)


def test_a_program_needs_consent_whatever_its_ending(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script(strangers_network(home), home / "net.pt")
    assert "--run-code" in refused(["models", "add", "x", "--from", "net.pt"], capsys)
    assert main(["models", "add", "x", "--from", "net.pt", "--run-code"]) == 0


def test_onnx_with_its_weights_elsewhere_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    onnx_file(strangers_network(home), home / "net.onnx")
    graph = onnx.load(home / "net.onnx")
    weight = graph.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    entry = weight.external_data.add()
    entry.key, entry.value = "location", "../../../etc/passwd"
    (home / "net.onnx").write_bytes(graph.SerializeToString())
    assert "keeps its weights in another file" in refused(
        ["models", "add", "x", "--from", "net.onnx"], capsys
    )
    (home / "net.onnx").write_bytes(b"not a graph")
    assert "not an ONNX file" in refused(["models", "add", "x", "--from", "net.onnx"], capsys)


LAZY = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, points):
        from .late import squeezed

        return squeezed(self.layer(points))


def make():
    torch.manual_seed(0)
    return Net()
"""


def test_code_that_a_network_imports_when_it_is_asked_is_part_of_its_digest(home: Path) -> None:
    package = home / "lazy_package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "nets.py").write_text(LAZY)
    (package / "late.py").write_text(
        "def squeezed(x):\n    import lazy_package.inner.deep as deep\n    return x.amax(dim=1) * deep.SIGN\n"
    )
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "deep.py").write_text("SIGN = 1.0\n")
    try:
        add_model("lazy", "lazy_package.nets:make", classes=list("abcd"), folder=home)
        load_model("lazy")
        load_model("lazy")  # what was imported meanwhile changes nothing
        (package / "inner" / "deep.py").write_text("SIGN = -1.0\n")
        with pytest.raises(InvalidFile, match="is not the one that was added"):
            load_model("lazy")
    finally:
        for name in [name for name in sys.modules if name.startswith("lazy_package")]:
            del sys.modules[name]


@pytest.mark.parametrize("place", ["node", "graph in a node", "default of an attribute"])
def test_onnx_with_weights_elsewhere_inside_a_function_is_refused(place: str) -> None:
    """A function of the file's own can hold tensors too, in places that no graph has."""
    from onnx import AttributeProto, TensorProto, helper

    outside = TensorProto(
        name="far", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL
    )
    entry = outside.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    constant = helper.make_node("Constant", [], ["c"])
    constant.attribute.append(AttributeProto(name="value", t=outside, type=AttributeProto.TENSOR))
    nodes, defaults = [constant, helper.make_node("Add", ["x", "c"], ["y"])], []
    if place == "graph in a node":
        ends = [helper.make_tensor_value_info("c", TensorProto.FLOAT, [1])]
        inner = helper.make_graph([constant], "inner", [], ends)
        nodes = [helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)]
    if place == "default of an attribute":
        nodes = [helper.make_node("Identity", ["x"], ["y"])]
        defaults = [AttributeProto(name="value", t=outside, type=AttributeProto.TENSOR)]
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["x"], ["y"], nodes, opset[:1], attribute_protos=defaults)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", "n", 3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("F", ["x"], ["y"], domain="own")], "g", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=opset, ir_version=9, functions=[function])
    with pytest.raises(InvalidFile, match="keeps its weights in another file"):
        OnnxNetwork(made.SerializeToString(), "net.onnx")


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "a\nb", "", "x" * 200, "`rm`"])
def test_names_of_classes_hold_no_markup(home: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match="is no name for a class"):
        bring("strangers_net:make", classes=["a", "b", "c", name], folder=home)


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "pointnet64-noise", "a" * 100, "x@bfloat16"])
def test_a_name_cannot_lead_out_of_the_folder(home: Path, name: str) -> None:
    with pytest.raises(InvalidValue):
        add_model(name, "strangers_net:make", folder=home)
    assert not (home / "models").exists()


def test_a_card_beside_weights_runs_no_code(home: Path) -> None:
    """Somebody sends a checkpoint whose card names a factory: by its path it must not be called."""
    add_model("mine", "strangers_net:make", folder=home)
    sent = home / "sent"
    shutil.copytree(home / "models", sent)
    with pytest.raises(InvalidFile, match="is a brought model"):
        load_model(str(sent / "mine.safetensors"))


def test_a_damaged_card_harms_no_other_model(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_model("good", "strangers_net:make", folder=home)
    (home / "models" / "bad.json").write_text(json.dumps({"name": "<b>"}))
    assert [card.name for card in list_models()][-1] == "good"
    assert main(["models", "check"]) == 1
    remove_model("bad")
    assert main(["models", "check"]) == 0


def test_a_brought_network_is_offered_under_the_smoothings_that_suit_a_transform(home: Path) -> None:
    add_model("mine", "strangers_net:make", classes=list("abcd"), folder=home)
    offered = {
        transform: [card.name for card, why in fitting_models(parse_transform(transform)) if why is None]
        for transform in ("z-twist", "z-rotation", "z-taper", "z-twist+z-rotation")
    }
    own = {transform: [name for name in names if "mine" in name] for transform, names in offered.items()}
    assert own["z-twist"] == ["mine@z-twist:20", "mine"]
    assert set(own["z-rotation"]) == {
        "mine",
        "mine@z-rotation:20",
        "mine@group:z-rotation",
        "mine@diffusion:15",
    }
    assert own["z-taper"] == ["mine"]
    assert own["z-twist+z-rotation"] == ["mine@z-twist+z-rotation:20,20", "mine"]
    for name in {name for names in own.values() for name in names}:
        assert load_model(name).name == name
    assert model_for(parse_transform("z-twist")).card.brought is None  # the default stays a shipped one


@pytest.mark.parametrize("code", ["import sys\nsys.exit(0)", "def make():\n    raise SystemExit(0)", "def make(x): ...",
                                  "raise ValueError('a\\nb')", "def make(:"])  # fmt: skip
def test_code_that_breaks_or_leaves_is_one_sentence(
    code: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "leaving_net.py").write_text(code)
    try:
        said = refused(["models", "add", "x", "--from", "leaving_net:make"], capsys)
    finally:
        sys.modules.pop("leaving_net", None)
    assert "failed: " in said
    assert "unforeseen" not in said


def test_tensors_without_a_shape_are_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("lpfa.mlp.0.0", "cic11.lpfa.xyz2feature.0", "cic42.conv2.0", "conv2")
    torch.save({f"{name}.weight": torch.zeros(()) for name in names}, home / "w.pth")
    assert "another shape" in refused(["models", "add", "x", "--from", "w.pth"], capsys)
