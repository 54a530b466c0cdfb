"""A network that is not what it looks like gets no certificate of what it looks like."""

from __future__ import annotations

import argparse
import functools
import importlib
import operator
import shutil
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tpc_core import Model, Options, certify, load_model, load_object
from tpc_core.errors import InvalidFile, InvalidValue, UnsupportedRequest
from tpc_core.models import add_model
from tpc_core.models.brought import model_of
from tpc_core.models.pointnet import PointNet
from tpc_core.smoothing import CoordinateSmoothing

CHAIR = load_object("gallery:chair-1", points=48)
CERTAIN = Options(proof="certain")


def filled(network: PointNet) -> PointNet:
    """The network with the weights of a shipped checkpoint."""
    network.load_state_dict(load_model("pointnet64-noise").module.state_dict())
    return network.eval()


# -- what reads the weights must not pass over the code ------------------------------------------------------------


class Airplanes(PointNet):
    """The weights of a good network, and code that answers airplane to everything."""

    def forward(self, points: Tensor) -> Tensor:
        return super().forward(points) + 1_000 * nn.functional.one_hot(torch.tensor(0), 40)


class AirplanesOnly(nn.Module):
    """A layer in the place of another."""

    def forward(self, features: Tensor) -> Tensor:
        return 1_000 * torch.ones_like(features)


def _by_class() -> nn.Module:
    return filled(Airplanes(40))


def _by_hook() -> nn.Module:
    network = filled(PointNet(40))
    airplane = 1_000 * nn.functional.one_hot(torch.tensor(0), 40)
    network.register_forward_hook(lambda _module, _inputs, logits: logits + airplane)
    return network


def _by_method() -> nn.Module:
    network = filled(PointNet(40))
    network.forward = lambda points: 1_000.0 * nn.functional.one_hot(torch.zeros(len(points)).long(), 40)  # type: ignore[method-assign]
    return network


def _by_layer() -> nn.Module:
    """The dropout does nothing in eval mode, and is left out wherever weights are folded."""
    network = filled(PointNet(40))
    with torch.no_grad():
        network.head.output.weight[0].abs_()
    network.head.dropout = AirplanesOnly()  # type: ignore[assignment]
    return network


def _by_compiled_code() -> nn.Module:
    """What a compiler left to be called in the place of `forward`."""
    network = filled(PointNet(40))
    network.head.output._compiled_call_impl = lambda rows: (
        1_000.0 * nn.functional.one_hot(torch.zeros(len(rows)).long(), 40)
    )
    return network


class Deaf(nn.Parameter):
    """Weights whose products are all zero."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = super().__torch_function__(func, types, args, kwargs or {})
        return torch.zeros_like(out) if func is nn.functional.linear else out


def _by_strange_weights() -> nn.Module:
    network = filled(PointNet(40))
    network.head.output.weight = Deaf(network.head.output.weight.detach())
    return network


DECEIVING: dict[str, Callable[[], nn.Module]] = {
    "a class of its own": _by_class,
    "a hook": _by_hook,
    "a method put over ours": _by_method,
    "another layer in the place of the dropout": _by_layer,
    "compiled code in the place of a layer's": _by_compiled_code,
    "weights with code of their own": _by_strange_weights,
}


@pytest.mark.parametrize("how", DECEIVING)
def test_a_certain_proof_is_refused_to_a_network_with_code_of_its_own(how: str) -> None:
    with pytest.raises(UnsupportedRequest, match="of its own"):
        certify(DECEIVING[how](), CHAIR, "z-taper", 0.1, CERTAIN)


@pytest.mark.parametrize("how", DECEIVING)
def test_votes_are_those_of_the_network_and_not_of_its_weights(how: str) -> None:
    network = DECEIVING[how]()
    model: Model = model_of(network, CoordinateSmoothing(0.1))
    clouds = CHAIR.points.expand(3, -1, -1)
    with torch.no_grad():
        expected = network(clouds)
    torch.testing.assert_close(model.classifier()(clouds), expected)
    assert certify(model, CHAIR, "z-taper", 0.05).prediction == model.classes[int(expected[0].argmax())]


class Wrapped:
    """Passes on all that a model has, and answers airplane to everything."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def classifier(self, device: str = "cpu") -> Callable[[Tensor], Tensor]:
        return lambda clouds: 1_000.0 * nn.functional.one_hot(torch.zeros(len(clouds)).long(), 40)


