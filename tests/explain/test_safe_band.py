"""The safe band of a slider is what `tpc certify --max` finds, known after a few votes, and never too wide."""

from __future__ import annotations

import pytest

from tpc_core import Budget, Options, certify, load_model, load_object, parse_transform
from tpc_core.engines import Inline
from tpc_core.forecast import SafeBandWork, parts_of_sliders, safe_band_events
from tpc_core.verify import verify


@pytest.fixture(scope="module")
def chair():
    return load_object("gallery:chair-1", points=64)


@pytest.mark.parametrize(
    ("name", "transform"),
    [("pointnet64-z-twist", "z-twist"), ("pointnet64-noise", "z-taper"), ("pointnet64-noise", "z-rotation")],
)
def test_the_band_is_what_the_largest_radius_is(chair, name: str, transform: str) -> None:
    model = load_model(name)
    bands = list(safe_band_events(model, chair, parse_transform(transform), most_votes=1500))
    made = certify(model, chair, transform, None, Options(largest=True, budget=Budget(samples=1500)))
    (found,) = bands[-1].reach.values()
    (largest,) = made.radius.values()
    assert found == pytest.approx(largest if made.verdict == "certified" else 0.0)
    assert bands[-1].certificate is not None
    verify(bands[-1].certificate)


def test_the_band_is_there_early_and_only_widens(chair) -> None:
    twist, model = parse_transform("z-twist"), load_model("pointnet64-z-twist")
    bands = list(safe_band_events(model, chair, twist, most_votes=2000))
    reaches = [band.reach["twist"] for band in bands]
    assert bands[0].votes <= 256
    assert reaches == sorted(reaches)
    assert reaches[0] > 0
    assert all(band.votes <= 2000 for band in bands)


def test_no_stretch_is_called_certified_and_lost() -> None:
    car, turn = load_object("gallery:car-1", points=64), parse_transform("z-rotation")
    *_, band = safe_band_events(load_model("pointnet64-noise"), car, turn, most_votes=1000)
    assert band.attacks  # a network that was not trained for it takes a car that is turned for a tent
    assert all(low > band.reach["rotation"] or high < -band.reach["rotation"] for low, high in band.attacks)


def test_a_composition_has_a_band_for_each_slider_and_none_where_there_is_no_rule(chair) -> None:
    both = parse_transform("z-taper+z-rotation")
    assert [part.name for part in parts_of_sliders(both)] == ["z-taper", "z-rotation"]
    twist = parse_transform("z-twist+z-rotation")
    reports = list(SafeBandWork(load_model("pointnet64-z-twist"), chair, twist).run(Inline()))
    assert set(reports[-1].result) == {"z-twist"}
