"""Lessons in a real browser: everything that can be dragged moves the formula and the figures; links and keys work."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.app.browser.conftest import PATIENCE

pytestmark = pytest.mark.browser

CHANGES = {
    "1": ("lesson1_cloud", 0.2),
    "2": ("lesson2_line", 0.75),
    "3": ("lesson3_experiments", 0.6),
    "4": ("lesson4_line", 0.85),
    "5": ("lesson5_reach", 0.3),
    "6": ("lesson6_cloud", 0.6),
    "7": ("lesson7_margins", 0.3),
}
"""The figure that the first slider of each lesson moves, and the share of its length that the slider is dragged to."""
ON_ONE_SCREEN = """() => { const main = document.querySelector('[data-testid=stMain]');
    return main.scrollHeight <= main.clientHeight + 1; }"""
NAMES = {
    "1": "1 Attack",
    "2": "2 Voting",
    "3": "3 Confidence",
    "4": "4 Radius",
    "5": "5 Cells",
    "6": "6 Rotations",
    "7": "7 Bounds",
}


@pytest.fixture(scope="module")
def classroom(chromium, server) -> Iterator[Any]:
    """One visitor who goes through all lessons."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    elsewhere: list[str] = []
    own = (server, "data:", "blob:", "ws")
    page.on("request", lambda r: None if r.url.startswith(own) else elsewhere.append(r.url))
    page.goto(f"{server}/lessons")
    page.wait_for_selector(".tpc-lesson-title")
    yield page
    assert page.locator("[data-testid=stException]").count() == 0
    context.close()
    assert elsewhere == []


def open_lesson(page: Any, lesson: str, *, steps: str = "12") -> None:
    """A lesson with its object, and what the button Next shows then."""
    page.locator("[class*=st-key-widget_lesson]").get_by_text(NAMES[lesson]).first.click()
    page.wait_for_selector(f'.tpc-lesson-title[data-lesson="{lesson}"]')
    page.wait_for_selector(".st-key-lesson :is(.tpc-plot, .tpc-stage)[data-drawn]")
    after = {"1": f".st-key-{CHANGES[lesson][0]}", "2": ".st-key-question"}
    for step in steps:  # where they are not shown already
        page.wait_for_selector(f".st-key-next_{lesson}_{step} button, {after[step]}", state="attached")
        following = page.locator(f".st-key-next_{lesson}_{step} button")
        if following.count():
            following.click()
            following.wait_for(state="detached")
    shown(page, lesson)


def shown(page: Any, lesson: str) -> None:
    page.wait_for_selector(f'.tpc-lesson-title[data-lesson="{lesson}"]')
    page.wait_for_selector(f".st-key-{CHANGES[lesson][0]} :is(.tpc-plot, .tpc-stage)[data-drawn]")


def slide(page: Any, lesson: str, share: float) -> str:
    """Drag the first slider of a lesson by the mouse, and wait until every figure has followed; what it says then."""
    row = page.locator(f".st-key-lesson{lesson}_drag .tpc-row").first
    box = row.locator("input[type=range]").bounding_box()
    now, low, high = row.locator("input[type=range]").evaluate("r => [r.value, r.min, r.max].map(Number)")
    middle = box["y"] + box["height"] / 2
    thumb = box["height"] / 2  # its middle keeps this far from both ends
    page.mouse.move(box["x"] + thumb + (now - low) / (high - low) * (box["width"] - 2 * thumb), middle)
    page.mouse.down()
    page.mouse.move(box["x"] + share * box["width"], middle, steps=3)
    page.mouse.up()
    page.wait_for_function(
        """key => { const sliders = document.querySelector(`.st-key-${key} .tpc-sliders`);
        const plots = [...document.querySelectorAll('.st-key-lesson :is(.tpc-plot, .tpc-stage)')];
        return sliders.dataset.state === 'resting' && plots.length > 0
            && plots.every(plot => Number(plot.dataset.stamp) >= Number(sliders.dataset.sent)); }""",
        arg=f"lesson{lesson}_drag",
    )
    return str(row.locator("input[type=number]").input_value())


def drawn(page: Any, key: str) -> str:
    """The numbers of a figure."""
    script = """key => { const stage = document.querySelector(`.st-key-${key} .tpc-stage`)?.stage;
        if (stage) return JSON.stringify(Array.from(stage.positions()));
        const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
        const numbers = plot._fullData.map(trace => [Array.from(trace.x || []), Array.from(trace.y || [])]);
        return JSON.stringify([numbers, plot.layout.shapes]); }"""
    return str(page.evaluate(script, key))


def formula(page: Any) -> str:
    return str(page.locator(".st-key-formula .katex-mathml").first.text_content())


@pytest.mark.parametrize("lesson", CHANGES)
def test_dragging_moves_the_formula_and_the_figure_on_one_screen(classroom, lesson: str) -> None:
    key, share = CHANGES[lesson]
    open_lesson(classroom, lesson, steps="1")
    figure, values = drawn(classroom, key), formula(classroom)
    before = classroom.locator(f".st-key-lesson{lesson}_drag input[type=number]").first.input_value()
    assert slide(classroom, lesson, share) != before
    assert drawn(classroom, key) != figure
    if lesson != "3":  # its formula holds real votes, which no slider of the simulation moves
        classroom.wait_for_function(
            "before => document.querySelector('.st-key-formula .katex-mathml').textContent !== before",
            arg=values,
        )
    classroom.wait_for_function(ON_ONE_SCREEN)
    open_lesson(classroom, lesson)
    answers = classroom.locator(".st-key-question label:has(input[type=radio])")
    for place in range(answers.count()):
        answers.nth(place).click()
        classroom.wait_for_selector(f'.tpc-checked[data-chosen="{place}"]')
        if classroom.locator(".tpc-checked.right").count():
            break
    assert classroom.locator(".tpc-checked.right").count() == 1
    assert len(classroom.locator(".st-key-question").inner_text()) > 250  # it says why
    classroom.locator("[class*=st-key-widget_lesson]").get_by_text(f"✓ {NAMES[lesson]}").wait_for()


