"""The numbered examples run as they are, from any folder, and say what their docstrings promise."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*"))
SAID = {
    "01_certify": r"CERTIFIED Every z-taper within 0\.2 .*\n.*chair\.json is valid: certified",
    "02_watch_events": r"cells decided, .*\n(CERTIFIED|UNDECIDED) ",
    "03_your_own_model": r"lamp-1: CERTIFIED .*the class tall.*\nbed-1: CERTIFIED .*the class wide",
    "04_your_own_transform": r"CERTIFIED Every z-stretch within 0\.15 .*\nverified: certified",
    "05_attack": r"Every x-rotation .*radius 2: No x-rotation was found.*radius 60: An attack .*radius 60: An attack",
    "06_evaluate_a_data_set": r"z-rotation:180: \d+ % of 11 objects",
    "07_in_a_notebook": r"0\.1  certified ",
}


def program(example: Path) -> str:
    """The code of a script, or of all cells of a notebook in their order."""
    if example.suffix == ".py":
        return example.read_text(encoding="utf-8")
    cells = json.loads(example.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_it_promises(example: Path, tmp_path: Path) -> None:
    script = example
    if example.suffix != ".py":
        script = tmp_path / f"{example.stem}.py"
        script.write_text(program(example), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SAID[example.stem], done.stdout, flags=re.DOTALL), done.stdout


def test_the_examples_are_numbered_without_a_gap() -> None:
    assert [path.name[:2] for path in EXAMPLES] == [f"{number:02}" for number in range(1, len(EXAMPLES) + 1)]
    assert {path.stem for path in EXAMPLES} == set(SAID)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_readme_points_to_every_example(example: Path) -> None:
    assert f"examples/{example.name}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "example", [path for path in EXAMPLES if path.suffix == ".py"], ids=lambda path: path.stem
)
def test_a_script_says_first_what_it_shows(example: Path) -> None:
    assert ast.get_docstring(ast.parse(program(example)))


def test_the_notebook_holds_no_output_of_the_machine_that_wrote_it() -> None:
    for cell in json.loads((ROOT / "examples" / "07_in_a_notebook.ipynb").read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
