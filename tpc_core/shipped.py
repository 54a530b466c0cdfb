"""Where the files lie that the project ships beside its code: gallery, checkpoints, recipes, theory and results.

A checkout has them at its top level, next to this package; a wheel has the same folders inside the package, under
`_shipped`, where pyproject.toml puts them.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tpc_core.errors import unknown_name


def shipped(*names: str) -> Path:
    """The path of a shipped file or folder, such as shipped("assets", "gallery")."""
    package = Path(str(files("tpc_core")))
    installed = package / "_shipped"
    return (installed if installed.is_dir() else package.parent).joinpath(*names)


def given_or_shipped(given: Path, *folder: str) -> Path:
    """A file by its path, or a shipped TOML file by its bare name, such as pointnet64-noise in configs."""
    if given.suffix or len(given.parts) != 1 or given.exists():
        return given
    known = {path.stem: path for path in sorted(shipped(*folder).glob("*.toml"))}
    if given.name not in known:
        raise unknown_name("file or shipped name", given, list(known))
    return known[given.name]
