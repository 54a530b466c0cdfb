"""What identifies a brought network beside its stored weights: its settings and its code.

Other code, or the same code with another setting, is another function: votes of the one prove nothing of the other.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from torch import Tensor, nn

from tpc_core.models.brought.own_code import OTHERS, own_sources

_DEPTH = 8
"""How far into lists of lists, and functions of functions, it is looked."""

Seen = dict[int, Any]
"""Modules and functions that were read, by identity; they are held, so that no other gets their number."""


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
    if isinstance(thing, str | int | float | bool | bytes | None):
        yield f"{thing!r};".encode()
    elif isinstance(thing, Tensor | np.ndarray):
        array = thing.detach().cpu().contiguous().numpy() if isinstance(thing, Tensor) else thing
        yield f"{array.dtype}{array.shape}".encode() + array.tobytes()
    elif id(thing) in seen or depth == 0:
        return
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from _pieces(item, seen, depth - 1)
    elif isinstance(thing, dict):
        for key in sorted(thing, key=str):
            yield f"{key!s}=".encode()
            yield from _pieces(thing[key], seen, depth - 1)
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
        yield from _settings(thing, seen, depth)
    elif isinstance(thing, FunctionType) and _top(thing) not in OTHERS:
        seen[id(thing)] = thing
        code = thing.__code__
        yield _text(thing).encode() + code.co_code
        used = {name: thing.__globals__.get(name) for name in code.co_names}
        cells = [_held(cell) for cell in thing.__closure__ or ()]
        yield from _pieces((thing.__defaults__, thing.__kwdefaults__, cells, used), seen, depth - 1)
    elif callable(thing) and not isinstance(thing, type) and _top(type(thing)) not in (*OTHERS, "builtins"):
        seen[id(thing)] = thing
        yield _text(type(thing)).encode()
        yield from _pieces(dict(getattr(thing, "__dict__", {})), seen, depth - 1)
    else:
        yield _text(thing).encode()


def _settings(network: nn.Module, seen: Seen, depth: int) -> Iterator[bytes]:
    """What the layers hold beside stored weights: buffers that are not stored, and plain values that were set."""
    stored = set(network.state_dict())
    loose = {name: buffer for name, buffer in network.named_buffers() if name not in stored}
    yield from _pieces(loose, seen, depth)
    for name, module in network.named_modules():
        seen[id(module)] = module
        held = {key: value for key, value in vars(module).items() if key[0] != "_" and key != "training"}
        yield f"{name}:".encode()
        yield from _pieces(held, seen, depth)


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that was not bound yet
        return None


def _top(thing: Any) -> str:
    return str(getattr(thing, "__module__", "")).partition(".")[0]


def _text(thing: Any) -> str:
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    if _top(thing) == "torch":
        return str(name)
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return str(name)
