"""Words of a function replaced by others, for as long as a test lasts."""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

READERS = ("tpc_core.", "tests.bounds.", "tests.exact.")
"""Modules that may have imported a function by its name."""


def rewrite(patch: pytest.MonkeyPatch, owner: Any, name: str, old: str, new: str) -> None:
    """The function or method `name` of a module or class, with `new` in the one place where it says `old`."""
    found = vars(owner)[name]
    plain: Callable[..., Any] = found.fget if isinstance(found, property) else found
    plain = getattr(plain, "__func__", plain)
    function = inspect.unwrap(plain)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, (
        f"{name} says {old!r} {source.count(old)} times: change this falsehood with it"
    )
    flags = __future__.annotations.compiler_flag
    code = compile(source.replace(old, new), f"<falsified {name}>", "exec", flags=flags, dont_inherit=True)
    names = dict(function.__globals__)
    exec(code, names)
    if inspect.isclass(owner):
        patch.setattr(owner, name, names[name])
        return
    for module in [m for key, m in sys.modules.items() if key.startswith(READERS)]:
        for key, value in list(vars(module).items()):
            if value is found:
                patch.setattr(module, key, names[name])