class Derived40(Model):
    """The same as a class that builds on ours."""

    def classifier(self, device: Any = "cpu") -> Callable[[Tensor], Tensor]:
        return Wrapped(self).classifier()


def test_a_certain_proof_is_about_what_answers_and_not_about_what_a_wrapper_passes_on() -> None:
    plain = load_model("pointnet64-noise")
    for model in (Wrapped(plain), Derived40(plain.card, plain.module)):
        assert certify(model, CHAIR, "z-taper", 0.05).prediction == "airplane"
        with pytest.raises(UnsupportedRequest, match="plain float32 network"):
            certify(model, CHAIR, "z-taper", 0.05, CERTAIN)


# -- the digest is that of what votes ------------------------------------------------------------------------------


def _trained_on(module: nn.Module) -> None:
    with torch.no_grad():
        module.head.output.bias[0] += 1_000  # type: ignore[union-attr, index, operator]


@pytest.mark.parametrize("change", [_trained_on, nn.Module.train])
@pytest.mark.parametrize("proof", ["smoothed", "certain"])
def test_a_network_that_was_changed_since_it_was_loaded_is_refused(
    change: Callable[[nn.Module], object], proof: str
) -> None:
    """Its votes would be those of other weights, in a certificate with the digest of a shipped checkpoint."""
    model = load_model("pointnet64-noise")
    change(model.module)
    with pytest.raises(InvalidValue, match="not the one any more"):
        certify(model, CHAIR, "z-taper", 0.05, Options(proof=proof))  # type: ignore[arg-type]


def test_a_network_in_memory_that_was_changed_since_is_refused() -> None:
    network = filled(PointNet(40))
    model = model_of(network, CoordinateSmoothing(0.1))
    assert certify(model, CHAIR, "z-taper", 0.05).verdict == "certified"
    _trained_on(network)
    with pytest.raises(InvalidValue, match="not the one any more"):
        certify(model, CHAIR, "z-taper", 0.05)
    assert certify(network, CHAIR, "z-taper", 0.05, sigma=0.1).prediction == "airplane"


def test_a_plain_network_of_ours_is_still_proved() -> None:
    assert certify(filled(PointNet(40)), CHAIR, "z-taper", 0.1, CERTAIN).verdict == "certified"


# -- a function of one cloud, or nothing ---------------------------------------------------------------------------


class Remembering(nn.Module):
    """Its answers drift with what it was asked before, each time by less than a check of the answers would see."""

    level: Tensor

    def __init__(self, counting: bool) -> None:
        super().__init__()
        self.counting, self.calls = counting, 0
        self.register_buffer("level", torch.zeros(()), persistent=False)

    def forward(self, points: Tensor) -> Tensor:
        self.calls += self.counting
        if not self.counting:
            self.level += 1e-4 * points.mean()
        top = points[..., 2].amax(dim=1)
        return torch.stack([top, 0.2 - top + self.level + 1e-5 * self.calls], dim=1)


@pytest.mark.parametrize("counting", [True, False])
def test_a_network_with_a_memory_is_refused(counting: bool) -> None:
    with pytest.raises(InvalidValue, match="from one call to the next"):
        certify(Remembering(counting).eval(), CHAIR, "z-taper", 0.1, sigma=0.1)


class Listing(nn.Module):
    """A memory that is no number and no tensor: a list, a dictionary, a tensor that is no buffer."""

    def __init__(self, memory: Any) -> None:
        super().__init__()
        self.__dict__["memory"] = memory

    def forward(self, points: Tensor) -> Tensor:
        return _remembering(points, self.memory)


def _remembering(points: Tensor, memory: Any) -> Tensor:
    if isinstance(memory, list):
        memory.append(0)
        calls: float | Tensor = float(len(memory))
    elif isinstance(memory, dict):
        memory["calls"] = calls = memory.get("calls", 0.0) + 1
    else:
        calls = memory.add_(1)
    top = points[..., 2].amax(dim=1)
    return torch.stack([top, 0.2 - top + 1e-5 * calls], dim=1)


MEMORY: dict[str, float] = {}


def _global_memory(points: Tensor) -> Tensor:
    return _remembering(points, MEMORY)


class Called:
    """A plain object that is called."""

    def __init__(self) -> None:
        self.memory: list[int] = []

    def __call__(self, points: Tensor) -> Tensor:
        return _remembering(points, self.memory)


