"""The README's list of rooms is the order of imports: no cycle, no edge upwards, no room that is not named."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "tpc_core"


def rooms() -> list[str]:
    """The rooms of tpc_core, from the first to the last, as the README lists them."""
    listed = (ROOT / "README.md").read_text(encoding="utf-8").split("tpc_core/\n", 1)[1].split("app/ ", 1)[0]
    return [
        name.rstrip("/").removesuffix(".py") for name in re.findall(r"^  (\S+)", listed, flags=re.MULTILINE)
    ]


def room_of(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The rooms that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "tpc_core":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tpc_core."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("tpc_core."))


MODULES = sorted(path for path in CORE.rglob("*.py") if path != CORE / "__init__.py")


def test_every_room_is_named_once() -> None:
    assert len(set(rooms())) == len(rooms())
    assert {room_of(path) for path in MODULES} == set(rooms())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_a_module_imports_only_from_rooms_above_its_own(path: Path) -> None:
    order = {name: place for place, name in enumerate(rooms())}
    own = order[room_of(path)]
    upward = [name for name in imports(path) if name in order and order[name] > own]
    assert not upward


def test_the_core_knows_nothing_of_the_page() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) (streamlit|app)\b", text, flags=re.MULTILINE), path


def test_what_a_docstring_cites_is_there() -> None:
    """Statements are cited by their titles in docs/theory.md, and that page names every room."""
    page = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    titles = set(re.findall(r"^## (.+)$", page, flags=re.MULTILINE))
    sources = [
        path
        for folder in ("tpc_core", "app", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    ]
    cited = {
        title
        for path in sources
        for title in re.findall(r'docs/theory\.md,\s+"([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(cited) > 4
    assert cited <= titles | {"([^"}
    introduction = page.split("\n## ", 1)[0]
    assert all(f"`{name}" in introduction for name in rooms())


WITHOUT_DOORS = ROOT / "app" / "server" / "certificate_reader.py"
"""It runs in the upload process, where packages are empty (tpc_core/data/sandbox/start.py)."""


def app_imports() -> Iterator[tuple[Path, str, list[str]]]:
    """What the explorer imports of the library: where, from which module, which names."""
    for path in sorted(set((ROOT / "app").rglob("*.py")) - {WITHOUT_DOORS}):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and re.match(r"tpc_core\b", node.module or ""):
                yield path, str(node.module), [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                yield from ((path, a.name, []) for a in node.names if a.name.startswith("tpc_core"))


def test_the_page_enters_the_library_by_its_doors() -> None:
    """It asks packages for their public names, or a room that is one file; no module inside a package."""
    entered = list(app_imports())
    assert len(entered) > 100
    for path, module, names in entered:
        inside = ROOT.joinpath(*module.split("."))
        if inside.is_dir():
            public = importlib.import_module(module).__all__
            assert set(names) <= set(public), f"{path}: {module} does not offer {set(names) - set(public)}"
        else:
            assert module.count(".") == 1, f"{path}: {module} is a module inside a package"


def test_only_the_look_under_a_slider_draws_noise_in_the_server() -> None:
    """All other votes are cast by workers: pages hand work to the engine, and name no voter and no noise."""
    drawing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "app").rglob("*.py")
        if re.search(r"\b(Voter|NoiseStream|count_votes)\b|\.perturb\(", path.read_text(encoding="utf-8"))
    }
    assert drawing == {"app/pages/explore/ballot.py"}
