"""An estimate looks at some cells of a large cover: a page shows it before anything runs, for everybody's links."""

from __future__ import annotations

from typing import Any

import pytest

from tpc_core import load_model, load_object
from tpc_core.certify.estimate import LISTED, estimate
from tpc_core.covers import lattice

LARGEST = {"twist": 180.0, "taper": 0.5, "rotation": 180.0}


def listed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many cells were made, each time."""
    made: list[int] = []
    cells = lattice.Lattice._cells

    def counted(self: Any, region: Any, paths: Any, *box: Any) -> Any:
        made.append(len(paths))
        return cells(self, region, paths, *box)

    monkeypatch.setattr(lattice.Lattice, "_cells", counted)
    return made


def test_the_largest_question_of_a_link_is_estimated_by_some_of_its_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = listed(monkeypatch)
    found = estimate(
        load_model("pointnet64-noise"), load_object("gallery:chair-1"), "z-twist+z-taper+z-rotation", LARGEST
    )
    assert found.cells > 10 * LISTED
    assert found.samples is not None
    assert found.samples > found.cells
    assert max(made) <= LISTED


def test_some_cells_tell_what_all_of_them_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1")
    every = estimate(model, cloud, "z-twist+z-taper", {"twist": 180.0, "taper": 0.5})
    assert every.cells > 64
    monkeypatch.setitem(estimate.__globals__, "LISTED", 64)
    some = estimate(model, cloud, "z-twist+z-taper", {"twist": 180.0, "taper": 0.5})
    assert some.cells == every.cells
    assert some.samples == pytest.approx(every.samples, rel=0.1)
