"""Where the files lie that the project ships beside its code: gallery, checkpoints, recipes, theory and results.

A checkout has them at its top level, next to this package; a wheel has the same folders inside the package, under
`_shipped`, where pyproject.toml puts them.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def shipped(*names: str) -> Path:
    """The path of a shipped file or folder, such as shipped("assets", "gallery")."""
    package = Path(str(files("tpc_core")))
    installed = package / "_shipped"
    return (installed if installed.is_dir() else package.parent).joinpath(*names)
