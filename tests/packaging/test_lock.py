"""What is installed is what was locked: every package by version and hash, and what each of them permits."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.licences import LOCKS, PAGE, bundled, locked, torch_version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|CC0|BSL-1\.0|0BSD|LLVM-exception"
)


def direct(lock: str) -> list[str]:
    """The requirements that pyproject.toml states and this lock answers."""
    if lock == "requirements-dev.lock":
        return list(PROJECT["dependency-groups"]["dev"])
    return [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["app"]]


@pytest.mark.parametrize("lock", LOCKS.values())
def test_every_package_is_locked_by_its_hashes(lock: str) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", (ROOT / lock).read_text())[1:]
    assert len(entries) > 20
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]


@pytest.mark.parametrize("lock", LOCKS.values())
def test_the_lock_answers_pyproject(lock: str) -> None:
    versions = locked(ROOT / lock)
    for text in direct(lock):
        requirement = Requirement(text)
        if requirement.name != "torch":
            assert requirement.specifier.contains(versions[requirement.name]), text


def test_pytorch_is_pinned_and_outside_the_lock() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", torch_version())
    assert "torch" not in locked(ROOT / LOCKS["to run"])
    assert not any(name.startswith(("nvidia-", "cuda-")) for name in locked(ROOT / LOCKS["to run"]))


@pytest.mark.parametrize("lock", LOCKS.values())
def test_the_lock_names_no_address(lock: str) -> None:
    assert "//" not in (ROOT / lock).read_text()


def test_the_licence_page_names_what_is_locked() -> None:
    rows = dict(re.findall(r"^\| ([a-z0-9.-]+) \| (\S+) \|", PAGE.read_text(), flags=re.MULTILINE))
    rows.pop("package")
    expected = {name: version for lock in LOCKS.values() for name, version in locked(ROOT / lock).items()}
    expected |= {name: version for name, (version, _) in bundled().items()}
    assert rows == {**expected, "torch": torch_version()}, "run `make licences`"


def test_every_licence_permits_redistribution() -> None:
    licences = re.findall(r"^\| [a-z0-9.-]+ \| \d\S* \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE)
    assert len(licences) > 60
    for licence in licences:
        for term in re.split(r",| AND | OR ", licence):
            assert PERMISSIVE.search(term), licence
            assert "GPL" not in term
