"""Browsing a data set that lies on this machine: shelves, steps along them, and the way to an object on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.server import cache
from app.widgets.datasets import Shelf, parsed_spec, step

MAIN = str(Path(__file__).resolve().parents[2] / "app" / "navigation.py")
OFF = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"


@pytest.fixture(autouse=True)
def modelnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two airplanes, a bottle and three chairs, as Princeton ships them: objects 0 to 5."""
    for name, count in (("airplane", 2), ("bottle", 1), ("chair", 3)):
        folder = tmp_path / "ModelNet40" / name / "test"
        folder.mkdir(parents=True)
        for number in range(1, count + 1):
            (folder / f"{name}_{number:04d}.off").write_text(OFF)
    monkeypatch.setenv("TPC_MODELNET40", str(tmp_path / "ModelNet40"))
    monkeypatch.setenv("TPC_CACHE", str(tmp_path / "cache"))
    forget()
    yield
    forget()


def forget() -> None:
    for kept in (cache.dataset, cache.rows, cache.shape):
        kept.clear()


def rows(category: str = "all", search: str = "") -> list[int]:
    return Shelf("modelnet40", "test", category, search).rows().tolist()


def test_a_shelf_holds_what_was_searched_for() -> None:
    assert rows() == [0, 1, 2, 3, 4, 5]
    assert rows("chair") == [3, 4, 5]
    assert rows(search="_0002") == [1, 4]
    assert rows("chair", "airplane") == []


@pytest.mark.parametrize(
    ("start", "category", "by", "end"),
    [
        (3, "chair", 1, 4),
        (5, "chair", 1, 3),
        (3, "chair", -1, 5),
        (0, "all", -1, 5),
        (1, "chair", 1, 3),
        (1, "chair", -1, 5),
    ],
)
def test_steps_stay_on_the_shelf_and_go_round(start: int, category: str, by: int, end: int) -> None:
    shelf = Shelf("modelnet40", "test", category)
    assert step(shelf.spec(start), shelf, by) == shelf.spec(end)


def test_any_object_of_the_shelf_may_come_next() -> None:
    shelf = Shelf("modelnet40", "test", "chair")
    assert {step(shelf.spec(3), shelf, None) for _ in range(60)} == {shelf.spec(row) for row in (3, 4, 5)}


def test_a_shelf_of_another_split_is_not_stepped_along() -> None:
    assert step("modelnet40:test/2", Shelf("modelnet40", "train", "chair"), 1) == "modelnet40:test/3"


def test_only_objects_of_data_sets_have_neighbours() -> None:
    assert parsed_spec("modelnet40:test/17") == ("modelnet40", "test", 17)
    assert parsed_spec("gallery:chair-1") is None
    assert parsed_spec("upload:12") is None


def test_the_page_steps_from_one_object_to_the_next() -> None:
    app = AppTest.from_file(MAIN, default_timeout=60)
    app.query_params["object"] = "modelnet40:test/3"
    app.run()
    assert not app.exception
    assert any("0001" in text.value for text in app.markdown)
    app.button(key="object_after").click().run()
    assert not app.exception
    assert app.session_state["object"] == "modelnet40:test/4"
    assert any("0002" in text.value for text in app.markdown)
