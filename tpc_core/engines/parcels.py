"""Parcels between processes: plain data as it is, and models by a digest, so that each travels once."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections import OrderedDict
from typing import Any

from tpc_core.errors import InvalidValue, UnknownName
from tpc_core.models.store import Model, load_by_digest

KEPT = 16
"""Models that a worker holds."""


class Lacking(Exception):
    """A parcel names a model that is not here."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.models: dict[str, Model] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Model):
            return None
        key = key_of(obj)
        self.models[key] = obj
        return key, obj.digest, obj.name


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shelf: Shelf) -> None:
        super().__init__(file)
        self._shelf = shelf

    def persistent_load(self, pid: Any) -> Model:
        return self._shelf.find(*pid)


def key_of(model: Model) -> str:
    """The digest of all that a model is: not of its function alone, but of its names and its smoothing as well."""
    described = f"{model.digest}|{model.name}|{model.card.model_dump_json()}"
    return hashlib.sha256(described.encode()).hexdigest()


def pack(content: Any) -> tuple[bytes, dict[str, Model]]:
    """The parcel, and the models that it only names."""
    file = io.BytesIO()
    packer = _Packer(file)
    try:
        packer.dump(content)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidValue(f"this cannot travel to a worker process: {error}") from error
    return file.getvalue(), packer.models


def pack_model(model: Model) -> bytes:
    """A whole model, for a worker that lacks it."""
    try:
        return pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, RuntimeError) as error:
        raise InvalidValue(f"the model {model.name} cannot travel to a worker process: {error}") from error


class Shelf:
    """The models that a worker holds, the last used ones; the shipped ones are found on its own disk."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Model] = OrderedDict()

    def unpack(self, parcel: bytes) -> Any:
        """The content, or Lacking."""
        return _Unpacker(io.BytesIO(parcel), self).load()

    def put(self, key: str, content: bytes) -> None:
        """Take in a model that was sent; what it is, it says itself."""
        model = pickle.loads(content)
        if not isinstance(model, Model) or key_of(model) != key:
            raise InvalidValue(f"a worker asked for the model {key[:12]} and got another one")
        self._put(key, model)

    def find(self, key: str, digest: str, name: str) -> Model:
        """A model by its key, from here or from the disk, or Lacking."""
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
