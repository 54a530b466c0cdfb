"""Ask PyPI's advisory data about every locked package: `make audit`.

PyPI serves what the open database OSV knows of a release beside the release itself. A mirror may serve only the newest
release of each package; older ones are then named as not looked up, and the command does not pass.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # this is a script, and its neighbour knows PyTorch's version

from scripts.licences import torch_version  # noqa: E402

INDEX = "https://pypi.org/pypi"
LOCKS = ("requirements.lock", "requirements-dev.lock")
SECONDS, AT_ONCE = 60, 8
_LOCKED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^\s;]+)", re.MULTILINE)


class OutOfReach(Exception):
    """The index does not answer, or knows nothing of advisories."""


@dataclass(frozen=True)
class Found:
    """What is known of one release; `advisories` is None where it could not be looked up."""

    name: str
    version: str
    advisories: tuple[str, ...] | None


def locked() -> list[tuple[str, str]]:
    """Every package of the locks with its version, and PyTorch, which is outside of them."""
    pairs = {pair for lock in LOCKS for pair in _LOCKED.findall((ROOT / lock).read_text())}
    return sorted({*pairs, ("torch", torch_version())})


def look_up(name: str, version: str, index: str) -> Found:
    """What the index says of a release: under its version, or under the package where it is the newest one."""
    for path in (f"{name}/{version}", name):
        known = _read(f"{index}/{path}/json")
        if known is None or known.get("info", {}).get("version") != version:
            continue
        if "vulnerabilities" not in known:
            raise OutOfReach(f"{index} names no advisories")
        stated = [one for one in known["vulnerabilities"] if not one.get("withdrawn")]
        return Found(name, version, tuple(sorted({_named(one) for one in stated})))
    return Found(name, version, None)


def _read(address: str) -> dict[str, Any] | None:
    """A document of the index; None where there is none of this name."""
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            known = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise OutOfReach(f"{address} answers {error.code}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise OutOfReach(f"{address} cannot be read ({reason})") from error
    return known if isinstance(known, dict) else None


def _named(advisory: dict[str, Any]) -> str:
    """One flaw comes under several names; the CVE stands for all of them."""
    names = sorted([*advisory.get("aliases", []), str(advisory.get("id"))])
    fixed = ", ".join(advisory.get("fixed_in") or []) or "no release"
    return f"{names[0]} (mended in {fixed})"


def main(index: str = INDEX, packages: Iterable[tuple[str, str]] | None = None) -> int:
    """0: no package is known to be vulnerable; 1: one is; 2: one or more could not be looked up."""
    asked = list(locked() if packages is None else packages)
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda pair: look_up(*pair, index), asked))
    except OutOfReach as why:
        print(f"error: nothing was checked: the advisory data are out of reach, {why}", file=sys.stderr)
        return 2
    unknown = [each for each in found if each.advisories is None]
    if len(unknown) == len(found):
        print(f"error: nothing was checked: {index} has none of the {len(found)} releases", file=sys.stderr)
        return 2
    for each in found:
        for advisory in each.advisories or ():
            print(f"{each.name} {each.version}: {advisory}")
    vulnerable = sum(bool(each.advisories) for each in found)
    print(
        f"{len(found) - len(unknown)} of {len(found)} packages were looked up, {vulnerable} are vulnerable."
    )
    if vulnerable:
        return 1
    if unknown:
        names = ", ".join(f"{each.name} {each.version}" for each in unknown)
        print(f"error: the index knows nothing of these releases: {names}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