REMEMBERING: dict[str, Callable[[], Any]] = {
    "a list": lambda: Listing([]).eval(),
    "a dictionary": lambda: Listing({}).eval(),
    "a tensor that is no buffer": lambda: Listing(torch.zeros(())).eval(),
    "what a function closes over": lambda: functools.partial(_remembering, memory=[]),
    "a global": lambda: _global_memory,
    "an object that is called": Called,
}


@pytest.mark.parametrize("what", REMEMBERING)
def test_a_memory_of_any_kind_is_refused(what: str) -> None:
    with pytest.raises(InvalidValue, match="from one call to the next"):
        certify(REMEMBERING[what](), CHAIR, "z-taper", 0.1, sigma=0.1)


class Aroused(nn.Module):
    """It begins to remember where the noise moves a point far out, which no trial does."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, points: Tensor) -> Tensor:
        self.count += bool(points.abs().max() > 1.1)
        top = points[..., 2].amax(dim=1)
        return torch.stack([top, 0.2 - top + 1e-3 * self.count], dim=1)


def test_a_memory_that_shows_while_votes_are_cast_gets_no_certificate() -> None:
    with pytest.raises(InvalidValue, match="from one call to the next"):
        certify(Aroused().eval(), CHAIR, "z-taper", 0.1, sigma=0.3)


def test_a_table_that_is_made_in_the_first_call_is_no_memory() -> None:
    tables: dict[int, Tensor] = {}

    def by_table(points: Tensor) -> Tensor:
        weights = tables.setdefault(points.shape[1], torch.linspace(1, 2, points.shape[1]))
        top = (points[..., 2] * weights).amax(dim=1)
        return torch.stack([top, 0.2 - top], dim=1)

    assert certify(by_table, CHAIR, "z-taper", 0.05, sigma=0.1).prediction == "class 0"


def test_a_network_that_looks_at_the_place_in_the_batch_is_refused() -> None:
    def by_place(points: Tensor) -> Tensor:
        place = torch.arange(len(points)) % 4 == 3
        return torch.stack([points[..., 2].amax(dim=1), place.float()], dim=1)

    with pytest.raises(InvalidValue, match="others in its batch"):
        certify(by_place, CHAIR, "z-taper", 0.1, sigma=0.1)


def test_a_layer_left_in_training_mode_is_put_into_eval_mode() -> None:
    """The network as a whole says that it is in eval mode; one BatchNorm in it would look at the whole batch."""
    network = filled(PointNet(40))
    network.head.hidden[1].train()
    model = model_of(network, CoordinateSmoothing(0.1))
    assert not any(layer.training for layer in model.module.modules())
    plain = model_of(filled(PointNet(40)), CoordinateSmoothing(0.1))
    torch.testing.assert_close(
        model.module(CHAIR.points.expand(2, -1, -1)), plain.module(CHAIR.points.expand(2, -1, -1))
    )


def test_nan_is_a_vote_for_no_class() -> None:
    """The largest of three NaNs is the first of them; a network that breaks under noise would be certified for it."""

    def broken(points: Tensor) -> Tensor:
        height = points[..., 2].amax(dim=1)
        logits = torch.stack([height - 9, height, height - 5], dim=1)
        return torch.where((height > 1.05)[:, None], torch.nan, logits)

    with pytest.raises(InvalidValue, match="NaN"):
        certify(broken, CHAIR, "z-taper", 0.1, sigma=0.3)


# -- the digest follows the function -------------------------------------------------------------------------------


def _closure(of: float) -> Callable[[Tensor], Tensor]:
    return lambda points: torch.stack([points[..., 2].amax(dim=1), of - points[..., 2].amax(dim=1)], dim=1)


class Setting(nn.Module):
    """What it answers hangs on a plain value and on a buffer that is not stored."""

    shift: Tensor

    def __init__(self, above: float = 0.2, shift: float = 0.0) -> None:
        super().__init__()
        self.above = above
        self.register_buffer("shift", torch.tensor(shift), persistent=False)

    def forward(self, points: Tensor) -> Tensor:
        top = points[..., 2].amax(dim=1)
        return torch.stack([top, self.above - top + self.shift], dim=1)


NETWORKS: dict[str, Callable[[float], object]] = {
    "what a function closes over": _closure,
    "a setting of a module": lambda value: Setting(above=value),
    "a buffer that is not stored": lambda value: Setting(shift=value),
    "what a partial function was given": lambda value: functools.partial(_by_argument, above=value),
    "a network that a function calls": lambda value: _calling(Setting(above=value)),
    "a setting with an underscore": lambda value: Held("_above", value),
    "a setting among arguments": lambda value: Held("options", argparse.Namespace(above=value)),
    "a setting in an object": lambda value: Held("options", Slotted(value)),
    "a number of numpy's": lambda value: Held("above", np.float32(value)),
    "a setting in a set": lambda value: Held("levels", frozenset({value})),
    "a hook": lambda value: _hooked(value),
    "a constant of code without a file": lambda value: _without_file(value),
    "a constant of traced code": lambda value: torch.jit.trace(Setting(above=value), torch.rand(2, 8, 3)),
    "a value beside the class that it builds on": lambda value: _with_global(value),
    "how a list is divided": lambda value: Held("widths", [[1], [2]] if value > 0.3 else [[1, 2]]),
    "the kind of a key": lambda value: Held("widths", {1 if value > 0.3 else "1": 2}),
    "a setting deep in objects": lambda value: Held("options", _nested(value, 6)),
    "a setting deep in lists": lambda value: Held("options", _listed(value, 12)),
    "a queue of the standard library": lambda value: Held("levels", deque([value])),
    "which item is taken": lambda value: Held("taken", operator.itemgetter(int(10 * value))),
    "a distribution of torch's": lambda value: Held("prior", torch.distributions.Normal(0.0, value)),
    "a smoothing of ours": lambda value: Held("noise", CoordinateSmoothing(value)),
    "a function that is remembered": lambda value: _cached(value),
    "a constant behind five functions": lambda value: _chained(value),
    "a value in a module": lambda value: _in_module(value),
    "traced code of a function": lambda value: torch.jit.trace(_closure(value), torch.rand(2, 8, 3)),
    "the classifiers of an ensemble": lambda value: _ensemble(value, ready=True),
    "the models of an ensemble": lambda value: _ensemble(value, ready=False),
    "a value of a module of helpers": lambda value: _helped("return above(x)", value),
    "a value that a helper reads": lambda value: _helped("return x * helpers.ABOVE", value),
    "a class that is a table of settings": lambda value: _set(Table, "ABOVE", value, lambda: Table.ABOVE),
    "a static function of a class": lambda value: _set(
        Table, "above", staticmethod(lambda: value), lambda: Table.above()
    ),
    "a member of an enumeration": lambda value: _set(Level.HIGH, "_value_", value, lambda: Level.HIGH.value),
    "what a function was given as an attribute": lambda value: _attribute(value),
    "what a helper remembers": lambda value: _remembered(value),
    "the twelfth function in a row": lambda value: _chain(value),
    "the thirtieth list in a list": lambda value: _deep(value),
    "a queue": lambda value: _asked_from(deque([value]), lambda held: held[0]),
    "an array": lambda value: _asked_from(array("d", [value]), lambda held: held[0]),
    "bytes that may change": lambda value: _asked_from(
        bytearray([int(10 * value)]), lambda held: held[0] / 10
    ),
    "keys that look alike": lambda value: _asked_from({1: value, "1": 0.6 - value}, lambda held: held[1]),
    "an attribute of a table": lambda value: _asked_from(
        _with_above(Lookup(), value), lambda held: held.above
    ),
    "an attribute of a number": lambda value: _asked_from(
        _with_above(Number(1), value), lambda held: held.above
    ),
    "an attribute of a tensor": lambda value: _asked_from(
        _with_above(torch.ones(1), value), lambda held: held.above
    ),
    "a function put into torch": lambda value: _patched(value),
    "a hook of every module": lambda value: _hook_of_all(value),
    "a compiled helper": lambda value: _compiled(value),
}


class Table:
    """Settings that no instance holds."""

    ABOVE = 0.2

    @staticmethod
    def above() -> float:
        return 0.2


class Level(Enum):
    """The same as a constant."""

    HIGH = 0.2


class Lookup(dict[str, float]):
    """A table that holds more than its items."""

    above: float


class Number(float):
    """A number that holds more than its value."""

    above: float


def _asked_from(held: Any, ask: Callable[[Any], Any]) -> Callable[[Tensor], Tensor]:
    return lambda points: _closure(float(ask(held)))(points)


def _with_above(thing: Any, value: float) -> Any:
    thing.above = value
    return thing


def _set(place: Any, name: str, value: object, ask: Callable[[], float]) -> Callable[[Tensor], Tensor]:
    setattr(place, name, value)
    return lambda points: _closure(ask())(points)


def _helped(line: str, value: float) -> object:
    helpers = ModuleType("strange_helpers")
    exec(f"ABOVE = {value}\ndef above(x):\n    return x * ABOVE\n", vars(helpers))
    names: dict[str, object] = {"torch": torch, "helpers": helpers, "above": vars(helpers)["above"]}
    exec(f"def net(points):\n    x = points.amax(dim=1) - points.amin(dim=1)\n    {line}", names)
    return names["net"]


def _attribute(value: float) -> Callable[[Tensor], Tensor]:
    def ask(points: Tensor) -> Tensor:
        return _closure(ask.above)(points)  # type: ignore[attr-defined]

    ask.above = value  # type: ignore[attr-defined]
    return ask


def _remembered(value: float) -> Callable[[Tensor], Tensor]:
    @functools.lru_cache
    def above() -> float:
        return value

    return lambda points: _closure(above())(points)


def _chain(value: float) -> object:
    names: dict[str, object] = {"torch": torch}
    for number in range(12):
        exec(f"def f{number}(points):\n    return f{number + 1}(points)", names)
    names["f12"] = _closure(value)
    return names["f0"]


def _deep(value: float) -> Callable[[Tensor], Tensor]:
    held: list[Any] = [value]
    for _ in range(30):
        held = [held]

    def innermost(of: Any) -> Any:
        return innermost(of[0]) if isinstance(of, list) else of

    return _asked_from(held, innermost)


def _patched(value: float) -> Callable[[Tensor], Tensor]:
    torch.strange_above = lambda: value  # type: ignore[attr-defined]
    return lambda points: _closure(torch.strange_above())(points)  # type: ignore[attr-defined]


def _hook_of_all(value: float) -> nn.Module:
    for key in list(nn.modules.module._global_forward_hooks):
        del nn.modules.module._global_forward_hooks[key]
    nn.modules.module.register_module_forward_hook(
        lambda module, _given, answer: answer * value if isinstance(module, Setting) else answer
    )
    return Setting()


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    nn.modules.module._global_forward_hooks.clear()
    vars(torch).pop("strange_above", None)


def _compiled(value: float) -> Callable[[Tensor], Tensor]:
    traced = torch.jit.trace(lambda top: torch.stack([top, value - top], dim=1), torch.rand(3))
    return lambda points: traced(points[..., 2].amax(dim=1))


class Held(Setting):
    """The same with a value of any kind."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__()
        setattr(self, name, value)


