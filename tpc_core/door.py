"""Lazy packages: the public names of a package, each imported from its home when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


class Door(ModuleType):
    """A package whose public names are what its table says, whatever was imported before.

    After every import of a subpackage Python binds it in its parent, and a function of the same name, such as
    `tpc_core.certify`, would become a module.
    """

    _home: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__.get("_home", {}).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self._home and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._home})


def open_door(package: str, homes: Mapping[str, Sequence[str]]) -> None:
    """Make a package lazy: `homes` says which public names live in which module."""
    module = sys.modules[package]
    module.__dict__["_home"] = {name: home for home, names in homes.items() for name in names}
    module.__class__ = Door
