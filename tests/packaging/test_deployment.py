"""The container, the workflow and the settings say what the rest of the repository says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app.server import system
from app.server.health import address
from app.server.system import LIBRARIES, install_command, missing_libraries

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_a_missing_library_is_named_with_the_command_that_installs_it() -> None:
    missing = missing_libraries({"libc.so.6": "libc6", "libnosuch.so.9": "libnosuch9"})
    assert missing == (["libnosuch9"] if sys.platform == "linux" else [])
    assert install_command(["libgl1", "libegl1"]).endswith("libgl1 libegl1")


def test_a_browser_needs_what_drives_it_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "DRIVER_LIBRARIES", {"libnosuch.so.9": "libnosuch9"})
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    assert system.missing_browser() == ["chromium", *(["libnosuch9"] if sys.platform == "linux" else [])]


def test_looking_for_libraries_needs_nothing_but_python() -> None:
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "app/server/system.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert bare.returncode == 0, bare.stderr


def test_the_container_brings_what_open3d_needs() -> None:
    (names,) = re.findall(r"apt-get install -y --no-install-recommends (.+?) \\", DOCKERFILE)
    assert set(names.split()) == set(LIBRARIES.values())


def test_the_container_does_not_run_as_root_and_reports_its_health() -> None:
    assert re.search(r"^USER \d+$", DOCKERFILE, flags=re.MULTILINE)
    assert '"app.server.health"' in DOCKERFILE


def test_the_container_and_the_lock_use_the_same_uv() -> None:
    (version,) = re.findall(r"uv==(\S+)", DOCKERFILE)
    assert f"\nuv=={version} " in (ROOT / "requirements-dev.lock").read_text()


@pytest.mark.parametrize(("prefix", "expected"), [("", "8501/_stcore"), ("/tpc/", "8501/tpc/_stcore")])
def test_health_is_asked_under_the_prefix(
    prefix: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STREAMLIT_SERVER_PORT", raising=False)
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", prefix)
    assert expected in address()


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: .ci/run" in workflow


def test_the_app_is_local_and_sends_nothing_home() -> None:
    settings = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())
    assert settings["browser"]["gatherUsageStats"] is False
    server = settings["server"]
    assert server["address"] == "127.0.0.1"
    assert server["enableXsrfProtection"] is True
    assert server["showEmailPrompt"] is False
    assert server["maxUploadSize"] <= 50
