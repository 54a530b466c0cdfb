"""Explore in a real browser: load, drag, look, rotate, upload, share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser

CLOUD = ".st-key-cloud .js-plotly-plot"


RANGE = ".tpc-sliders input[type=range]"
TYPED = ".tpc-sliders input[type=number]"


def drag(page: Any, *shares: float) -> None:
    """Take the first slider by the mouse, along some shares of its length, and let it go."""
    box = page.locator(RANGE).first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for share in shares:
        page.mouse.move(box["x"] + share * box["width"], middle, steps=3)
        follow(page)
    page.mouse.up()
    settle(page)


def follow(page: Any) -> None:
    """Wait until every picture shows the last movement that was sent."""
    page.wait_for_function(
        """() => { const sent = Number(document.querySelector('.tpc-sliders').dataset.sent || 0);
        const shown = [...document.querySelectorAll('[data-stamp]')];
        return shown.length >= 3 && shown.every(part => Number(part.dataset.stamp) >= sent); }"""
    )


def settle(page: Any) -> None:
    """Wait until the sliders rest, and the pictures and the address have followed."""
    page.wait_for_selector(".tpc-sliders[data-state=resting]")
    follow(page)
    wait_for_query(page, "at", page.locator(TYPED).first.input_value())


def type_value(page: Any, value: str) -> None:
    """Write a value beside the first slider."""
    page.locator(TYPED).first.fill(value)
    page.locator(TYPED).first.press("Enter")
    settle(page)


def wait_for_query(page: Any, name: str, value: str) -> None:
    wanted = "" if value == "0" else value
    page.wait_for_function(
        "([name, value]) => (new URL(location).searchParams.get(name) || '') === value", arg=[name, wanted]
    )


def drawn(page: Any, count: int = 8) -> list[float]:
    """A few coordinates of the drawn cloud."""
    script = f"() => Array.from(document.querySelector('{CLOUD}')._fullData.at(-1).x.slice(0, {count}))"
    return [round(float(value), 4) for value in page.evaluate(script)]


def eye(page: Any) -> dict[str, float]:
    """Where the camera is, as the renderer has it."""
    script = f"() => document.querySelector('{CLOUD}')._fullLayout.scene._scene.getCamera().eye"
    return json.loads(json.dumps(page.evaluate(script)))


def bars(page: Any) -> list[str]:
    return page.locator(".tpc-class").all_inner_texts()


def rotate(page: Any) -> None:
    box = page.locator(CLOUD).bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10, steps=4)
    page.mouse.move(x + 90, y + 25, steps=4)
    page.mouse.up()
    page.wait_for_selector(".st-key-cloud .tpc-plot[data-camera]")


def test_a_slider_moves_the_cloud_and_the_prediction(visit) -> None:
    page = visit()
    page.get_by_role("button", name="Choose an object").click()
    page.locator('.tpc-thumbnails button[data-name="chair-2"]').click()
    page.get_by_text("Office chair", exact=True).first.wait_for()
    wait_for_query(page, "object", "gallery:chair-2")
    points, votes = drawn(page), bars(page)
    drag(page, 0.6, 0.75, 0.85)
    assert float(page.locator(TYPED).first.input_value()) > 90  # degrees: 0.85 of the way from -180 to 180
    assert drawn(page) != points
    assert bars(page) != votes


def test_the_camera_stays_where_the_user_put_it(visit) -> None:
    page = visit()
    start = eye(page)
    rotate(page)
    turned = eye(page)
    assert any(abs(turned[k] - start[k]) > 0.05 for k in "xyz")
    page.mouse.wheel(0, -200)
    page.wait_for_function(
        f"x => document.querySelector('{CLOUD}')._fullLayout.scene._scene.getCamera().eye.x !== x",
        arg=turned["x"],
    )
    rested = turned
    while (turned := eye(page)) != rested:  # a zoom glides to its end
        rested = turned
        page.wait_for_timeout(100)
    points = drawn(page)
    drag(page, 0.6)
    assert drawn(page) != points
    assert eye(page) == pytest.approx(turned, abs=1e-6)
    page.get_by_text("Displacement", exact=True).click()
    wait_for_query(page, "colour", "displacement")
    page.wait_for_function(
        f"() => document.querySelector('{CLOUD}')._fullData.at(-1).marker.colorbar?.title?.text === 'displacement'"
    )
    assert eye(page) == pytest.approx(turned, abs=1e-6)


def test_while_a_slider_moves_points_go_straight_to_the_renderer(visit) -> None:
    """Plotly.react, which takes three times as long, is left to changes of more than numbers."""
    page = visit("?transform=z-twist")
    first = drawn(page)
    page.evaluate(
        """() => { window.reacts = 0; window.pictures = []; const slow = Plotly.react;
        Plotly.react = (...all) => { window.reacts += 1; return slow(...all); };
        const plot = document.querySelector('.st-key-cloud .tpc-plot');
        const x = () => plot.querySelector('.js-plotly-plot')._fullData.at(-1).x;
        new MutationObserver(() => window.pictures.push({reacts: window.reacts, x: Array.from(x().slice(0, 8))}))
          .observe(plot, {attributeFilter: ['data-stamp']}); }"""
    )
    drag(page, 0.7)
    picture = page.evaluate("() => window.pictures[0]")
    assert picture["reacts"] == 0
    assert [round(x, 4) for x in picture["x"]] != first


def test_a_typed_value_undo_and_redo(visit) -> None:
    page = visit()
    start = drawn(page)
    type_value(page, "30")
    moved = drawn(page)
    assert moved != start
    for arrow, value, points in (("↶", "0", start), ("↷", "30", moved)):
        page.get_by_role("button", name=arrow).click()
        wait_for_query(page, "at", value)
        assert page.locator(TYPED).first.input_value() == value
        page.wait_for_function(
            f"x => Math.abs(document.querySelector('{CLOUD}')._fullData.at(-1).x[0] - x) < 1e-3",
            arg=points[0],
        )


def test_a_mesh_of_the_visitors_own_can_be_uploaded_and_survives_a_reload(visit, tmp_path: Path) -> None:
    mesh = tmp_path / "my-tetrahedron.off"
    mesh.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n")
    page = visit()
    before = drawn(page)
    page.get_by_role("button", name="Choose an object").click()
    page.get_by_role("tab", name="Upload").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(str(mesh))
    page.get_by_role("button", name="Show this object").click()
    page.get_by_text("my-tetrahedron", exact=True).first.wait_for()
    page.wait_for_function("() => new URL(location).searchParams.get('object')?.startsWith('upload:')")
    page.wait_for_function(
        f"x => Math.abs(document.querySelector('{CLOUD}')._fullData.at(-1).x[0] - x) > 1e-6", arg=before[0]
    )
    page.reload()
    page.get_by_text("my-tetrahedron", exact=True).first.wait_for()


def test_a_link_opens_the_same_screen_elsewhere(visit) -> None:
    page = visit("?object=gallery:lamp-1&transform=z-twist&points=256&colour=displacement")
    type_value(page, "35")
    where = urlsplit(page.url)
    held = {name: values[0] for name, values in parse_qs(where.query).items()}
    assert held == {
        "object": "gallery:lamp-1",
        "transform": "z-twist",
        "at": "35",
        "points": "256",
        "colour": "displacement",
    }
    other = visit(f"?{where.query}")
    assert drawn(other) == drawn(page)
    assert bars(other) == bars(page)
    broken = visit("?object=gallery:no-such-thing&at=much")
    broken.get_by_text("in the link was left out").first.wait_for()
    broken.get_by_text("Wooden chair").first.wait_for()
