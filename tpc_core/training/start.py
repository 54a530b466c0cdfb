"""Where a training begins: a new network, the weights of a checkpoint, or a network that was brought."""

from __future__ import annotations

from torch import nn

from tpc_core.data import open_dataset
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.models.architectures import build
from tpc_core.models.brought.library import check_name
from tpc_core.models.card import Brought, ModelCard
from tpc_core.models.store import load_card, load_model, users_names
from tpc_core.smoothing import Smoothing
from tpc_core.training.clouds import Split
from tpc_core.training.config import Interval, TrainConfig

TRAINABLE = ("factory", "weights")
"""Formats of brought networks that are no finished programs."""


def starting_network(config: TrainConfig, classes: int) -> nn.Module:
    """The network before its first step, ready to be trained."""
    if brought_start(config) is not None:
        assert config.initial is not None
        module = load_model(config.initial).module
        for parameter in module.parameters():
            parameter.requires_grad_(True)
        return module
    module = build(config.architecture, classes=classes, **config.options)
    if config.initial is not None:
        module.load_state_dict(load_model(config.initial).module.state_dict())
    return module


def split_for(config: TrainConfig) -> Split:
    """The train split; for a brought network with the classes that it has."""
    split = open_dataset(config.dataset, "train")
    if brought_start(config) is None:
        return split
    assert config.initial is not None
    return split.matched(list(load_card(config.initial).classes))


def brought_start(config: TrainConfig) -> Brought | None:
    """How the brought network is described that a recipe starts from, once it is trained here."""
    if config.initial not in users_names():
        return None
    brought = load_card(config.initial).brought
    return None if brought is None else brought.model_copy(update={"trained": True})


def tuning_recipe(
    start: str,
    smoothing: Smoothing,
    *,
    name: str | None = None,
    data: str | None = None,
    epochs: int = 20,
    rate: float = 5e-4,
    interval: float = 0.0,
) -> TrainConfig:
    """The recipe that trains a brought network for a smoothing, or for boxes around its clouds."""
    card = load_card(start)
    _check(card)
    dataset = data or card.dataset
    if dataset == "unknown":
        raise InvalidValue(
            f"say on which data {start} is to be trained: --data NAME (`tpc data add` adds yours)"
        )
    objects = len(open_dataset(dataset, "train").matched(list(card.classes)))
    kind = smoothing.to_json()
    word = str(kind.get("transform") or kind.get("group") or kind["kind"]).replace("+", "-")
    called = name or f"{start}-{word}"
    check_name(called)
    return TrainConfig(
        name=called.lower(),
        dataset=dataset,
        points=card.num_points or 64,
        architecture=card.architecture,
        options=card.options,
        smoothing=kind,
        interval=Interval(eps=interval),
        epochs=epochs,
        warmup=min(1, epochs - 1),
        batch=min(64, max(2, objects // 4)),
        learning_rate=rate,
        ema=0.9 if objects < 2000 else 0.99,
        views=4,
        hold_out=10 if objects >= 200 else 0,
        measure_every=epochs,
        initial=start,
    )


def _check(card: ModelCard) -> None:
    if card.brought is None or card.name not in users_names():
        raise UnsupportedRequest(
            f"{card.name} is no model of yours; --from trains one that `tpc models add` brought"
        )
    if card.brought.format not in TRAINABLE:
        raise UnsupportedRequest(
            f"{card.name} is a finished program ({card.brought.format}) and cannot be trained; bring the network as a "
            "factory, package.module:make, with its weights"
        )
    if card.task != "classification":
        raise UnsupportedRequest(
            f"{card.name} labels points; only classifiers are trained from a brought network"
        )


__all__ = ["brought_start", "split_for", "starting_network", "tuning_recipe"]
