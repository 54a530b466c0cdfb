"""The user's model folder: NAME.json with its weights, program or graph beside it. `TPC_MODELS` says where."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from torch import nn

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue, unknown_name
from tpc_core.machinery.atomic import write_atomically
from tpc_core.models.brought.bring import bring, framed, freeze
from tpc_core.models.brought.digest import digest_of_answers
from tpc_core.models.brought.sources import ENDINGS, encoded, open_factory, open_program
from tpc_core.models.brought.tensors import decoded
from tpc_core.models.card import ModelCard
from tpc_core.models.precision import parse_variant
from tpc_core.models.store import (
    MAX_WEIGHTS_BYTES,
    Model,
    built,
    models_folder,
    shipped_names,
    users_names,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def add_model(name: str, source: str, *, replace: bool = False, **options: Any) -> Model:
    """Bring a network and keep it under a name; the options are those of `bring`."""
    check_name(name, replace=replace)
    model = bring(source, name=name, **options)
    keep_model(model, replace=replace)
    return model


def check_name(name: str, *, replace: bool = False) -> None:
    """Refuse a name that is no file name, or that something has already."""
    if not _NAME.fullmatch(name):
        raise InvalidValue(
            f"{name!r} is no name for a model; take letters, digits, dots and dashes, at most 64 of them"
        )
    if name in shipped_names():
        raise InvalidValue(f"{name} is a shipped checkpoint; choose another name")
    if name in users_names() and not replace:
        raise InvalidValue(
            f"there is a model called {name} already; add --replace to put this one in its place"
        )


def keep_model(model: Model, *, replace: bool = False) -> Path:
    """Write a brought model and its card into the user's folder; the path of the card."""
    card = model.card
    check_name(card.name, replace=replace)
    brought = card.brought
    assert brought is not None
    content = content_of(model)
    folder = models_folder()
    if replace:
        _delete(card.name)
    write_atomically(folder / f"{card.name}{ENDINGS[brought.format]}", content)
    text = json.dumps(card.model_dump(), indent=1)
    place = folder / f"{card.name}.json"
    write_atomically(place, f"{text}\n".encode())  # last: a card stands for a model that is whole
    return place


def content_of(model: Model) -> bytes:
    """The file that a brought model was read from, or is kept in: all of it but a factory's code."""
    card = model.card
    brought = card.brought
    assert brought is not None
    if brought.format in ("factory", "weights"):
        network = getattr(model.module, "network", model.module)
        content = encoded(network.state_dict())
    else:
        kept = _place(card, models_folder())
        content = read_bytes(kept if kept.is_file() else Path(brought.source), MAX_WEIGHTS_BYTES)
    if hashlib.sha256(content).hexdigest() != card.sha256:
        raise InvalidFile(f"{brought.source} changed while it was read; add it again")
    return content


def load_brought(card: ModelCard, folder: Path) -> Model:
    """A model of the user's folder."""
    path = _place(card, folder)
    return opened_again(card, read_bytes(path, MAX_WEIGHTS_BYTES), str(path))


def opened_again(card: ModelCard, content: bytes, source: str) -> Model:
    """A brought model from its card and its file, which must be the file that the card describes."""
    brought = card.brought
    assert brought is not None
    found = hashlib.sha256(content).hexdigest()
    if found != card.sha256:
        raise InvalidFile(
            f"{source} is not the file its card describes: its sha256 is {found[:12]}..., "
            f"the card says {card.sha256[:12]}..."
        )
    if brought.format == "weights":
        network = built(card, content, source)
    elif brought.format == "factory":
        network = _from_factory(card, content, source)
    else:
        network = open_program(brought.format, content, source).network
    if brought.format != "pt2":  # an exported program is in eval mode, and refuses to be told so
        network.eval()
    freeze(network)
    module = framed(network, brought.frame)
    if brought.answers is not None and digest_of_answers(module, card.num_points) != brought.answers:
        raise InvalidFile(
            f"{card.name} does not answer as it did when it was added, though its code is the same: it reads something "
            f"from outside, or a library was changed; `tpc models add {card.name} --replace` takes it as it is now"
        )
    return Model(card, module)


def _place(card: ModelCard, folder: Path) -> Path:
    assert card.brought is not None
    return folder / f"{parse_variant(card.name).checkpoint}{ENDINGS[card.brought.format]}"


def _from_factory(card: ModelCard, content: bytes, source: str) -> nn.Module:
    brought = card.brought
    assert brought is not None
    opened = open_factory(brought.source, decoded(content, source), brought.folder)
    if opened.code != brought.code:
        raise InvalidFile(
            f"the code of {brought.source} is not the one that was added as {card.name}: another network under the "
            f"same name; `tpc models add {card.name} --replace` takes the new one"
        )
    return opened.network


def remove_model(name: str) -> None:
    """Delete a model of the user's folder."""
    if name not in users_names():
        raise unknown_name("model of yours", name, users_names())
    _delete(name)


def _delete(name: str) -> None:
    # Only what a card of ours would have written: nothing else in that folder is touched.
    for ending in (".json", *sorted(set(ENDINGS.values()))):
        with contextlib.suppress(FileNotFoundError):
            (models_folder() / f"{name}{ending}").unlink()


__all__ = ["add_model", "check_name", "keep_model", "load_brought", "models_folder", "remove_model"]
