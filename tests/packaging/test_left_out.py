"""The explorer runs with what the lock installs, and with nothing that happens to be there as well."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from app.server.stills import obstacle
from scripts.licences import LOCKS, locked

ROOT = Path(__file__).resolve().parents[2]
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

NAMES = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Blocked())
"""
PAGES = (
    BLOCKED
    + "import app.navigation, app.main, app.server.certificate_reader, app.server.stills.worker, tpc_core.cli.certify\n"
)
STILL = (
    BLOCKED
    + """
import numpy as np
from app.server.stills import Still
from app.server.stills.worker import _render, _renderer
still = Still(np.eye(3) / 2, np.full((3, 3), 0.5), (1.0, -1.0, 0.5))
assert _render(still.encoded(), _renderer()).startswith(b"\\x89PNG")
"""
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def with_torch() -> set[str]:
    """PyTorch and what it asks for, which the lock does not have."""
    found, waiting = set(), ["torch"]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            asked = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        needed = [Requirement(text) for text in asked]
        waiting += [
            normal(one.name) for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})
        ]
    return found


def left_out() -> str:
    """The modules of installed packages that a user's machine would not have."""
    allowed = {normal(name) for name in locked(ROOT / LOCKS["to run"])} | with_torch() | {"tpc-explorer"}
    owners = metadata.packages_distributions()
    names = [module for module, packages in owners.items() if not {normal(p) for p in packages} & allowed]
    return ",".join(name for name in names if name.isidentifier() and name not in sys.stdlib_module_names)


def run(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, left_out()],
        cwd=ROOT,
        env={**os.environ, "EGL_PLATFORM": "surfaceless"},  # as the process that renders has it
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_something_is_left_out() -> None:
    assert "pytest" in left_out().split(",")


def test_the_pages_need_nothing_else() -> None:
    run(PAGES)


def test_shaded_stills_need_nothing_else() -> None:
    if reason := obstacle():
        pytest.skip(reason)
    run(STILL)


def test_the_notebooks_and_the_web_server_of_open3d_are_not_installed() -> None:
    assert not {"dash", "flask", "ipython", "matplotlib", "scikit-learn"} & set(
        locked(ROOT / LOCKS["to run"])
    )
