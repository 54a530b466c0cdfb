"""What helps a network that was not trained under noise, in words and as a command."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.data.classes import match_classes
from tpc_core.data.own import own_names, read_set
from tpc_core.errors import TpcError
from tpc_core.models.card import ModelCard
from tpc_core.models.choose import suited_smoothings
from tpc_core.smoothing import parse_smoothing
from tpc_core.training.start import TRAINABLE
from tpc_core.transforms import Transform

ANY_DATA = "DATA"


@dataclass(frozen=True)
class Advice:
    """Why the votes of a network may be split, and the command that helps, if one does."""

    sentence: str
    command: str | None


def advice_for(card: ModelCard, transform: Transform | None = None, smoothing: str = "") -> Advice | None:
    """For a model that was not trained under noise: how to train it for a smoothing, or for what suits a transform."""
    if card.brought is None or card.noise_trained:
        return None
    name = card.name.partition("@")[0]
    why = f"{name} was not trained under noise, so its votes may be split and p_A small."
    if card.brought.format not in TRAINABLE or card.task != "classification":
        return Advice(
            f"{why} It cannot be trained as it is; bring the network as a factory, package.module:make, with its "
            "weights, and `tpc train --from` does that.",
            None,
        )
    word = _smoothing(card, transform, smoothing)
    data = _data(card)
    where = " Put the name of your data set for DATA; `tpc data add` makes one." if data == ANY_DATA else ""
    command = f"tpc train --from {name} --data {data}" + (f" --smoothing {word}" if word else "")
    return Advice(f"{why} This command trains it for that.{where}", command)


def _smoothing(card: ModelCard, transform: Transform | None, given: str) -> str:
    try:
        if given:
            parse_smoothing(given)
            return given
    except TpcError:
        pass
    return "" if transform is None else next(iter(suited_smoothings(card, transform)), "")


def _data(card: ModelCard) -> str:
    """The data set that its accuracy was measured on, or one of the user's that has objects of its classes."""
    if card.dataset != "unknown":
        return card.dataset
    for name in own_names():
        try:
            made = read_set(name)
        except TpcError:
            continue
        if made.train and match_classes(list(made.classes), list(card.classes)).pairs:
            return name
    return ANY_DATA
