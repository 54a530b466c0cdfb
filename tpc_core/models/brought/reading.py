"""Read all that decides what a network in memory computes, as far as it can be seen from outside.

Values are said in full; functions, classes, modules and objects get a number when they are first met and are read in
turn, so that nothing is too deep, and a circle is no trap.
"""

from __future__ import annotations

import builtins
import contextvars
import functools
import hashlib
import inspect
import random
import re
import sys
import weakref
from argparse import Namespace
from array import array
from collections import deque
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from threading import local
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tpc_core.models.brought.own_code import OTHERS, is_installed

INLINE = 20
"""Lists inside lists that are said in place; what lies deeper gets a number."""
_LIBRARIES = OTHERS | sys.stdlib_module_names
_TORCHS_OWN = frozenset({*vars(nn.Module()), "training"})
"""What every module holds: its weights, buffers and layers are read by name, and its hooks apart."""
_MANGLED = re.compile(r"\.?___torch_mangle_\d+")
"""What torch puts into the name of a class that was compiled before: other in every process."""
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_EVERYBODYS_HOOKS = ("_global_forward_pre_hooks", "_global_forward_hooks")
_NOTHING: tuple[object, ...] = (inspect.Parameter.empty, NotImplemented, Ellipsis, None)
_PLAIN = (str, int, float, bool, bytes, complex, range, Fraction, Decimal, torch.dtype, torch.device)
"""Kinds whose words say all that they are, in every process alike."""
_CONTAINERS = (list, tuple, deque, dict, MappingProxyType, set, frozenset)
_VALUES = (list, tuple, deque, dict, set, frozenset, str, int, float, bytes)
_ARRAYS = (Tensor, nn.Parameter, np.ndarray)
_READ_OF_LIBRARIES = ("tpc_core.", "torch.distributions.")
"""Whose objects are settings: models that vote together, noise, a prior."""
_RANDOM = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState, torch.Generator)
"""What is other after every use; a network that asks it is refused anyway."""


