"""Explore in a real browser: load, drag, look, rotate, upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

CLOUD = ".st-key-cloud .js-plotly-plot"
BARS = ".st-key-bars .js-plotly-plot"


def slide(page: Any, value: float) -> None:
    """Move the first slider as a drag does, let it go, and wait until every picture has followed."""
    page.evaluate(
        """value => { const range = document.querySelector('.tpc-sliders input[type=range]');
        range.value = value; range.dispatchEvent(new Event('input', {bubbles: true}));
        range.dispatchEvent(new Event('change', {bubbles: true})); }""",
        value,
    )
    settle(page)


def settle(page: Any) -> None:
    page.wait_for_timeout(300)
    page.wait_for_function(
        """() => { const sent = Number(document.querySelector('.tpc-sliders').dataset.sent || 0);
        return [...document.querySelectorAll('.tpc-plot')].every(plot => Number(plot.dataset.stamp) >= sent); }"""
    )


def first_points(page: Any) -> list[float]:
    """A few coordinates of the drawn cloud."""
    script = f"() => Array.from(document.querySelector('{CLOUD}')._fullData.at(-1).x.slice(0, 8))"
    return [round(float(value), 4) for value in page.evaluate(script)]


def eye(page: Any) -> dict[str, float]:
    """Where the camera is, as the renderer has it."""
    script = f"() => document.querySelector('{CLOUD}')._fullLayout.scene._scene.getCamera().eye"
    return json.loads(json.dumps(page.evaluate(script)))


def bar_lengths(page: Any) -> list[float]:
    script = f"() => document.querySelector('{BARS}')._fullData.flatMap(trace => Array.from(trace.x))"
    return [float(value) for value in page.evaluate(script)]


def rotate(page: Any) -> None:
    box = page.locator(f"{CLOUD}").bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10, steps=4)
    page.mouse.move(x + 90, y + 25, steps=4)
    page.mouse.up()
    page.wait_for_timeout(500)


def choose(page: Any, name: str) -> None:
    page.get_by_role("button", name="Choose an object").click()
    page.locator(f'.tpc-thumbnails button[data-name="{name}"]').click()
    page.locator(".tpc-thumbnails").wait_for(state="detached")


def test_a_slider_moves_the_cloud_and_the_prediction(visit) -> None:
    page = visit()
    choose(page, "chair-2")
    page.get_by_text("Office chair", exact=True).first.wait_for()
    points, bars = first_points(page), bar_lengths(page)
    slide(page, 120)
    assert first_points(page) != points
    assert bar_lengths(page) != bars


def test_the_camera_stays_where_the_user_put_it(visit) -> None:
    page = visit()
    start = eye(page)
    rotate(page)
    turned = eye(page)
    assert any(abs(turned[k] - start[k]) > 0.05 for k in "xyz")
    points = first_points(page)
    slide(page, 45)
    assert first_points(page) != points
    assert eye(page) == pytest.approx(turned, abs=1e-6)
    page.get_by_text("Displacement", exact=True).click()
    page.wait_for_timeout(1500)
    assert eye(page) == pytest.approx(turned, abs=1e-6)


def test_a_typed_value_undo_and_redo(visit) -> None:
    page = visit()
    typed = page.locator(".tpc-sliders input[type=number]").first
    start = first_points(page)
    typed.fill("30")
    typed.press("Enter")
    settle(page)
    moved = first_points(page)
    assert moved != start
    page.get_by_role("button", name="↶").click()
    page.wait_for_function("() => document.querySelector('.tpc-sliders input[type=number]').value === '0'")
    page.get_by_role("button", name="↷").click()
    page.wait_for_function("() => document.querySelector('.tpc-sliders input[type=number]').value === '30'")
    page.wait_for_timeout(1500)
    assert first_points(page) == moved


def test_a_mesh_of_the_visitors_own_can_be_uploaded(visit, tmp_path: Path) -> None:
    mesh = tmp_path / "my-tetrahedron.off"
    mesh.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n")
    page = visit()
    before = first_points(page)
    page.get_by_role("button", name="Choose an object").click()
    page.get_by_role("tab", name="Upload").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(str(mesh))
    page.get_by_role("button", name="Show this object").click()
    page.get_by_text("my-tetrahedron", exact=True).first.wait_for()
    page.wait_for_timeout(1500)
    assert first_points(page) != before


def test_nothing_is_fetched_from_elsewhere(chromium, server) -> None:
    context = chromium.new_context()
    page = context.new_page()
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda r: elsewhere.append(r.url) if not r.url.startswith((server, "data:", "blob:", "ws")) else None,
    )
    page.goto(server)
    page.wait_for_selector(".tpc-plot[data-drawn]", timeout=90_000)
    context.close()
    assert elsewhere == []