def _nested(value: object, depth: int) -> argparse.Namespace:
    return argparse.Namespace(inner=_nested(value, depth - 1) if depth else value)


def _listed(value: object, depth: int) -> list[object]:
    return [_listed(value, depth - 1) if depth else value]


def _cached(value: float) -> Callable[[Tensor], Tensor]:
    @functools.cache
    def above() -> float:
        return value

    return lambda points: _by_argument(points, above())


def _chained(value: float) -> Callable[[Tensor], Tensor]:
    def one() -> float:
        return value

    function = one
    for _ in range(5):
        function = functools.partial(_passing, function)  # type: ignore[assignment]
    return lambda points: _by_argument(points, function())


def _passing(function: Callable[[], float]) -> float:
    return function()


def _in_module(value: float) -> Callable[[Tensor], Tensor]:
    settings = ModuleType("strange_settings")
    settings.above = value  # type: ignore[attr-defined]
    names: dict[str, Any] = {"ask": _by_argument, "strange_settings": settings}
    exec("def net(points):\n    return ask(points, strange_settings.above)", names)
    network: Callable[[Tensor], Tensor] = names["net"]
    return network


def _ensemble(value: float, *, ready: bool) -> Callable[[Tensor], Tensor]:
    model = load_model("pointnet64-noise" if value > 0.3 else "pointnet64-plain")
    members: list[Any] = [model.classifier() if ready else model]

    def vote(points: Tensor) -> Tensor:
        answers = [(member if ready else member.classifier())(points) for member in members]
        return torch.stack(answers).mean(dim=0)

    return vote


