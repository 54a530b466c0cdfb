"""Parcels between processes: plain data as it is, and models by a digest, so that each travels once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from tpc_core.engines.wire import CANNOT_TRAVEL, from_bytes, to_bytes
from tpc_core.errors import InvalidValue, TpcError, UnknownName
from tpc_core.models.card import ModelCard
from tpc_core.models.store import Model, load_by_digest

KEPT = 16
"""Models that a worker holds."""


class Lacking(Exception):
    """A parcel names a model that is not here."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def key_of(model: Model) -> str:
    """The digest of all that a model is: not of its function alone, but of its names and its smoothing as well."""
    described = f"{model.digest}|{model.name}|{model.card.model_dump_json()}"
    return hashlib.sha256(described.encode()).hexdigest()


def pack(content: Any) -> tuple[bytes, dict[str, Model]]:
    """The parcel, and the models that it only names."""
    models: dict[str, Model] = {}

    def name(part: Any) -> tuple[str, str, str] | None:
        if not isinstance(part, Model):
            return None
        key = key_of(part)
        models[key] = part
        return key, part.digest, part.name

    try:
        return to_bytes(content, name), models
    except CANNOT_TRAVEL as error:
        raise InvalidValue(f"this cannot be sent to a worker process: {error}") from error


def pack_model(model: Model) -> bytes:
    """A whole model, for a worker that lacks it: a brought one as its card and its file, which is opened there."""
    from tpc_core.models.brought.library import content_of

    brought = model.card.brought
    try:
        if brought is not None and brought.format != "memory":
            return to_bytes((model.card.model_dump_json(), content_of(model), model.precision))
        return to_bytes(model)
    except CANNOT_TRAVEL as error:
        raise InvalidValue(f"the model {model.name} cannot be sent to a worker process: {error}") from error


def _model_in(content: bytes) -> Model:
    from tpc_core.models.brought.library import opened_again

    sent = from_bytes(content)
    if isinstance(sent, Model):
        return sent
    card, file, precision = sent
    model = opened_again(ModelCard.model_validate_json(card), file, "what was sent")
    return replace(model, precision=precision)


class Shelf:
    """The models that a worker holds, the last used ones; the shipped ones are found on its own disk."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Model] = OrderedDict()
        self._refused: dict[str, InvalidValue] = {}

    def unpack(self, parcel: bytes) -> Any:
        """The content, or Lacking."""
        return from_bytes(parcel, lambda named: self.find(*named))

    def put(self, key: str, content: bytes) -> None:
        """Take in a model that was sent, if it is the one that was asked for; else whoever needs it is told why not."""
        try:
            model = _model_in(content)
            if key_of(model) != key:
                raise InvalidValue(f"a worker asked for the model {key[:12]} and got another one")
            self._put(key, model)
        except (TpcError, ImportError, AttributeError) as error:
            self._refused[key] = InvalidValue(
                f"a worker cannot open the model: {error}; the code of a network must be on every machine that runs it"
            )

    def find(self, key: str, digest: str, name: str) -> Model:
        """A model by its key, from here or from the disk, or Lacking."""
        if key in self._refused:
            raise self._refused.pop(key)
        if key not in self._models:
            try:
                model = load_by_digest(digest, name)
            except UnknownName:
                raise Lacking(key) from None
            if key_of(model) != key:  # the same function under other names, or another smoothing
                raise Lacking(key)
            self._put(key, model)
        self._models.move_to_end(key)
        return self._models[key]

    def _put(self, key: str, model: Model) -> None:
        self._models[key] = model
        while len(self._models) > KEPT:
            self._models.popitem(last=False)
