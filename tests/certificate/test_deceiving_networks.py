"""A network that is not what it looks like gets no certificate of what it looks like."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tpc_core import Model, Options, certify, load_model, load_object
from tpc_core.errors import UnsupportedRequest
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


DECEIVING: dict[str, Callable[[], nn.Module]] = {
    "a class of its own": _by_class,
    "a hook": _by_hook,
    "a method put over ours": _by_method,
    "another layer in the place of the dropout": _by_layer,
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


def test_a_plain_network_of_ours_is_still_proved() -> None:
    assert certify(filled(PointNet(40)), CHAIR, "z-taper", 0.1, CERTAIN).verdict == "certified"
