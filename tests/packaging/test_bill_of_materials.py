"""The bill of materials names everything that is installed to run, as CycloneDX has it."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.bill_of_materials import bill
from scripts.licences import locked, torch_version

ROOT = Path(__file__).resolve().parents[2]


def test_the_bill_names_every_locked_package_with_its_hashes_and_licence() -> None:
    listed = {entry["name"]: entry for entry in bill()["components"]}
    versions = {**locked(ROOT / "requirements.lock"), "torch": torch_version()}
    assert {name: entry["version"] for name, entry in listed.items()} == versions
    assert all(entry["purl"] == f"pkg:pypi/{name}@{versions[name]}" for name, entry in listed.items())
    assert all(entry["licenses"][0]["license"]["name"] for entry in listed.values())
    text = (ROOT / "requirements.lock").read_text()
    stated = [p["value"] for entry in listed.values() for p in entry.get("properties", [])]
    assert len(stated) == text.count("sha256:")
    assert "properties" in listed["numpy"]


def test_the_bill_is_json_of_the_stated_kind() -> None:
    made = json.loads(json.dumps(bill()))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert made["serialNumber"] == bill()["serialNumber"]
