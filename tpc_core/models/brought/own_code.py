"""The source files that a factory's code is made of, read and not run.

Every import counts, wherever it stands: code that a function imports when it is called decides the answers too. Code
that is loaded under a name made up at run time (importlib, `__import__`) cannot be seen from here.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

OTHERS = frozenset({"torch", "numpy", "tpc_core"})
"""Libraries whose code is theirs to keep the same."""
_INSTALLED = frozenset(Path(sysconfig.get_path(kind)) for kind in ("stdlib", "purelib", "platlib"))
"""Folders that many packages share: a neighbour there is no part of the same code."""


def own_sources(homes: set[str]) -> dict[str, str]:
    """The text of these modules, and of what they import from their own package or folder, by dotted name."""
    found: dict[str, str] = {}
    for home in homes:
        module = sys.modules.get(home)
        file = Path(getattr(module, "__file__", None) or "")
        if home.partition(".")[0] == "torch" or not file.is_file():
            continue
        root = file.parents[home.count(".") + (file.name == "__init__.py")]
        waiting = [home]
        while waiting:
            name = waiting.pop()
            place = file if name == home else _file(root, name)
            if name in found or place is None:
                continue
            found[name] = place.read_text(encoding="utf-8", errors="replace")
            if home.partition(".")[0] not in OTHERS:
                named = _imports(found[name], name, place.name == "__init__.py")
                waiting += [other for other in named if _is_near(other, home, root)]
    return found


def is_installed(name: str) -> bool:
    """Whether a module is of a package that was installed, and is none of the user's own files."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and not _INSTALLED.isdisjoint(Path(file).parents)


def _is_near(name: str, home: str, root: Path) -> bool:
    """Whether a module is of the same package, or lies in the same folder of the user's own."""
    return name.partition(".")[0] == home.partition(".")[0] or root not in _INSTALLED


def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split("."))
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _imports(source: str, name: str, is_package: bool) -> Iterator[str]:
    """Every module that a source may import, with the packages around it; some names are no modules."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            steps = node.level - is_package
            base = name.split(".")[: len(name.split(".")) - steps] if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield from _with_parents(f"{whole}.{alias.name}" if whole else alias.name)


def _with_parents(name: str) -> Iterator[str]:
    parts = [part for part in name.split(".") if part != "*"]
    yield from (".".join(parts[: i + 1]) for i in range(len(parts)))
