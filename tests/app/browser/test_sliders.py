"""The sliders by themselves, in a real browser: what is known along a track, and what a movement tells the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.components import sliders as component
from app.components.sliders import Band, Posing, slider_rows
from tpc_core import parse_transform

pytestmark = pytest.mark.browser

HERE = component._HERE
TWIST = parse_transform("z-twist")
SHOW = """async ([source, data]) => {
  window.shown ||= (await import(URL.createObjectURL(new Blob([source], {type: 'text/javascript'})))).default;
  window.told ||= []; window.heard ||= [];
  if (!window.hearing) document.addEventListener('tpc-pose', window.hearing = e => window.heard.push(e.detail));
  window.shown({data, parentElement: document.body, setTriggerValue: (name, value) => window.told.push([name, value])});
}"""


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 420, "height": 200})
    opened = context.new_page()
    opened.set_content(
        f"<style>{(HERE / 'sliders.css').read_text()}</style><div class='tpc-sliders' style='width: 380px'></div>"
    )
    yield opened
    context.close()


def show(page: Any, **more: Any) -> None:
    data = {
        "parameters": slider_rows(TWIST.parameters, [0.0]),
        "shape": "z-twist",
        "epoch": 0,
        "stamp": 0,
        "poses": Posing.all_of(TWIST).linked(),
        "history": True,
        "bands": {},
        **more,
    }
    page.evaluate(SHOW, [(HERE / "sliders.js").read_text(), json.loads(json.dumps(data))])


def test_a_safe_band_lies_on_the_track_where_its_values_are(page) -> None:
    known = [Band(-90, 90, "certified", "99.9 %"), Band(90, 180, "unknown"), Band(180, 360, "attack")]
    show(page, bands={"twist": [band.drawn() for band in known]})
    track = page.locator(".tpc-track").bounding_box()
    inner, start = (
        track["width"] - 16,
        track["x"] + 8,
    )  # the middle of the thumb keeps this far from both ends
    for band in known:
        box = page.locator(f".tpc-band.{band.kind}").bounding_box()
        assert box["x"] == pytest.approx(start + inner * (band.start + 360) / 720, abs=1)
        assert box["width"] == pytest.approx(inner * (band.end - band.start) / 720, abs=1)
    assert page.locator(".tpc-band.certified").get_attribute("title") == "99.9 %"


def test_a_wider_band_comes_without_disturbing_the_slider(page) -> None:
    show(page, bands={"twist": [Band(-10, 10, "certified").drawn()]})
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    width = page.locator(".tpc-band").bounding_box()["width"]
    show(page, stamp=1, bands={"twist": [Band(-40, 40, "certified").drawn()]})
    assert page.locator(".tpc-band").bounding_box()["width"] == pytest.approx(4 * width, abs=2)
    assert page.locator("input[type=number]").input_value() == "1"
    assert page.evaluate("() => document.activeElement.type") == "range"


def test_a_movement_is_told_to_the_page_at_once_and_to_the_server(page) -> None:
    show(page)
    page.locator("input[type=number]").fill("33.5")
    heard = page.evaluate("() => window.heard.at(-1)")
    assert heard == {"transform": "z-twist", "values": [33.5], "by": "sliders", "stamp": heard["stamp"]}
    name, told = page.evaluate("() => window.told.find(([name]) => name === 'move')")
    assert name == "move"
    assert told["shape"] == "z-twist"


def test_a_panel_may_hold_only_some_of_a_pose(page) -> None:
    show(page, poses=Posing("general-rotation", [0, 20.0, 0]).linked())
    page.locator("input[type=number]").fill("5")
    assert page.evaluate("() => window.heard.at(-1).values") == [5, 20, 5]


@pytest.mark.parametrize(
    ("keys", "step"), [("Control+z", "undo"), ("Control+Shift+z", "redo"), ("Control+y", "redo")]
)
def test_the_usual_keys_undo_and_redo(page, keys: str, step: str) -> None:
    show(page)
    page.locator("input[type=range]").focus()
    page.keyboard.press(keys)
    assert page.evaluate(
        "() => window.told.filter(([name]) => name === 'history').map(([, v]) => v.step)"
    ) == [step]


def test_keys_in_somebody_elses_text_are_left_alone(page) -> None:
    show(page)
    page.evaluate(
        "() => { const area = document.createElement('textarea'); document.body.append(area); area.focus(); }"
    )
    page.keyboard.press("Control+z")
    assert page.evaluate("() => window.told.filter(([name]) => name === 'history').length") == 0
