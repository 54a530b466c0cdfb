"""The command line answers at once: what takes seconds to import is imported by those who need it.

Looked at is what a command imports, not a clock: a busy machine is slow without being wrong.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tpc_core import certify, load_model, load_object
from tpc_core.lazy_torch import torch

ROOT = Path(__file__).resolve().parents[2]
SLOW = {"torch", "scipy", "trimesh", "h5py", "safetensors", "streamlit", "plotly", "pandas", "ray"}
RUN = """
import json, sys
from tpc_core.cli import main
code = main(sys.argv[1:])
print()
print(json.dumps([code, sorted({name.partition('.')[0] for name in sys.modules})]))
"""


def imported(code: str, *arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command, and the packages that it imported, in a Python of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    exit_code, names = json.loads(done.stdout.splitlines()[-1])
    return exit_code, set(names)


@pytest.mark.parametrize("command", ["--help", "--version", "app --help", "train --help", "report --help"])
def test_help_and_version_import_nothing_that_computes(command: str) -> None:
    code, names = imported(RUN, *command.split())
    assert code == 0
    assert not names & (SLOW | {"numpy", "pydantic"})


@pytest.mark.parametrize(
    "command", ["transforms", "transforms --json", "evaluate --help", "redteam --help", "no-such-command"]
)
def test_what_computes_nothing_does_not_import_torch(command: str) -> None:
    code, names = imported(RUN, *command.split())
    assert code == (2 if command == "no-such-command" else 0)
    assert not names & SLOW


@pytest.mark.parametrize(
    "command", ["models list", "models list --json", "models list -t z-taper", "certify --help"]
)
def test_what_only_lists_does_not_import_torch(command: str) -> None:
    code, names = imported(RUN, *command.split())
    assert code == 0
    assert "torch" not in names


def test_a_certificate_is_checked_without_torch(tmp_path: Path) -> None:
    made = certify(load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64), "z-taper", 0.1)
    made.save(tmp_path / "chair.json")
    code, names = imported(RUN, "verify", str(tmp_path / "chair.json"))
    assert code == 0
    assert "torch" not in names


def test_the_public_door_opens_without_torch() -> None:
    _, names = imported("import json, sys, tpc_core; print(json.dumps([0, list(sys.modules)]))")
    assert "torch" not in names


@pytest.mark.parametrize("package", ["tpc_core", "tpc_core.data", "tpc_core.data.files", "tpc_core.models"])
def test_every_public_name_is_behind_the_door(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) - {"__version__"} == set(module._home)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'certifye'"):
        module.certifye  # noqa: B018


@pytest.mark.parametrize(
    "first", ["import tpc_core", "import tpc_core.certify", "from tpc_core.certify.events import Done"]
)
def test_certify_is_the_function_whatever_was_imported_before(first: str) -> None:
    code = f"{first}\nfrom tpc_core import certify\nimport tpc_core\nassert tpc_core.certify is certify"
    code += "\nimport json; print(json.dumps([int(callable(certify)), []]))"
    callable_, _ = imported(code)
    assert callable_ == 1


def test_the_lazy_torch_is_torch() -> None:
    import torch as real

    assert torch.float64 is real.float64
    assert torch.linalg is real.linalg
    with pytest.raises(AttributeError):
        torch.no_such_thing  # noqa: B018
