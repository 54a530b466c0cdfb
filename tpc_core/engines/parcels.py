"""Parcels between processes: plain data as it is, and models by their digest, so that each travels once."""

from __future__ import annotations

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

    def __init__(self, digest: str) -> None:
        super().__init__(digest)
        self.digest = digest


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.models: dict[str, Model] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Model):
            return None
        self.models[obj.digest] = obj
        return obj.digest, obj.name


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shelf: Shelf) -> None:
        super().__init__(file)
        self._shelf = shelf

    def persistent_load(self, pid: Any) -> Model:
        digest, name = pid
        return self._shelf.find(digest, name)


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

    def put(self, digest: str, content: bytes) -> None:
        """Take in a model that was sent; what it is, it says itself."""
        model = pickle.loads(content)
        if not isinstance(model, Model) or model.digest != digest:
            raise InvalidValue(f"a worker asked for the model {digest[:12]} and got another one")
        self._put(digest, model)

    def find(self, digest: str, name: str) -> Model:
        """A model by its digest, or Lacking."""
        if digest not in self._models:
            try:
                self._put(digest, load_by_digest(digest, name))
            except UnknownName:
                raise Lacking(digest) from None
        self._models.move_to_end(digest)
        return self._models[digest]

    def _put(self, digest: str, model: Model) -> None:
        self._models[digest] = model
        while len(self._models) > KEPT:
            self._models.popitem(last=False)
