"""What identifies a brought network beside its stored weights: its settings and its code.

Other code, or the same code with another setting, is another function: votes of the one prove nothing of the other.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
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

from tpc_core.models.brought.own_code import OTHERS, is_installed, own_sources

_DEPTH = 3
"""How far into installed packages it is looked, from function to function or from object to object; plain data and the
user's own code are read to their ends."""

Seen = dict[int, Any]
"""Modules and functions that were read, by identity; they are held, so that no other gets their number."""

_TORCHS_OWN = frozenset({*vars(nn.Module()), "training"})
"""What every module holds: its weights, buffers and layers are read by name, and its hooks apart."""
_LIBRARIES = OTHERS | sys.stdlib_module_names
_MANGLED = re.compile(r"\.?___torch_mangle_\d+")
"""What torch puts into the name of a class that was compiled before: other in every process."""
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_SAID_IN_FULL = (
    str,
    int,
    float,
    bool,
    bytes,
    complex,
    range,
    slice,
    Enum,
    Fraction,
    Decimal,
    PurePath,
    torch.dtype,
    torch.device,
)
"""Kinds whose words say all that they are, in every process alike."""


def code_digest(network: nn.Module, dotted: str) -> str:
    """The sha256 of the source files that define a factory's network, and of what it set in the network beside weights.

    What these files import from their own package or folder is read as well (`own_sources`).
    """
    home, colon, _ = dotted.partition(":")
    homes = {type(module).__module__ for module in network.modules()}
    homes.add(home if colon else dotted.rpartition(".")[0])
    whole = hashlib.sha256()
    for name, source in sorted(own_sources(homes).items()):
        whole.update(f"{name}\n{source}\n".encode())
    for piece in _settings(network, {}, _DEPTH):
        whole.update(piece)
    return whole.hexdigest()


def digest_of_state(network: nn.Module | Any, extra: Sequence[str] = ()) -> str:
    """The sha256 of a network in memory, a module or a function: its weights, its settings and its source."""
    whole = hashlib.sha256("\n".join(extra).encode())
    for piece in _pieces(network, {}, _DEPTH):
        whole.update(piece)
    return whole.hexdigest()


def _pieces(thing: Any, seen: Seen, depth: int) -> Iterator[bytes]:
    """All that decides what a thing computes, as far as it can be seen from outside."""
    if thing is None or isinstance(thing, _SAID_IN_FULL):
        yield f"{thing!r};".encode()
    elif isinstance(thing, Tensor | np.ndarray | np.generic):
        array = _array(thing) if isinstance(thing, Tensor) else np.asarray(thing)
        yield f"{array.dtype}{array.shape}".encode() + array.tobytes()
    elif id(thing) in seen:
        yield f"number {list(seen).index(id(thing))};".encode()
    elif isinstance(thing, list | tuple | dict | MappingProxyType | set | frozenset):
        seen[id(thing)] = thing  # while it is read: it may hold itself
        yield from _members(thing, seen, depth)
        del seen[id(thing)]
    elif depth == 0:
        return
    elif isinstance(thing, ModuleType):
        yield thing.__name__.encode()
    elif isinstance(thing, functools.partial):
        yield from _pieces((thing.func, thing.args, thing.keywords), seen, depth)
    elif isinstance(thing, MethodType):
        yield from _pieces((thing.__func__, thing.__self__), seen, depth)
    elif isinstance(thing, nn.Module):
        seen[id(thing)] = thing
        yield from _pieces(dict(thing.state_dict()), seen, depth)
        for kind in sorted({type(module) for module in thing.modules()}, key=lambda kind: kind.__qualname__):
            yield _text(kind).encode()
            yield from _methods(kind, seen, depth)
        yield from _settings(thing, seen, depth)
    elif isinstance(thing, torch.jit.ScriptFunction):
        graph: Any = thing.inlined_graph
        yield _MANGLED.sub("", str(graph)).encode()
        constants = [node.output().toIValue() for node in graph.findAllNodes("prim::Constant")]
        yield from _pieces(constants, seen, depth)
    elif isinstance(thing, FunctionType) and _top(thing) not in _LIBRARIES:
        seen[id(thing)] = thing
        yield _text(thing).encode()
        names: set[str] = set()
        for code in _codes(thing.__code__):
            yield code.co_code
            # Constants count of themselves: a function that was never in a file has no text.
            yield from _pieces([c for c in code.co_consts if not isinstance(c, CodeType)], seen, depth)
            names.update(code.co_names)
        cells = [_held(cell) for cell in thing.__closure__ or ()]
        told = (thing.__defaults__, thing.__kwdefaults__, cells, _used(names, thing.__globals__))
        yield from _pieces(told, seen, depth - is_installed(thing.__module__))
    elif isinstance(thing, type | local):  # what a thread keeps for itself is no setting
        yield _text(thing).encode()
    elif type(thing).__module__.startswith("torch.fx"):
        yield str(thing).encode()  # a graph as text says all; its nodes hold notes of how they were traced
    elif callable(thing) and isinstance(getattr(thing, "__wrapped__", None), FunctionType):
        yield _text(type(thing)).encode()
        yield from _pieces(thing.__wrapped__, seen, depth)
    elif _holds_settings(thing):
        seen[id(thing)] = thing
        yield _text(type(thing)).encode()
        yield from _methods(type(thing), seen, depth)
        deeper = _top(type(thing)) not in _LIBRARIES and is_installed(type(thing).__module__)
        yield from _pieces(_fields(thing), seen, depth - deeper)
    elif isinstance(thing, FunctionType) or hasattr(thing, "__qualname__"):
        yield _text(thing).encode()
        cells = [_held(cell) for cell in getattr(thing, "__closure__", None) or ()]
        yield from _pieces(cells, seen, depth - 1)
    else:
        seen[id(thing)] = thing
        yield _text(thing).encode()
        yield from _pieces(_reduced(thing), seen, depth - 1)


