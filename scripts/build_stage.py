"""Make the stage's bundle: three.js and our own source in one file, by esbuild, both at the versions that are locked.

`python scripts/build_stage.py` needs node and npm; the bundle and its record are part of the repository, so that
nobody else does. `--check` makes it elsewhere and says whether it is the one in the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

STAGE = Path(__file__).resolve().parents[1] / "app" / "components" / "stage"
BUNDLE, RECORD = STAGE / "stage.bundle.js", STAGE / "stage.bundle.json"
_PACKAGES = ("package.json", "package-lock.json")


def sources() -> list[Path]:
    """What the bundle is made of, but for what npm brings."""
    return [*(STAGE / name for name in _PACKAGES), *sorted((STAGE / "source").glob("*.js"))]


def digest_of_sources() -> str:
    """One digest of all sources, by name and content."""
    digest = hashlib.sha256()
    for path in sources():
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def bundle() -> bytes:
    """The bundle, made in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _PACKAGES:
            shutil.copy(STAGE / name, folder)
        shutil.copytree(STAGE / "source", Path(folder) / "source")
        _run(["npm", "ci", "--no-audit", "--no-fund"], folder)
        options = ["--bundle", "--minify", "--format=iife", "--global-name=TpcStage", "--target=es2022"]
        command = ["node_modules/.bin/esbuild", "source/index.js", *options, "--legal-comments=inline"]
        return _run(command, folder)


def record(made: bytes) -> str:
    """What is written beside the bundle."""
    packages = json.loads((STAGE / "package.json").read_text())
    facts = {
        "sha256": hashlib.sha256(made).hexdigest(),
        "sources": digest_of_sources(),
        "three": packages["dependencies"]["three"],
        "esbuild": packages["devDependencies"]["esbuild"],
    }
    return json.dumps(facts, indent=1) + "\n"


def _run(command: list[str], folder: str) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    made = bundle()
    if parser.parse_args().check:
        sys.exit(
            0 if made == BUNDLE.read_bytes() else "the bundle is not what its sources make; build it again"
        )
    BUNDLE.write_bytes(made)
    RECORD.write_text(record(made))
    print(f"{BUNDLE.name}: {len(made) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
