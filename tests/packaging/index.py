"""A package index of throw-away wheels in a folder: made by hand in milliseconds, and installed by any pip."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path


def make_wheel(
    folder: Path, name: str, version: str, *, requires: Sequence[str] = (), extras: Sequence[str] = ()
) -> Path:
    """A wheel with one empty module; `requires` are lines of metadata, such as "beta>=1; extra == 'more'"."""
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Provides-Extra: {extra}" for extra in extras]
    metadata += [f"Requires-Dist: {line}" for line in requires]
    info = f"{name}-{version}.dist-info"
    contents = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in contents.items()]
    contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    return wheel


def pin(wheel: Path, *, marker: str = "") -> str:
    """The line of a lock that names this wheel by version and hash."""
    name, version, *_ = wheel.name.split("-")
    condition = f" ; {marker}" if marker else ""
    return f"{name}=={version}{condition} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