def _members(thing: Any, seen: Seen, depth: int) -> Iterator[bytes]:
    """What a list, a tuple, a dictionary or a set holds, between brackets: [[1], [2]] is not [[1, 2]]."""
    yield b"["
    if isinstance(thing, dict | MappingProxyType):
        for key in sorted(thing, key=lambda key: (str(key), type(key).__qualname__)):
            yield from _pieces(key, seen, depth)
            yield b"="
            yield from _pieces(thing[key], seen, depth)
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from _pieces(item, seen, depth)
    else:
        yield from sorted(b"".join(_pieces(item, dict(seen), depth)) for item in thing)
    yield b"]"


def _array(tensor: Tensor) -> np.ndarray:
    try:
        return tensor.detach().cpu().contiguous().numpy()
    except (RuntimeError, TypeError):  # a kind that numpy has not, or one that holds no numbers
        return np.frombuffer(repr(tensor).encode(), np.uint8)


def _reduced(thing: Any) -> Any:
    """What an object of a library is made of, by its own account; nothing where it gives none, like a lock."""
    try:
        account = thing.__reduce_ex__(2)
    except Exception:  # whatever a library raises for objects that cannot be copied
        return None
    if isinstance(account, str):
        return account
    return [list(part) if isinstance(part, Iterator) else part for part in account]


def _methods(kind: type, seen: Seen, depth: int) -> Iterator[bytes]:
    """The functions of a class and of those that it builds on, with what they use; libraries' own are left out."""
    for base in kind.__mro__:
        if _is_library(base.__module__):
            continue
        for name, value in sorted(vars(base).items()):
            plain = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(plain, FunctionType) or not (name.startswith("__") or callable(plain)):
                yield f"{name}=".encode()
                yield from _pieces(plain, seen, depth)


def _holds_settings(thing: Any) -> bool:
    """Objects of libraries do not (a lock, a log), but for plain lists of names, and our own models and transforms."""
    plain = isinstance(thing, Namespace | SimpleNamespace)
    return plain or _top(type(thing)) not in _LIBRARIES or _top(type(thing)) == "tpc_core"


def _fields(thing: Any) -> dict[str, Any]:
    """What an object holds, in its dictionary or in slots."""
    slots = [name for kind in type(thing).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
    held = {name: getattr(thing, name) for name in slots if name != "__weakref__" and hasattr(thing, name)}
    return {**held, **getattr(thing, "__dict__", {})}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _used(names: set[str], known: dict[str, Any]) -> dict[str, Any]:
    """What a function reads beside its arguments: globals, and what it takes out of modules of the user's own."""
    used = {name: known.get(name) for name in names}
    waiting = [thing for thing in used.values() if isinstance(thing, ModuleType)]
    read: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module.__name__ in read or _is_library(module.__name__):
            continue
        read.add(module.__name__)
        taken = {name: vars(module)[name] for name in names if name in vars(module)}
        used |= {f"{module.__name__}.{name}": thing for name, thing in taken.items()}
        waiting += [thing for thing in taken.values() if isinstance(thing, ModuleType)]
    return used


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES or is_installed(module)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of the functions that are written inside it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def _settings(network: nn.Module, seen: Seen, depth: int) -> Iterator[bytes]:
    """What the layers hold beside stored weights: buffers that are not stored, and plain values that were set."""
    stored = set(network.state_dict())
    loose = {name: buffer for name, buffer in network.named_buffers() if name not in stored}
    yield from _pieces(loose, seen, depth)
    for name, module in network.named_modules():
        seen[id(module)] = module
        held = {key: value for key, value in vars(module).items() if key not in _TORCHS_OWN}
        yield f"{name}:".encode()
        yield from _pieces(held, seen, depth)
        for kind in _HOOKS:
            yield from _pieces(list(getattr(module, kind, {}).values()), seen, depth)
        if isinstance(module, torch.jit.ScriptModule):
            said = module._c.dump_to_str(True, True, False)
            yield _MANGLED.sub("", said).encode()


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that was not bound yet
        return None


def _top(thing: Any) -> str:
    return str(getattr(thing, "__module__", "")).partition(".")[0]


def _text(thing: Any) -> str:
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    if _top(thing) == "torch" or _top(thing) in sys.stdlib_module_names:
        return str(name)
    try:
        return _source(thing) if isinstance(thing, type) else inspect.getsource(thing)
    except (OSError, TypeError):
        return str(name)


@functools.lru_cache(maxsize=256)
def _source(kind: type) -> str:
    """The source of a class, for which Python parses the whole file."""
    return inspect.getsource(kind)
