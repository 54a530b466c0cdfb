"""Explore in a real browser: load, drag, look, rotate, upload, share."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tpc_core import load_shape, parse_transform

pytestmark = pytest.mark.browser

STAGE = ".st-key-cloud .tpc-stage"
PLOTLY = ".st-key-cloud_plotly .js-plotly-plot"


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
    script = f"() => Array.from(document.querySelector('{STAGE}').stage.positions().slice(0, {count}))"
    return [round(float(value), 4) for value in page.evaluate(script)]


def eye(page: Any) -> list[float]:
    """Where the camera is, once it rests."""
    page.wait_for_selector(f"{STAGE}[data-quality=full]")
    return page.evaluate(f"() => document.querySelector('{STAGE}').stage.view.camera.position.toArray()")


def bars(page: Any) -> list[str]:
    return page.locator(".tpc-class").all_inner_texts()


def rotate(page: Any) -> None:
    box = page.locator(STAGE).bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10, steps=4)
    page.mouse.move(x + 90, y + 25, steps=4)
    page.mouse.up()
    page.wait_for_timeout(700)  # it glides to its end


def test_a_slider_moves_the_cloud_and_the_prediction(visit) -> None:
    page = visit("explore")
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
    page = visit("explore")
    start = eye(page)
    rotate(page)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(700)
    turned = eye(page)
    assert max(abs(a - b) for a, b in zip(start, turned, strict=True)) > 0.05
    points = drawn(page)
    drag(page, 0.6)
    assert drawn(page) != points
    assert eye(page) == pytest.approx(turned, abs=1e-4)
    page.locator("[data-colour=displacement]").click()
    wait_for_query(page, "colour", "displacement")
    assert "moved by" in page.locator(".tpc-stage-legend").inner_text()
    assert eye(page) == pytest.approx(turned, abs=1e-4)
    page.get_by_text("60°", exact=True).click()
    wait_for_query(page, "at", "60")
    assert eye(page) == pytest.approx(turned, abs=1e-4)


def test_the_picture_follows_a_slider_without_the_server(visit) -> None:
    """The next frame shows the pose, even if the server never answers; what it draws is phi(x, z)."""
    page = visit("explore?transform=z-twist")
    page.context.set_offline(True)
    page.evaluate(
        f"""() => {{ const range = document.querySelector('{RANGE}'); range.value = 90;
        range.dispatchEvent(new Event('input', {{bubbles: true}})); }}"""
    )
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    twist = parse_transform("z-twist")
    points = load_shape("gallery:chair-1").cloud(1024).points.double()
    wanted = twist.apply(points, twist.from_edge([90.0]))[:4].flatten().tolist()
    assert drawn(page, 12) == pytest.approx(wanted, abs=2e-4)
    page.context.set_offline(False)


def test_a_typed_value_undo_and_redo(visit) -> None:
    page = visit("explore")
    start = drawn(page)
    type_value(page, "30")
    moved = drawn(page)
    assert moved != start
    steps = {
        "↶": lambda: page.get_by_role("button", name="↶").click(),
        "↷": lambda: page.get_by_role("button", name="↷").click(),
        "Ctrl+Z": lambda: page.keyboard.press("Control+z"),
        "Ctrl+Y": lambda: page.keyboard.press("Control+y"),
    }
    for (name, act), value, points in zip(steps.items(), ["0", "30"] * 2, [start, moved] * 2, strict=True):
        act()
        wait_for_query(page, "at", value)
        assert page.locator(TYPED).first.input_value() == value, name
        page.wait_for_function(
            f"x => Math.abs(document.querySelector('{STAGE}').stage.positions()[0] - x) < 1e-3", arg=points[0]
        )


def test_a_number_that_is_not_a_whole_step_is_taken_as_typed(visit) -> None:
    page = visit("explore")
    type_value(page, "12.35")
    assert page.locator(TYPED).first.input_value() == "12.35"
    type_value(page, "9999")
    assert page.locator(TYPED).first.input_value() == "180"


def test_the_page_is_also_at_its_name(visit) -> None:
    page = visit("explore?transform=z-twist&at=20")
    assert page.get_by_text("Page not found").count() == 0
    assert page.locator(TYPED).first.input_value() == "20"


def test_without_a_transform_nothing_moves(visit) -> None:
    page = visit("explore?transform=z-twist&at=80")
    original = load_shape("gallery:chair-1").cloud(1024).points[:2].flatten().tolist()
    assert drawn(page, 6) != pytest.approx(original, abs=1e-3)
    page.get_by_role("button", name="Clear all").click()
    page.get_by_text("No transform is chosen").wait_for()
    page.wait_for_function(
        f"x => Math.abs(document.querySelector('{STAGE}').stage.positions()[0] - x) < 1e-3", arg=original[0]
    )
    assert drawn(page, 6) == pytest.approx(original, abs=1e-3)


def test_plotly_shows_the_same_scene_one_click_away(visit) -> None:
    page = visit("explore?transform=z-twist&at=40")
    points = drawn(page, 3)
    page.locator(f"{STAGE} [data-action=plotly]").click()
    page.wait_for_selector(f"{PLOTLY} canvas")
    page.wait_for_function(f"() => document.querySelector('{PLOTLY}')._fullData?.length >= 3")
    shown = page.evaluate(
        f"() => {{ const t = document.querySelector('{PLOTLY}')._fullData.at(-1); return [t.x[0], t.y[0], t.z[0]]; }}"
    )
    assert shown == pytest.approx(points, abs=1e-3)
    page.locator(".st-key-cloud_plotly [data-action=stage]").click()
    page.wait_for_selector(f"{STAGE}[data-drawn]")
    assert drawn(page, 3) == points


def test_a_browser_without_webgl_gets_plotly(visit, chromium, server) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.add_init_script(
        """HTMLCanvasElement.prototype.getContext = (old => function (kind, ...rest) {
        return kind === 'webgl2' ? null : old.call(this, kind, ...rest);
        })(HTMLCanvasElement.prototype.getContext);"""
    )
    page.goto(f"{server}/explore")
    page.wait_for_selector(f"{PLOTLY} canvas", timeout=60_000)
    context.close()


def test_a_lost_graphics_context_comes_back(visit) -> None:
    page = visit("explore?transform=z-twist&at=40")
    points = drawn(page)
    page.evaluate(
        f"""() => {{ const gl = document.querySelector('{STAGE}').stage.renderer.getContext();
        const lose = gl.getExtension('WEBGL_lose_context'); lose.loseContext();
        setTimeout(() => lose.restoreContext(), 300); }}"""
    )
    page.wait_for_selector(f"{STAGE}[data-lost]")
    page.wait_for_selector(f"{STAGE}:not([data-lost])")
    drag(page, 0.6)
    assert drawn(page) != points


def test_a_mesh_of_the_visitors_own_can_be_uploaded_and_survives_a_reload(visit, tmp_path: Path) -> None:
    mesh = tmp_path / "my-tetrahedron.off"
    mesh.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n")
    page = visit("explore")
    before = drawn(page)
    page.get_by_role("button", name="Choose an object").click()
    page.get_by_role("tab", name="Upload").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(str(mesh))
    page.get_by_role("button", name="Show this object").click()
    page.get_by_text("my-tetrahedron", exact=True).first.wait_for()
    page.wait_for_function("() => new URL(location).searchParams.get('object')?.startsWith('upload:')")
    page.wait_for_function(
        f"x => Math.abs(document.querySelector('{STAGE}').stage.positions()[0] - x) > 1e-6", arg=before[0]
    )
    page.wait_for_selector("[data-tpc-portrait][style*=image]")  # the stage took its picture
    page.reload()
    page.get_by_text("my-tetrahedron", exact=True).first.wait_for()


def test_a_link_opens_the_same_screen_elsewhere(visit) -> None:
    page = visit("explore?object=gallery:lamp-1&transform=z-twist&points=256&colour=displacement")
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
    other = visit(f"explore?{where.query}")
    assert drawn(other) == drawn(page)
    assert bars(other) == bars(page)
    broken = visit("explore?object=gallery:no-such-thing&at=much")
    broken.get_by_text("in the link was left out").first.wait_for()
    broken.get_by_text("Wooden chair").first.wait_for()
