"""Our package, built and installed in a place of its own, where nothing of the checkout can be found."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9"
"""No server listens on this port: whatever would ask the network through it fails."""


@dataclass(frozen=True)
class Installed:
    """A package in an environment of its own: the files that were built, and how to run what they install."""

    wheel: Path
    wheel_of_sdist: Path
    environment: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.environment / ("Scripts" if os.name == "nt" else "bin") / "python"

    def variables(self) -> dict[str, str]:
        """An empty home, no way to the checkout, and no network."""
        dropped = ("PYTHONPATH", "TPC_", "XDG_", "STREAMLIT_", "PIP_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        blocked = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
        return {**kept, **blocked, "no_proxy": "127.0.0.1", "HOME": str(self.home), "OMP_NUM_THREADS": "1"}

    def tpc(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `tpc` from the empty home."""
        return subprocess.run(
            [self.python.with_name("tpc"), *arguments],
            cwd=self.home,
            env=self.variables() | variables,
            capture_output=True,
            text=True,
            timeout=600,
        )

    @contextmanager
    def explorer(self) -> Iterator[str]:
        """`tpc app` on a free port; its address, once it is well."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [self.python.with_name("tpc"), "app", "--no-browser", "--port", str(port)]
        server = subprocess.Popen(
            command,
            cwd=self.home,
            env=self.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/_stcore/health", server)
            yield address
        finally:
            server.terminate()
            server.communicate(timeout=30)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 180
    while time.monotonic() < end:
        if server.poll() is not None:
            assert server.stdout is not None
            raise RuntimeError(server.stdout.read().decode())
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the explorer did not answer in time")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the sdist and both wheels, and install the one that was made from the sdist.

    What the package depends on is lent from this environment, so that nothing has to be downloaded; this environment's
    own link to the checkout is not.
    """
    if find_spec("hatchling") is None:
        pytest.skip("hatchling builds the package; `make setup` installs it")
    folder = tmp_path_factory.mktemp("package")
    _build(ROOT, folder / "dist")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    _build(unpacked, folder / "again", "-t", "wheel")
    (wheel,), (again,) = (folder / "dist").glob("*.whl"), (folder / "again").glob("*.whl")
    environment, home = folder / "environment", folder / "home"
    home.mkdir()
    venv.create(environment, with_pip=False)
    made = Installed(wheel, again, environment, home)
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(made.python),
        "install",
        "-q",
        "--no-index",
        "--no-deps",
    ]
    subprocess.run([*command, str(again)], check=True)
    (site_packages,) = environment.glob("**/site-packages")
    (site_packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def _build(source: Path, target: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *arguments]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
