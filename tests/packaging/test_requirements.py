"""`pip install -r requirements.txt` gives what the lock gives: one source of versions, and no second list."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.server.system import LIBRARIES
from scripts.licences import locked, torch_version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lines(name: str) -> dict[str, Requirement]:
    """The requirements of a file, by name, without their hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = [
        Requirement(line) for line in re.findall(r"^([a-z0-9][^\\\n]*?)\s*\\?$", text, flags=re.MULTILINE)
    ]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def test_every_requirement_is_pinned_and_none_needs_an_extra_resolved() -> None:
    for requirement in lines("requirements.txt").values():
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), str(requirement)
        assert not requirement.extras, str(requirement)


def test_the_requirements_are_those_of_the_lock() -> None:
    plain, lock = lines("requirements.txt"), lines("requirements.lock")
    assert str(plain.pop("torch").specifier) == f"=={torch_version()}"
    assert plain.items() <= lock.items()
    builders = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependency-groups"]["build"]}
    assert builders <= lock.keys() - plain.keys()


def test_the_lock_builds_our_package_without_the_network() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]
    assert "--no-build-isolation" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_nothing_that_a_locked_package_needs_here_is_missing_from_the_locks(lock: str) -> None:
    """Since nothing is resolved at installation, what is missing from a lock would be missing after it."""
    names = {canonicalize_name(name) for name in locked(ROOT / "requirements.lock") | locked(ROOT / lock)}
    settings = PROJECT["tool"]["uv"]
    left_out = {"torch", *settings["exclude-dependencies"]}
    stated = {known["name"]: known["requires-dist"] for known in settings["dependency-metadata"]}
    looked = 0
    for name, requirement in lines(lock).items():
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            needed = [Requirement(text) for text in stated.get(name) or requires(name) or ()]
        except PackageNotFoundError:
            continue  # set up for running alone, or before the last `make lock`
        looked += 1
        for need in needed:
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                assert canonicalize_name(need.name) in names | left_out, f"{name} needs {need}"
    assert looked > 20


def test_the_apt_libraries_are_those_that_open3d_is_asked_for() -> None:
    assert (ROOT / "packages.txt").read_text().split() == list(LIBRARIES.values())


def test_the_version_is_written_once() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    text = (ROOT / "tpc_core" / "version.py").read_text()
    (version,) = re.findall(r'VERSION = "(\d+\.\d+\.\d+)"', text)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+), \d{4}-\d\d-\d\d$", changes, flags=re.MULTILINE)[0]
    cited = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert [newest] == cited == [version]