class Slotted:
    """A plain object that holds a setting in a slot."""

    __slots__ = ("above",)

    def __init__(self, above: float) -> None:
        self.above = above


def _hooked(value: float) -> nn.Module:
    network = Setting()
    network.register_forward_hook(lambda _module, _given, answer: answer * value)
    return network


def _without_file(value: float) -> object:
    names: dict[str, object] = {"torch": torch}
    exec(
        "def net(points):\n"
        "    top = points[..., 2].amax(dim=1)\n"
        f"    return torch.stack([top, {value} - top], dim=1)",
        names,
    )
    return names["net"]


GLOBAL = 0.2


class Base(Setting):
    """It reads a value that no instance holds."""

    def forward(self, points: Tensor) -> Tensor:
        return super().forward(points) * GLOBAL


class Derived(Base):
    """Says nothing of its own."""


def _with_global(value: float) -> nn.Module:
    global GLOBAL
    GLOBAL = value
    return Derived()


def _by_argument(points: Tensor, above: float) -> Tensor:
    return Setting(above)(points)


def _calling(network: nn.Module) -> Callable[[Tensor], Tensor]:
    def ask(points: Tensor) -> Tensor:
        answer: Tensor = network(points)
        return answer

    return ask


@pytest.mark.parametrize("what", NETWORKS)
def test_another_function_has_another_digest(what: str) -> None:
    """Votes of the one must never go on as votes of the other."""
    smoothing = CoordinateSmoothing(0.1)
    digests = [
        model_of(NETWORKS[what](value), smoothing, name="net").digest  # type: ignore[arg-type]
        for value in (0.2, 0.4, 0.2)
    ]
    assert digests[0] == digests[2] != digests[1]


