"""The stage's bundle is what its sources make, and brings three.js with its notice."""

from __future__ import annotations

import hashlib
import json
import re
import shutil

import pytest

from scripts.build_stage import BUNDLE, RECORD, STAGE, bundle, digest_of_sources


def test_the_bundle_is_the_one_that_was_recorded() -> None:
    """Without node nothing can be built, but neither the bundle nor a source can change unnoticed."""
    record = json.loads(RECORD.read_text())
    again = "run `python scripts/build_stage.py`"
    assert record["sha256"] == hashlib.sha256(BUNDLE.read_bytes()).hexdigest(), again
    assert record["sources"] == digest_of_sources(), again


def test_the_sources_make_the_bundle() -> None:
    if shutil.which("npm") is None:
        pytest.skip("needs node and npm, which nobody needs to run the explorer")
    try:
        made = bundle()
    except SystemExit as error:
        pytest.skip(f"npm brought no packages: {str(error)[:200]}")
    assert made == BUNDLE.read_bytes(), "run `python scripts/build_stage.py`"


def test_what_npm_brings_is_pinned_by_its_hash_and_names_no_address() -> None:
    package = json.loads((STAGE / "package.json").read_text())
    pins = {**package["dependencies"], **package["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pins.values())
    lock = (STAGE / "package-lock.json").read_text()
    packages = {path: facts for path, facts in json.loads(lock)["packages"].items() if path}
    assert all(facts["integrity"].startswith("sha512-") for facts in packages.values())
    assert "://" not in lock


def test_the_notice_of_three_js_is_in_the_bundle() -> None:
    text = BUNDLE.read_text()
    assert "@license" in text
    assert "Three.js Authors" in text
    assert "SPDX-License-Identifier: MIT" in text
