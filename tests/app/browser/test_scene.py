"""Certify as one scene in a real browser: the map poses the object, sliders move its cursor, the landscape fills in."""

from __future__ import annotations

from typing import Any

import pytest

from tpc_core import Budget, Options, certify, load_model, load_object
from tpc_core.forecast.safe_band import MOST_VOTES

pytestmark = pytest.mark.browser

MAP = ".st-key-run_map .tpc-plot"
POSED = "() => [...document.querySelector('.st-key-cloud .tpc-stage').stage.pose.internal]"
ASKED = """() => { const {_fullData: traces} = document.querySelector('.st-key-run_map .js-plotly-plot');
  const flat = traces.find(trace => trace.type === 'heatmap');
  return flat ? flat.z.length : (traces.find(trace => trace.mode === "lines+markers")?.x.length ?? 0); }"""
"""How fine the map is: the rows of a plane, or the nodes of a curve."""


def over(page: Any, across: float, up: float) -> None:
    """Move the pointer to a place of the plot area, in parts of it."""
    box = page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])


def test_moving_over_the_map_poses_the_object_and_a_slider_moves_the_cursor(visit) -> None:
    page = visit(
        "certify?transform=z-taper%2Bz-rotation&model=pointnet64-cylinder&radius=taper%3D0.2,rotation%3D20"
    )
    page.wait_for_selector(f"{MAP}[data-drawn]")
    page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")
    camera = page.locator(".st-key-cloud .tpc-stage").get_attribute("data-camera")
    over(page, 0.9, 0.1)
    page.wait_for_function(f"() => ({POSED})()[0] > 0.1 && ({POSED})()[1] < -0.1")
    over(page, 0.1, 0.9)
    page.wait_for_function(f"() => ({POSED})()[0] < -0.1 && ({POSED})()[1] > 0.1")
    page.mouse.move(5, 5)  # off the map: back to where the sliders are
    page.wait_for_function(f"() => ({POSED})().every(value => Math.abs(value) < 1e-6)")
    slider = page.locator(".st-key-scene_sliders input[type=range]").first
    slider.evaluate("node => { node.value = 0.1; node.dispatchEvent(new Event('input', {bubbles: true})); }")
    page.wait_for_function(f"() => Math.abs(({POSED})()[0] - 0.1) < 0.01")
    page.wait_for_function(f"() => document.querySelector('{MAP}').dataset.cursor.startsWith('0.1')")
    assert page.locator(".st-key-cloud .tpc-stage").get_attribute("data-camera") == camera


def test_moving_along_a_curve_poses_the_object(visit) -> None:
    page = visit("certify?transform=z-twist&model=pointnet64-z-twist&radius=60")
    page.wait_for_selector(f"{MAP}[data-drawn]")
    page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")
    over(page, 0.9, 0.5)
    page.wait_for_function(f"() => ({POSED})()[0] > 0.5")
    over(page, 0.1, 0.5)
    page.wait_for_function(f"() => ({POSED})()[0] < -0.5")
    page.mouse.move(5, 5)
    page.wait_for_function(f"() => Math.abs(({POSED})()[0]) < 1e-6")


def test_pointing_at_a_place_of_a_map_of_three_parameters_poses_the_object(visit) -> None:
    page = visit(
        "certify?transform=z-twist%2Bz-taper%2Bz-rotation&radius=twist%3D10,taper%3D0.1,rotation%3D1"
    )
    page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")
    page.locator(".st-key-map_kind button", has_text="3D").click()
    page.wait_for_selector(".st-key-run_volume .tpc-plot[data-drawn]")
    box = page.locator(".st-key-run_volume .js-plotly-plot").bounding_box()
    for step in range(900):  # sampled places are small: the pointer looks for one
        across, up = step % 30, step // 30
        page.mouse.move(
            box["x"] + (0.2 + 0.02 * across) * box["width"], box["y"] + (0.2 + 0.02 * up) * box["height"]
        )
        page.wait_for_timeout(20)
        if any(abs(value) > 1e-3 for value in page.evaluate(POSED)):
            break
    else:
        pytest.fail("no place of the map posed the object")


@pytest.mark.parametrize(
    ("question", "first", "later"),
    [
        ("transform=z-twist&model=pointnet64-z-twist&radius=60", 2, 33),
        ("transform=general-rotation&model=pointnet64-so3-group&radius=180", 5, 9),
        ("transform=z-taper%2Bz-rotation&model=pointnet64-cylinder&radius=taper%3D0.2,rotation%3D20", 9, 17),
    ],
    ids=["z-twist", "general rotation by group", "taper and rotation"],
)
def test_the_landscape_fills_in_over_time(visit, question: str, first: int, later: int) -> None:
    page = visit(f"certify?{question}")
    page.wait_for_selector(f"{MAP}[data-drawn]")
    page.wait_for_function(f"() => ({ASKED})() >= {first}")
    page.wait_for_function(f"() => ({ASKED})() >= {later}")


def test_the_safe_band_appears_and_agrees_with_the_largest_radius(visit) -> None:
    page = visit("explore?transform=z-taper&model=pointnet64-noise")
    band = page.locator(".st-key-pose_sliders .tpc-band.certified").first
    band.wait_for(state="attached")
    page.get_by_text("Certificates behind the band").wait_for()
    options = Options(largest=True, budget=Budget(samples=MOST_VOTES))
    chair = load_object("gallery:chair-1", points=64)
    made = certify(load_model("pointnet64-noise"), chair, "z-taper", None, options)
    assert f"up to {made.radius['taper']:.4g}" in str(band.get_attribute("title"))