def test_progress_stays_in_the_browser(classroom) -> None:
    other = classroom.context.new_page()
    other.goto(f"{classroom.url.partition('/lessons')[0]}/lessons")
    other.locator("[class*=st-key-widget_lesson]").get_by_text(f"✓ {NAMES['1']}").wait_for()
    other.wait_for_selector(".st-key-question")  # lesson 1 with all of its steps
    other.close()


def test_the_notes_follow_the_lesson_in_a_window_of_their_own(classroom) -> None:
    open_lesson(classroom, "2")
    with classroom.expect_popup() as opened:
        classroom.locator(".tpc-presenter button[data-go=notes]").click()
    notes = opened.value
    notes.get_by_role("heading", name="2. Smoothing is voting").wait_for()
    assert "of 45:00" in notes.locator(".tpc-notes-clock").inner_text()
    open_lesson(classroom, "4")
    notes.get_by_role("heading", name="4. Twists add up").wait_for()
    notes.close()


def test_a_room_ranks_an_attack_that_was_found_by_dragging(classroom) -> None:
    page = classroom
    page.locator("[class*=st-key-widget_lesson]").get_by_text("Challenge").click()
    page.locator(".st-key-challenge_new button").click()
    page.wait_for_selector(".st-key-challenge_cloud .tpc-stage[data-drawn]")
    code = page.get_by_role("heading", name="Room").inner_text().split()[-1]
    twist = page.locator(".st-key-challenge_drag input[type=number]").first
    for value in range(20, 181, 20):
        twist.fill(str(value))
        twist.press("Enter")
        page.wait_for_function(
            "size => document.querySelector('.tpc-says')?.innerText.includes(`ize ${size}`)",
            arg=f"{value / 0.9:.1f}",
        )
        if page.locator(".tpc-says.wrong").count():
            break
    page.locator(".st-key-challenge_submit button:not([disabled])").click()
    page.locator(".tpc-ranking").get_by_text("Player 1").wait_for()
    # Another visitor joins by the code, and sees the same list.
    context = page.context.browser.new_context()
    context.set_default_timeout(PATIENCE)
    other = context.new_page()
    other.goto(f"{page.url.partition('/lessons')[0]}/lessons?challenge=yes&room={code}")
    other.locator(".tpc-ranking").get_by_text("Player 1").wait_for()
    context.close()


def test_present_hides_the_rest_and_keys_lead_on(classroom) -> None:
    page = classroom
    open_lesson(page, "1")
    before = page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.locator(".tpc-presenter button[data-go=present]").click()
    page.wait_for_selector(".tpc-presenter button[data-go=leave]")
    page.wait_for_selector("[data-testid=stHeader]", state="hidden")
    assert (
        page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)") > 1.2 * before
    )
    page.keyboard.press("PageDown")
    shown(page, "2")
    page.keyboard.press("PageUp")
    shown(page, "1")
    page.locator(".tpc-presenter button[data-go=leave]").click()
    page.wait_for_selector("[data-testid=stHeader]", state="visible")
    page.set_viewport_size({"width": 1280, "height": 720})


def test_a_link_opens_a_lesson_as_it_was_left(classroom, chromium, server) -> None:
    page = classroom
    open_lesson(page, "4")
    twist = slide(page, "4", 0.35)
    page.wait_for_function("twist => new URL(location).searchParams.get('twist') === twist", arg=twist)
    address, values = page.evaluate("() => location.href"), formula(page)
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(PATIENCE)
    other = context.new_page()
    other.goto(address)
    shown(other, "4")
    assert formula(other) == values
    assert other.locator(".st-key-lesson4_drag input[type=number]").first.input_value() == twist
    context.close()


def inked(png: bytes) -> float:
    """The share of pixels that are neither white nor nearly so."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    return float(np.mean(pixels < 235))


def test_a_report_opens_from_disk_without_a_network(chromium, tmp_path) -> None:
    from app.export import run_report
    from tpc_core import Certificate, certify, load_model, load_object, verify

    model = load_model("pointnet64-noise")
    certificate = certify(model, load_object("gallery:chair-1", points=64), "z-taper", 0.2)
    file = tmp_path / "report.html"
    file.write_text(run_report(certificate), encoding="utf-8")
    context = chromium.new_context(offline=True, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("#cloud[data-drawn]")
    page.wait_for_selector("#map[data-drawn]")
    assert page.locator("#cloud canvas").count() > 0
    for place in ("#cloud", "#map"):
        assert inked(page.locator(place).screenshot()) > 0.01
    assert page.locator("#trouble").inner_text() == ""
    assert certificate.sentence in page.locator(".verdict").inner_text()
    first = "() => Array.from(document.getElementById('cloud')._fullData.at(-1).x).slice(0, 5)"
    far = page.evaluate(first)
    page.evaluate(
        "() => Plotly.restyle('cloud', ...document.getElementById('cloud').layout.sliders[0].steps[0].args)"
    )
    assert page.evaluate(first) != far
    with page.expect_download() as download:
        page.locator("#save").click()
    saved = Certificate.from_json(json.dumps(json.loads(download.value.path().read_text())))
    assert verify(saved).verdict == "certified"
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
