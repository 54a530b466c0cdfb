"""Everybody can use every page: by keyboard, by a screen reader, on a phone, in both themes."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

pytestmark = pytest.mark.browser

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
PAGES = (
    "",
    "explore",
    "certify",
    "debug",
    "lessons",
    "theory",
    "results",
    "runs",
    "library",
    "class",
    "about",
)
LOOKS_AGAIN = ("class",)
"""Pages that ask the server by themselves; every other one is silent until it is touched."""
IDLE = 2.0
"""Seconds of silence after which a tab counts as idle: the fastest timer of a page has 0.4."""
THEMES = ("light", "dark")
PHONE, TABLET = (390, 844), (820, 1180)

MARK = """() => {
  const controls = 'button, a[href], input, select, summary, .tpc-stage canvas, .tpc-term';
  const byArrows = '[data-tag] button, [role=radio]';
  const inside = '[role=group], [role=combobox], .stNumberInput, .stSelectbox, .stMultiSelect';
  let number = 0;
  for (const part of document.querySelectorAll(controls)) {
    if (part.disabled || !part.checkVisibility({visibilityProperty: true})) continue;
    if (part.closest('[inert], [aria-hidden=true]') || part.matches(byArrows) || part.type === 'file') continue;
    if (part.tabIndex < 0 && part.closest(inside)) continue;
    part.dataset.wanted = String(number++);
  }
  return number;
}"""
"""Marks every control that Tab should reach; those of one group are reached by the arrows, as their roles say."""

CUT_OFF = """() => [...document.querySelectorAll('[data-testid=stMain] :is(p, button, canvas, input, label, img)')]
  .filter(part => part.getBoundingClientRect().right > innerWidth + 1 && part.getBoundingClientRect().width > 1)
  .filter(part => part.checkVisibility({opacityProperty: true}) && getComputedStyle(part).clipPath === 'none')
  .filter(part => !part.closest('.katex-display, pre, [data-testid=stDataFrame], .tpc-unseen, [tabindex="0"]'))
  .map(part => part.outerHTML.slice(0, 120))"""
"""What reaches beyond the right edge of the screen, but for what scrolls by itself."""


CONTRAST = """part => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((value, k) => a * value + (1 - a) * under[k]);
  const light = (rgb) => rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  let under = [255, 255, 255];
  const around = [];
  for (let each = part; each; each = each.parentElement) around.unshift(each);
  for (const each of around) under = over(numbers(getComputedStyle(each).backgroundColor), under);
  const shades = [light(under), light(over(numbers(getComputedStyle(part).color), under))].sort((a, b) => b - a);
  return (shades[0] + 0.05) / (shades[1] + 0.05);
}"""
"""How well the text of an element stands out; axe leaves what is disabled alone."""


def complaints(page: Any) -> list[str]:
    """What axe-core finds wrong with the page as it is now."""
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget], [data-stale=true]')")
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def rests(page: Any, traffic: list[str]) -> None:
    """A tab that nobody touches asks for nothing: no script runs again, nothing is sent either way."""
    silent = 0.0
    for _ in range(40):  # what the page began by itself comes to its end
        before = len(traffic)
        page.wait_for_timeout(500)
        silent = silent + 0.5 if len(traffic) == before else 0.0
        if silent >= IDLE:
            return
    pytest.fail("the tab never rests")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path or "home")
def test_axe_finds_nothing_and_nothing_is_cut_off_on_a_small_screen(
    visit, traffic: list[str], path: str, theme: str
) -> None:
    page = visit(path, color_scheme=theme)
    assert complaints(page) == []
    if theme == "dark" and path not in LOOKS_AGAIN:
        rests(page, traffic)
    assert page.locator("h1").count() == 1
    for width, height in (TABLET, PHONE) if theme == "light" else ():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_after_a_run_and_the_verdict_is_said(visit, theme: str) -> None:
    page = visit("certify?transform=z-taper&radius=0.2", color_scheme=theme)
    page.get_by_role("button", name="Certify", exact=True).click()
    page.wait_for_selector('.tpc-facts[data-status="done"]', state="attached")
    page.wait_for_selector("[data-verdict]")
    verdict = page.locator("[data-verdict]").first.inner_text()
    page.wait_for_function(
        "said => document.querySelector('[data-tpc-voice]').textContent.includes(said)", arg=verdict.strip()
    )
    assert complaints(page) == []


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_an_open_case(visit, theme: str) -> None:
    page = visit("debug", color_scheme=theme)
    page.locator(".st-key-debug_start_undecided button").click()
    page.wait_for_selector(".st-key-debug_votes .tpc-plot[data-drawn]")
    assert complaints(page) == []


def ready(page: Any, sign: str) -> None:
    page.wait_for_selector(sign)
    page.wait_for_selector(".tpc-link")


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_behind_the_first_look(visit, theme: str) -> None:
    """A question answered, a room of the challenge, another language, the dialog of objects, and the forms."""
    page = visit("lessons?lesson=5&step=3", color_scheme=theme)
    home = page.url.partition("/lessons")[0]
    for answer, verdict in ((0, "wrong"), (1, "right")):
        page.locator(".st-key-question label:has(input[type=radio])").nth(answer).click()
        page.wait_for_selector(f'[data-answer="{verdict}"]')
        assert complaints(page) == []
    page.goto(f"{home}/lessons?challenge=yes&language=de")
    ready(page, ".st-key-challenge_new")
    assert complaints(page) == []
    page.locator(".st-key-challenge_new button").click()
    ready(page, ".st-key-challenge_submit")
    assert complaints(page) == []
    waiting = page.locator(
        ".st-key-challenge_submit button"
    )  # no attack yet: it cannot be pressed, but it can be read
    assert waiting.is_disabled()
    assert waiting.locator("p").evaluate(CONTRAST) > 1.5
    page.goto(f"{home}/lessons?notes=yes")
    page.wait_for_selector(".tpc-notes-clock")
    assert complaints(page) == []
    page.goto(f"{home}/library")
    ready(page, ".tpc-thumbnails button")
    for part in ("Models", "Add a model", "Add a data set"):
        page.locator("[data-testid=stButtonGroup] button", has_text=part).click()
        page.wait_for_timeout(1000)
        assert complaints(page) == []


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("", ".tpc-stage"),
        ("explore", ".tpc-stage"),
        ("lessons", ".tpc-stage"),
        ("lessons?lesson=4&step=3", ".tpc-plot"),
    ],
    ids=["home", "explore", "lessons", "lesson 4"],
)
def test_the_object_stays_in_view_while_the_controls_scroll(visit, path: str, seen: str) -> None:
    page = visit(path, *PHONE, has_touch=True)
    page.wait_for_selector(f"{seen}[data-drawn]")
    page.locator(
        ".stMainBlockContainer button:visible, .stMainBlockContainer a:visible"
    ).last.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    part = ".tpc-stage-canvas" if seen == ".tpc-stage" else seen
    box = page.locator(part).first.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] < PHONE[1]


@pytest.mark.parametrize("size", [PHONE, TABLET], ids=["phone", "tablet"])
def test_a_certificate_is_made_by_touch_below_the_object(visit, size: tuple[int, int]) -> None:
    """The form and its button are not under the object and its map, and the verdict follows them."""
    page = visit("certify?transform=z-taper&radius=0.2", *size, has_touch=True)
    page.wait_for_selector(".tpc-stage[data-drawn]")
    page.get_by_role("button", name="Certify", exact=True).tap()
    page.wait_for_selector('.tpc-facts[data-status="done"]', state="attached")
    verdict = page.locator("[data-verdict]").first
    verdict.scroll_into_view_if_needed()
    stage, said = page.locator(".tpc-stage-canvas").bounding_box(), verdict.bounding_box()
    assert stage["y"] >= 0
    assert stage["y"] + stage["height"] <= said["y"] + 1
    assert said["y"] + said["height"] <= size[1]


@pytest.mark.parametrize("path", ["", "explore", "certify"], ids=["home", "explore", "certify"])
def test_the_keyboard_reaches_every_control(visit, path: str) -> None:
    page = visit(path)
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget], [data-stale=true]')")
    wanted = page.evaluate(MARK)
    for _ in range(wanted + 25):
        page.keyboard.press("Tab")
        page.evaluate("() => { if (document.activeElement) document.activeElement.dataset.reached = 'yes'; }")
    missed = page.evaluate(
        """() => [...document.querySelectorAll('[data-wanted]:not([data-reached])')]
        .map(part => part.outerHTML.slice(0, 160))"""
    )
    assert missed == []


def test_the_stage_says_what_it_shows(visit) -> None:
    page = visit("explore?object=gallery:lamp-1&transform=z-twist&at=35")
    view = page.get_by_role("img", name="lamp")
    page.wait_for_selector(".tpc-stage[data-quality=full]")
    said = view.get_attribute("aria-label")
    assert "twist 35°" in said
    assert "points" in said
