"""Write docs/licences.md: every locked package, its version and its licence, from the packages' own metadata."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
LOCKS = {"to run": "requirements.lock", "to develop": "requirements-dev.lock"}
ELSEWHERE = {
    "appnope": "BSD-2-Clause",
    "cffi": "MIT",
    "colorama": "BSD-3-Clause",
    "open3d": "MIT",
    "pycparser": "BSD-3-Clause",
}
"""Packages of other platforms, which cannot be asked here."""

STAGE_LOCK = ROOT / "app" / "components" / "stage" / "package-lock.json"
"""What npm brings for the stage: three.js, which is in its bundle, and esbuild, which makes it."""

HEADER = """# Licences of what TPC Explorer builds on

TPC Explorer is under the MIT licence. These packages are installed beside it and are not part of the repository, but
for three.js, which is in the bundle of the stage with its notice.
Written by `make licences` from the packages' own metadata; `tests/packaging` checks that it names what is locked,
and that every licence permits use, study and redistribution in a class.

Fonts, pictures and gallery objects in the repository are its own. PyTorch's CUDA builds also bring NVIDIA's libraries,
which are under NVIDIA's own terms.
"""


def locked(lock: Path) -> dict[str, str]:
    """Name and version of every package of a lock."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", lock.read_text(), flags=re.MULTILINE))


def licence(name: str) -> str:
    """The licence that a package states: expression, classifiers, free text's first line, licence file's first line."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return ELSEWHERE[name]
    return _stated(found) or "not stated"


def _stated(package: Distribution) -> str:
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    titles = [
        line.split(" :: ")[-1] for line in metadata.get_all("Classifier", []) if line.startswith("License")
    ]
    specific = [title for title in titles if title != "OSI Approved"]
    free = str(metadata.get("License") or "").strip().split("\n")[0]
    return ", ".join(specific) or free or _first_line(package)


def _first_line(package: Distribution) -> str:
    """The title of the licence that a package brings as a file."""
    files = (package.read_text(f"licenses/{name}") for name in package.metadata.get_all("License-File", []))
    return next((text.strip().split("\n")[0] for text in files if text), "")


def torch_version() -> str:
    """PyTorch is pinned in pyproject.toml and not in the lock."""
    match = re.search(r'"torch==([^"]+)"', (ROOT / "pyproject.toml").read_text())
    assert match is not None
    return match.group(1)


def bundled() -> dict[str, tuple[str, str]]:
    """Version and licence of the packages of the stage; esbuild's builds for the many platforms are one package."""
    packages = json.loads(STAGE_LOCK.read_text())["packages"]
    named = {path.removeprefix("node_modules/"): facts for path, facts in packages.items() if path}
    return {
        name: (f["version"], f["license"]) for name, f in named.items() if not name.startswith("@esbuild/")
    }


def page() -> str:
    """The whole page."""
    packages = {purpose: locked(ROOT / lock) for purpose, lock in LOCKS.items()}
    packages["to run"]["torch"] = torch_version()
    text = HEADER
    seen: set[str] = set()
    for purpose, versions in packages.items():
        text += f"\n## Needed {purpose}\n\n| package | version | licence |\n|---|---|---|\n"
        for name in sorted(versions.keys() - seen):
            text += f"| {name} | {versions[name]} | {licence(name)} |\n"
        seen |= versions.keys()
    text += (
        "\n## In the stage's bundle, or needed to make it\n\n| package | version | licence |\n|---|---|---|\n"
    )
    return text + "".join(f"| {name} | {version} | {kind} |\n" for name, (version, kind) in bundled().items())


if __name__ == "__main__":
    PAGE.write_text(page())