OUTSIDE = """
import os, pathlib
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(3, 4)

    def forward(self, points):
        sign = float(os.environ.get("STRANGE_SIGN", "1"))
        sign *= float((pathlib.Path(__file__).parent / "sign.txt").read_text())
        return sign * self.out(points.amax(dim=1))

def make():
    torch.manual_seed(0)
    return Net()
"""


@pytest.mark.parametrize("place", ["environment", "file", "library"])
def test_what_a_network_reads_from_outside_is_seen_by_its_answers(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code and its weights stay as they are; votes of before and after would be counted as of one function."""
    (tmp_path / "strange_outside.py").write_text(OUTSIDE)
    (tmp_path / "sign.txt").write_text("1")
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    try:
        before = add_model("strange", "strange_outside:make", folder=tmp_path)
        network = before.module
        digests = [model_of(network, CoordinateSmoothing(0.1), name="net").digest]
        assert load_model("strange").digest == before.digest
        if place == "environment":
            monkeypatch.setenv("STRANGE_SIGN", "-1")
        elif place == "file":
            (tmp_path / "sign.txt").write_text("-1")
        else:
            linear = torch.nn.functional.linear
            monkeypatch.setattr("torch.nn.functional.linear", lambda *given: -linear(*given))
        with pytest.raises(InvalidFile, match="does not answer as it did when it was added"):
            load_model("strange")
        digests.append(model_of(network, CoordinateSmoothing(0.1), name="net").digest)
        assert digests[0] != digests[1]
    finally:
        sys.modules.pop("strange_outside", None)


def test_a_helper_beside_the_factory_is_part_of_its_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class stays as it is and the weights as well; a function that it imports has changed."""
    (tmp_path / "strange_ops.py").write_text("def pool(rows):\n    return rows.amax(dim=1)\n")
    (tmp_path / "strange_factory.py").write_text(
        "import torch\nfrom strange_ops import pool\n\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.out = torch.nn.Linear(3, 4)\n\n"
        "    def forward(self, points):\n        return self.out(pool(points))\n\n"
        "def make():\n    torch.manual_seed(0)\n    return Net()\n"
    )
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))

    def forget() -> None:
        for name in ("strange_ops", "strange_factory"):
            sys.modules.pop(name, None)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        importlib.invalidate_caches()

    try:
        add_model("strange", "strange_factory:make", folder=tmp_path)
        forget()
        assert load_model("strange").name == "strange"
        forget()
        (tmp_path / "strange_ops.py").write_text("def pool(rows):\n    return rows.amin(dim=1)\n")
        with pytest.raises(InvalidFile, match="another network under the same name"):
            load_model("strange")
    finally:
        forget()
