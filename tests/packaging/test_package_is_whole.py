"""After `pip install tpc-explorer` everything is there: it certifies, verifies, trains and opens, anywhere."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tpc_core import __version__
from tpc_core.data import MODELNET40_CLASSES

from .installed import ROOT, Installed, installed

__all__ = ["installed"]

BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
pytestmark = pytest.mark.slow


def contents(wheel: Path) -> dict[str, str]:
    """The files of a wheel and their digests."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def test_the_wheel_brings_no_module_but_ours(installed: Installed) -> None:
    assert {name.partition("/")[0] for name in contents(installed.wheel)} == {
        "tpc_core",
        f"tpc_explorer-{__version__}.dist-info",
    }


def test_the_sdist_makes_the_same_wheel(installed: Installed) -> None:
    assert contents(installed.wheel_of_sdist) == contents(installed.wheel)


@pytest.mark.parametrize(
    "name", [path for path in BUILD["targets"]["wheel"]["only-include"] if path != "tpc_core"]
)
def test_what_a_checkout_ships_is_in_the_wheel(name: str, installed: Installed) -> None:
    listed = subprocess.run(["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is not a checkout of git, so nobody knows which files are shipped")
    expected = {f"tpc_core/_shipped/{path}" for path in listed.stdout.split()}
    assert expected
    assert expected <= contents(installed.wheel).keys()


def test_the_wheel_is_typed(installed: Installed) -> None:
    assert "tpc_core/py.typed" in contents(installed.wheel)


def test_nothing_outside_the_package_is_called_app(installed: Installed) -> None:
    code = "import importlib.util, tpc_core; print(importlib.util.find_spec('app'), tpc_core.__file__)"
    done = subprocess.run(
        [installed.python, "-c", code],
        cwd=installed.home,
        env=installed.variables(),
        capture_output=True,
        text=True,
    )
    nothing, _, place = done.stdout.strip().partition(" ")
    assert nothing == "None", done.stdout + done.stderr
    assert Path(place).is_relative_to(installed.environment)


def test_it_certifies_and_verifies(installed: Installed) -> None:
    question = ["gallery:chair-1", "--transform", "z-taper", "--radius", "0.1", "--out", "chair.json"]
    certified = installed.tpc("certify", *question)
    assert certified.returncode == 0, certified.stderr
    assert certified.stdout.startswith("CERTIFIED")
    verified = installed.tpc("verify", "chair.json", "--replay", "--json")
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["replayed_votes"] > 0


def test_it_trains_an_epoch_of_the_smallest_recipe(installed: Installed) -> None:
    rng = np.random.default_rng(0)
    data = installed.home / "data"
    data.mkdir()
    labels = np.arange(120) % 40
    np.savez(
        data / "modelnet40_train.npz",
        points=rng.standard_normal((120, 64, 3)).astype(np.float16) / 4,
        labels=labels,
        ids=[f"{MODELNET40_CLASSES[label]}_{number}" for number, label in enumerate(labels)],
        classes=list(MODELNET40_CLASSES),
    )
    (shipped,) = installed.environment.glob("**/_shipped/configs/pointnet16-z-rotation.toml")
    recipe = installed.home / "one-epoch.toml"
    recipe.write_text(shipped.read_text().replace("epochs = 60", "epochs = 1"))
    trained = installed.tpc("train", recipe, "--json")
    assert trained.returncode == 0, trained.stderr
    facts = json.loads(trained.stdout)
    assert facts["epochs"] == 1
    assert (installed.home / facts["weights"]).is_file()


def test_a_shipped_recipe_is_found_by_its_name(installed: Installed) -> None:
    refused = installed.tpc("train", "pointnet16-nothing")
    assert refused.returncode == 2
    assert "pointnet16-z-rotation" in refused.stderr


def test_the_explorer_opens_from_any_folder(installed: Installed) -> None:
    with installed.explorer() as address, urllib.request.urlopen(address, timeout=20) as answer:
        assert b"<title>Streamlit</title>" in answer.read()
