"""What the operating system must bring: looked for before it is needed, and named with the command that installs it.

`python -m app.server.system` says what is missing; with `--install`, root on Debian or Ubuntu gets it installed.
Only the standard library is imported, so that this runs before anything else is set up.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

LIBRARIES: Mapping[str, str] = {
    "libX11.so.6": "libx11-6",
    "libgomp.so.1": "libgomp1",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
}
"""What Open3D links to and its wheel does not bring, with Debian's package of each."""

DRIVER_LIBRARIES: Mapping[str, str] = {"libatomic.so.1": "libatomic1"}
"""What the program that drives a browser in the tests (Playwright's node) links to and does not bring."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing_libraries(libraries: Mapping[str, str] = LIBRARIES) -> list[str]:
    """The packages of the shared libraries that cannot be loaded; only Linux leaves them to its packages."""
    return [package for name, package in libraries.items() if sys.platform == "linux" and not _loads(name)]


def missing_browser() -> list[str]:
    """The packages of a browser and of what drives it in the tests, where there are none."""
    browser = [] if any(shutil.which(name) for name in BROWSERS) else ["chromium"]
    return browser + missing_libraries(DRIVER_LIBRARIES)


def install_command(packages: list[str]) -> str:
    """The one command that installs them."""
    return f"sudo apt-get install -y --no-install-recommends {' '.join(packages)}"


def _loads(name: str) -> bool:
    # The dynamic loader itself is asked: `ldconfig -p` is not on an ordinary user's path, and knows less.
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _apt(*arguments: str) -> int:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-qq", *arguments]
    return subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL).returncode


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m app.server.system", description=__doc__)
    parser.add_argument(
        "--browser", action="store_true", help="also look for a browser, which the tests drive"
    )
    parser.add_argument(
        "--packages", action="store_true", help="list all packages that Open3D needs, missing or not"
    )
    parser.add_argument(
        "--install", action="store_true", help="install what is missing, where that is allowed"
    )
    asked = parser.parse_args()
    if asked.packages:
        print(*LIBRARIES.values(), sep="\n")
        return
    packages = missing_libraries() + (missing_browser() if asked.browser else [])
    if not packages:
        return
    if asked.install and os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing", *packages, flush=True)
        _apt("update")
        if _apt("install", "-y", "--no-install-recommends", *packages) == 0:
            return
    what = "Shaded stills and browser tests" if asked.browser else "Shaded stills"
    print(f"{what} need {' '.join(packages)}. On Debian or Ubuntu: {install_command(packages)}")
    print("Everything else works without.")


if __name__ == "__main__":
    main()