class Reading:
    """A sha256 that grows while things are read into it."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._numbers: dict[Any, int] = {}
        self._held: list[Any] = []
        self._waiting: deque[Any] = deque()

    def say(self, words: str | bytes) -> None:
        """One piece, with its length: two pieces are not one long one."""
        data = words.encode("utf-8", "surrogatepass") if isinstance(words, str) else words
        self._whole.update(f"{len(data)}:".encode() + data)

    def digest(self) -> str:
        """The sha256 of everything that was read."""
        return self._whole.hexdigest()

    def read(self, thing: Any) -> None:
        """A thing, and everything that it leads to."""
        self._put(thing, 0)
        self._go_on()

    def read_settings(self, network: nn.Module) -> None:
        """What the layers of a network hold beside stored weights."""
        self._settings(network)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting:
            self._open(self._waiting.popleft())

    def _put(self, thing: Any, depth: int) -> None:
        """Say a value in full, or the number of a thing whose turn comes later."""
        if thing is None or any(thing is item for item in _NOTHING):
            self.say(repr(thing))
        elif type(thing) in _PLAIN or isinstance(thing, PurePath):
            self.say(f"{type(thing).__name__} {thing!r}")
        elif isinstance(thing, Tensor | np.ndarray | np.generic):
            self._array(thing)
        elif isinstance(thing, slice):
            self._put((thing.start, thing.stop, thing.step), depth)
        elif isinstance(thing, bytearray | memoryview | array):
            self.say(bytes(thing))
        elif isinstance(thing, MethodType):
            self._put((thing.__func__, thing.__self__), depth)
        elif isinstance(thing, staticmethod | classmethod):
            self._put(thing.__func__, depth)
        elif isinstance(thing, functools.partial):
            self._put((thing.func, thing.args, thing.keywords), depth)
        elif isinstance(thing, weakref.ReferenceType):
            self._put(thing(), depth)
        elif isinstance(thing, contextvars.ContextVar):
            self._put(thing.get(None), depth)
        elif isinstance(thing, property):
            self._put(thing.fget, depth)
        elif isinstance(thing, functools.cached_property):
            self._put(thing.func, depth)
        elif type(thing) in _CONTAINERS and depth < INLINE:
            self._items(thing, depth + 1)
        elif not isinstance(thing, ModuleType):
            self._number(id(thing), thing)
        else:
            self.say(thing.__name__)

    def _number(self, key: Any, thing: Any) -> None:
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._held.append(thing)  # held, so that no other thing gets its identity
            self._waiting.append(thing)
        self.say(f"number {self._numbers[key]}")

    def _items(self, thing: Any, depth: int) -> None:
        self.say(f"{type(thing).__name__} {len(thing)}")
        if isinstance(thing, set | frozenset):
            for one in sorted(_alone(item) for item in thing):
                self.say(one)
        elif isinstance(thing, dict | MappingProxyType):
            for key, value in thing.items():
                self._put(key, depth)
                self._put(value, depth)
        else:
            for item in thing:
                self._put(item, depth)

    def _named(self, things: dict[str, Any]) -> None:
        for name in sorted(things, key=str):
            self.say(str(name))
            self._put(things[name], 0)

    def _array(self, thing: Any) -> None:
        if type(thing) not in _ARRAYS and not isinstance(thing, np.generic):
            self._put(type(thing), 0)
        if not isinstance(thing, Tensor):
            values = np.asarray(thing)
            self.say(f"{values.dtype}{values.shape}")
            if values.dtype.hasobject:
                self._put(values.tolist(), 0)
            else:
                self.say(values.tobytes())
            return
        self.say(f"{thing.dtype}{tuple(thing.shape)}")
        plain = thing.detach()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        if plain.is_quantized:
            plain = plain.dequantize()
        bits = plain.cpu().contiguous().reshape(-1).resolve_conj().resolve_neg().view(torch.uint8)
        self.say(bits.numpy().tobytes())
        self._named(dict(getattr(thing, "__dict__", {})))

    def _open(self, thing: Any) -> None:
        """Read a thing whose turn has come."""
        if type(thing) in _CONTAINERS:
            self._items(thing, 1)
        elif isinstance(thing, _Used):
            self._module(thing)
        elif isinstance(thing, nn.Module):
            self._network(thing)
        elif isinstance(thing, FunctionType):
            self._function(thing)
        elif isinstance(thing, type):
            self._kind(thing)
        elif hasattr(thing, "__wrapped__") and callable(thing):
            self.say(type(thing).__qualname__)
            self._put(thing.__wrapped__, 0)
        elif isinstance(thing, torch.jit.ScriptFunction):
            self.say(_MANGLED.sub("", str(thing.inlined_graph)))
        elif isinstance(thing, Enum):
            self.say(f"{type(thing).__qualname__}.{thing.name}")
            self._put(thing.value, 0)
            self._put(type(thing), 0)
        else:
            self._object(thing)

    def _network(self, network: nn.Module) -> None:
        state = network.state_dict()
        for name in state:
            self.say(name)
            self._put(state[name], 0)
        for kind in sorted(
            {type(module) for module in network.modules()}, key=lambda kind: kind.__qualname__
        ):
            self._put(kind, 0)
        for name in _EVERYBODYS_HOOKS:
            for hook in getattr(nn.modules.module, name, {}).values():
                self._put(hook, 0)
        self._settings(network)

    def _settings(self, network: nn.Module) -> None:
        """Buffers that are not stored, plain values that were set, and hooks."""
        stored = set(network.state_dict())
        self._named({name: buffer for name, buffer in network.named_buffers() if name not in stored})
        for name, module in network.named_modules():
            self._numbers.setdefault(id(module), len(self._numbers))
            self._held.append(module)
            self.say(name)
            self._named({key: value for key, value in vars(module).items() if key not in _TORCHS_OWN})
            for kind in _HOOKS:
                self._put(list(getattr(module, kind, {}).values()), 0)
            if isinstance(module, torch.jit.ScriptModule):
                self.say(_MANGLED.sub("", module._c.dump_to_str(True, True, False)))

    def _function(self, function: FunctionType) -> None:
        self.say(_text(function))
        if _is_library(str(function.__module__)):
            return
        names: set[str] = set()
        for code in _codes(function.__code__):
            self.say(code.co_code)
            # Constants count of themselves: a function that was never in a file has no text.
            self._put([c for c in code.co_consts if not isinstance(c, CodeType)], 0)
            self._put([*code.co_names, *code.co_varnames], 0)
            names |= set(code.co_names)
        known = {**vars(builtins), **function.__globals__}
        for name in sorted(names & known.keys()):
            self.say(name)
            self._used(known[name], frozenset(names))
        cells = [_in_cell(cell) for cell in function.__closure__ or ()]
        self._put([function.__defaults__, function.__kwdefaults__, cells], 0)
        self._named(vars(function))

    def _used(self, value: Any, names: frozenset[str]) -> None:
        """What a function calls by a name; of a module, what the function may ask it for."""
        if isinstance(value, ModuleType):
            self._number((id(value), names), _Used(value, names))
        else:
            self._put(value, 0)

    def _module(self, used: _Used) -> None:
        self.say(used.module.__name__)
        held = vars(used.module)
        library = _is_library(used.module.__name__)
        for name in sorted(used.names & held.keys()):
            value = held[name]
            if library and not (isinstance(value, ModuleType) or _is_strange(value)):
                continue
            self.say(name)
            self._used(value, used.names)

    def _kind(self, kind: type) -> None:
        """A class: its text, and its functions and values with those of the classes that it builds on."""
        self.say(_text(kind))
        for base in kind.__mro__:
            library = _is_library(base.__module__)
            for name, value in sorted(vars(base).items()):
                plain = getattr(value, "__func__", getattr(value, "fget", value))
                if library and not (isinstance(plain, FunctionType) and _is_strange(plain)):
                    continue
                if isinstance(plain, FunctionType) or not name.startswith(("__", "_abc_")):
                    self.say(name)
                    self._put(value, 0)

    def _object(self, thing: Any) -> None:
        """What an object holds: in its dictionary, in slots, in itself; of a library's, what it would be copied by."""
        kind = type(thing)
        self._put(kind, 0)
        if isinstance(thing, (*_RANDOM, local)):  # what a thread keeps for itself is no setting
            return
        if kind.__module__.startswith(_READ_OF_LIBRARIES):
            made_when_asked = {
                n for n in dir(kind) if isinstance(getattr(kind, n, None), functools.cached_property)
            }
            self._named({n: value for n, value in _fields(thing).items() if n not in made_when_asked})
        elif isinstance(thing, Namespace | SimpleNamespace) or not _is_library(kind.__module__):
            plain: Any = next((base for base in _VALUES if isinstance(thing, base)), None)
            if plain is not None:
                self._put(plain(thing), 0)
            self._named(_fields(thing))
        elif kind.__module__.partition(".")[0] not in OTHERS:
            try:
                parts = thing.__reduce_ex__(4)
            except Exception:  # a lock, an open file: nothing that could be read again
                return
            if isinstance(parts, tuple):
                self._put(
                    [
                        list(part) if i in (3, 4) and part is not None else part
                        for i, part in enumerate(parts)
                    ],
                    0,
                )
            else:
                self.say(str(parts))


