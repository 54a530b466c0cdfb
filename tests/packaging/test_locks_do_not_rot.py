"""A lock installs what it names in a year as well, when every package has a newer release, whatever pip is there."""

from __future__ import annotations

import ensurepip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from .index import make_wheel, pin

ROOT = Path(__file__).resolve().parents[2]
OLDEST_PIP = "22.3"
"""What the venv module of Python 3.11.0, the oldest Python that we support, brings."""

INSTALLS = {
    name: (ROOT / path).read_text(encoding="utf-8")
    for name, path in {
        "Makefile": "Makefile",
        "Dockerfile": "Dockerfile",
        "workflow": ".github/workflows/ci.yml",
        "README": "README.md",
        "deployment": "docs/deployment.md",
        "contributing": "CONTRIBUTING.md",
    }.items()
}
"""Every text of ours that says how to install something."""


@dataclass(frozen=True)
class Market:
    """An index a year later: everything that was locked has a newer release beside it."""

    folder: Path
    lock: Path
    requirements: Path
    pinned: frozenset[str]


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Market:
    """`app` asks for `toolbox[toml]`, as pytest-cov asks for coverage[toml]; one package is for other machines."""
    folder = tmp_path_factory.mktemp("index")
    reader = make_wheel(folder, "reader", "1.0")
    optional = ["reader>=1.0; extra == 'toml'"]
    toolbox = make_wheel(folder, "toolbox", "1.0", requires=optional, extras=["toml"])
    elsewhere = make_wheel(folder, "elsewhere", "1.0")
    parts = ["toolbox[toml]>=1.0", "elsewhere>=1.0; sys_platform == 'nowhere'", "heavy==1.0"]
    app = make_wheel(folder, "app", "1.0", requires=parts)
    # As PyTorch: outside the lock, with libraries of its own that only some machines get.
    heavy = make_wheel(folder, "heavy", "1.0", requires=["heavylib==1.0; sys_platform != 'nowhere'"])
    make_wheel(folder, "heavylib", "1.0")
    for name in ("reader", "elsewhere", "heavy", "heavylib"):
        make_wheel(folder, name, "2.0")
    make_wheel(folder, "toolbox", "2.0", requires=["surprise", *optional], extras=["toml"])
    make_wheel(folder, "app", "2.0", requires=parts)
    make_wheel(folder, "surprise", "1.0")

    lines = [pin(app), pin(toolbox), pin(reader), pin(elsewhere, marker="sys_platform == 'nowhere'")]
    lock, requirements = folder / "lock.txt", folder / "requirements.txt"
    lock.write_text("\n".join(lines) + "\n")
    plain = [line.partition(" --hash")[0] for line in [*lines, pin(heavy)]]
    requirements.write_text("\n".join(plain) + "\n")
    return Market(folder, lock, requirements, frozenset({"app-1.0", "toolbox-1.0", "reader-1.0"}))


@pytest.fixture(scope="module", params=[OLDEST_PIP, "bundled", "newest"])
def pip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of one pip, run from its wheel; the one that Python brings is always there."""
    if request.param == "bundled":
        return bundled_pip()
    folder = tmp_path_factory.mktemp("pip")
    wanted = "pip" if request.param == "newest" else f"pip=={request.param}"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--retries",
        "0",
        "-d",
        str(folder),
    ]
    if subprocess.run([*command, wanted], capture_output=True).returncode != 0:
        pytest.skip(f"{wanted} cannot be had here: no network")
    (wheel,) = folder.glob("*.whl")
    return [sys.executable, f"{wheel}/pip"]


def bundled_pip() -> list[str]:
    """The pip that the venv module of this Python installs; Debian keeps it in a folder of its own."""
    folder = sysconfig.get_config_var("WHEEL_PKG_DIR") or Path(ensurepip.__file__).parent / "_bundled"
    (wheel,) = Path(folder).glob("pip-*.whl")
    return [sys.executable, f"{wheel}/pip"]


def install(
    pip: list[str], market: Market, target: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Install from the market alone, whatever this machine's own settings say."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    # pip runs from its wheel, so what that pip brings must not be looked for elsewhere.
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [*pip, "install", "--no-index", "--find-links", str(market.folder), "--target", str(target)]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, env=environment)


def installed(target: Path) -> set[str]:
    return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


def lock_flags(text: str) -> set[tuple[str, ...]]:
    """The options with which a text installs our locks."""
    commands = re.findall(r"install ([^\n&|]*?)-r requirements(?:-dev)?\.lock", text)
    return {tuple(flag for flag in command.split() if flag not in ("-q", "\\")) for command in commands}


def test_make_installs_a_lock_that_is_no_longer_the_newest(
    pip: list[str], market: Market, tmp_path: Path
) -> None:
    (flags,) = lock_flags(INSTALLS["Makefile"])
    done = install(pip, market, tmp_path, *flags, "-r", str(market.lock))
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path) == market.pinned


def test_the_container_installs_a_lock_that_is_no_longer_the_newest(market: Market, tmp_path: Path) -> None:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed; `make setup-dev` brings it")
    (flags,) = lock_flags(INSTALLS["Dockerfile"])
    done = install([uv, "pip", "--no-config"], market, tmp_path, *flags, "-r", str(market.lock))
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path) == market.pinned


def test_plain_requirements_give_the_same_versions(pip: list[str], market: Market, tmp_path: Path) -> None:
    done = install(pip, market, tmp_path, "-r", str(market.requirements))
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path) == market.pinned | {"heavy-1.0", "heavylib-1.0"}


def test_this_market_does_break_a_lock_whose_extras_are_resolved(market: Market, tmp_path: Path) -> None:
    """The case that these tests are about: without --no-deps the bundled pip refuses, or takes what is not locked."""
    if tuple(int(number) for number in ensurepip.version().split(".")[:2]) >= (23, 3):
        pytest.skip("the pip of this Python resolves extras beside their pins")
    lock = tmp_path / "lock.txt"
    heavy = [pin(market.folder / f"{name}-1.0-py3-none-any.whl") for name in ("heavy", "heavylib")]
    lock.write_text(market.lock.read_text() + "\n".join(heavy) + "\n")
    done = install(bundled_pip(), market, tmp_path / "t", "--require-hashes", "-r", str(lock))
    assert done.returncode != 0
    assert "must have their versions pinned" in done.stderr


@pytest.mark.parametrize("name", INSTALLS)
def test_whatever_installs_a_lock_resolves_nothing(name: str) -> None:
    for flags in lock_flags(INSTALLS[name]):
        assert {"--no-deps", "--require-hashes"} <= set(flags), f"{name}: {flags}"
    if name in ("Makefile", "Dockerfile"):
        assert lock_flags(INSTALLS[name])


def test_the_workflow_names_versions_and_they_are_the_locked_ones() -> None:
    named = re.findall(r"pip install [^\n]*?(\w+)==(\S+)", INSTALLS["workflow"])
    commands = re.findall(r"pip install [^\n]*", INSTALLS["workflow"])
    assert len(named) == len(commands) == 2
    locked = (ROOT / "requirements-dev.lock").read_text() + (ROOT / "requirements.txt").read_text()
    for package, version in named:
        assert f"\n{package}=={version}" in locked, package
