"""Write a bill of materials in CycloneDX 1.6: every package that is installed to run, its licence and its hashes.

`make bill` writes dist/bill-of-materials.cdx.json from requirements.lock; it goes with a release.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # this is a script, and its neighbour knows the licences

from scripts.licences import PAGE, torch_version  # noqa: E402
from tpc_core.version import VERSION  # noqa: E402

BILL = ROOT / "dist" / "bill-of-materials.cdx.json"
_LOCKED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==(\S+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)


@lru_cache(maxsize=1)
def licences() -> dict[str, str]:
    """What docs/licences.md says, which a test compares with the lock: not every package is installed everywhere."""
    return dict(re.findall(r"^\| ([a-z0-9.-]+) \| \S+ \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE))


def components() -> list[dict[str, Any]]:
    """The locked packages and PyTorch, which is outside the lock."""
    found = [
        component(name, version, re.findall(r"sha256:([0-9a-f]{64})", rest))
        for name, version, rest in _LOCKED.findall((ROOT / "requirements.lock").read_text())
    ]
    return sorted([*found, component("torch", torch_version(), [])], key=lambda entry: str(entry["name"]))


def component(name: str, version: str, hashes: list[str]) -> dict[str, Any]:
    """One package. A release of it is several files; pip takes any one whose hash is among these."""
    identifier = f"pkg:pypi/{name}@{version}"
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": identifier,
        "name": name,
        "version": version,
        "purl": identifier,
        "licenses": [{"license": {"name": licences()[name]}}],
    }
    if hashes:
        made["properties"] = [{"name": "tpc:sha256", "value": value} for value in sorted(hashes)]
    return made


def bill() -> dict[str, Any]:
    """The whole document; its number follows from the lock, so the same lock has the same number."""
    listed = components()
    digest = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()
    product = f"pkg:pypi/tpc-explorer@{VERSION}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "tpc-explorer",
                "version": VERSION,
                "purl": product,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": listed,
        "dependencies": [{"ref": product, "dependsOn": [entry["bom-ref"] for entry in listed]}],
    }


if __name__ == "__main__":
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill(), indent=1) + "\n")
    print(BILL.relative_to(ROOT))