class _Used:
    """A module, and the names that a function may ask it for."""

    def __init__(self, module: ModuleType, names: frozenset[str]) -> None:
        self.module = module
        self.names = names


def _alone(thing: Any) -> str:
    reading = Reading()
    reading.read(thing)
    return reading.digest()


def _fields(thing: Any) -> dict[str, Any]:
    """What an object holds, in its dictionary or in slots."""
    slots = [name for kind in type(thing).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
    held = {name: getattr(thing, name) for name in slots if name != "__weakref__" and hasattr(thing, name)}
    return {**held, **getattr(thing, "__dict__", {})}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _codes(code: CodeType) -> list[CodeType]:
    """The code of a function, and of the functions that are written inside it."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return [code, *(deeper for part in inner for deeper in _codes(part))]


def _in_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that was not bound yet
        return None


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES or module == "builtins" or is_installed(module)


def _is_strange(value: Any) -> bool:
    """Whether something that stands in a library comes from elsewhere: somebody put it there."""
    home = getattr(value, "__module__", None)
    return isinstance(value, FunctionType | type) and isinstance(home, str) and not _is_library(home)


def _text(thing: Any) -> str:
    name = f"{thing.__module__}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"
    if str(thing.__module__).partition(".")[0] in _LIBRARIES:
        return name
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return name
