"""Certify in a real browser: cells fill in, the verdict follows, runs can be stopped, visitors do not meet."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.app.browser.conftest import READY

pytestmark = pytest.mark.browser

FACTS = ".tpc-facts"
WATCH = """() => { window.seen = []; new MutationObserver(() => {
  const settled = Number(document.querySelector('.tpc-facts')?.dataset.settled ?? NaN);
  const over = Boolean(document.querySelector('.tpc-verdict'));
  if (!Number.isNaN(settled) && window.seen.at(-1)?.settled !== settled) window.seen.push({settled, over});
}).observe(document.body, {subtree: true, childList: true, attributes: true}); }"""
"""Notes how many cells were settled whenever that changed, and whether the verdict was there already."""
PAPER = "protocol=paper"
"""A grid of cells with 10,000 votes each: long enough to watch."""
ENDLESS = (
    "transform=z-taper%2Bz-rotation&radius=taper%3D0.5,rotation%3D5&model=pointnet64-noise"
    f"&complete=yes&{PAPER}"
)
"""Two million votes, whatever a cell says: however slow the machine, it is stopped in mid-run."""


def start(page: Any) -> None:
    page.get_by_role("button", name="Certify", exact=True).click()
    page.locator(FACTS).first.wait_for()


def wait_for_status(page: Any, wanted: str) -> None:
    page.wait_for_selector(f'{FACTS}[data-status="{wanted}"]', state="attached")


def settled(page: Any) -> int:
    return int(page.locator(FACTS).first.get_attribute("data-settled") or 0)


def test_cells_of_a_taper_fill_in_over_time_and_then_there_is_a_verdict(visit) -> None:
    page = visit(f"certify?transform=z-taper&radius=0.2&{PAPER}")
    page.evaluate(WATCH)
    start(page)
    page.wait_for_selector(".st-key-run_map .tpc-plot[data-drawn]")
    wait_for_status(page, "done")
    verdict = page.locator(".tpc-verdict").first
    verdict.wait_for()
    assert verdict.get_attribute("data-verdict") == "certified"
    assert "Every z-taper within 0.2 keeps the class chair, with 99.9 % confidence." in verdict.inner_text()
    seen = page.evaluate("() => window.seen")
    counts = [entry["settled"] for entry in seen]
    assert counts == sorted(counts)
    before_the_verdict = [entry["settled"] for entry in seen if not entry["over"] and entry["settled"] > 0]
    assert len(before_the_verdict) >= 2
    bars = "() => document.querySelector('.st-key-run_map .js-plotly-plot')._fullData[0].x.length"
    assert page.evaluate(bars) == settled(page) > 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Certificate (JSON)").click()
    assert download.value.suggested_filename.endswith("z-taper.json")


def test_a_run_is_paused_goes_on_is_cancelled_in_mid_run_and_continued(visit) -> None:
    page = visit(f"certify?{ENDLESS}")
    start(page)
    wait_for_status(page, "running")
    page.get_by_role("button", name="Pause").click()
    wait_for_status(page, "paused")
    page.get_by_role("button", name="Go on").click()
    wait_for_status(page, "running")
    page.get_by_role("button", name="Cancel").click()
    wait_for_status(page, "cancelled")
    page.get_by_role("button", name="Continue").wait_for()
    assert page.locator(".tpc-verdict").first.get_attribute("data-verdict") == "undecided"
    first = page.locator(FACTS).first.get_attribute("data-run")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_selector(f'{FACTS}[data-status="running"]:not([data-run="{first}"])', state="attached")
    page.get_by_role("button", name="Cancel").click()
    wait_for_status(page, "cancelled")


def test_two_visitors_share_the_device_and_never_see_each_other(visit) -> None:
    first = visit(f"certify?object=gallery:chair-1&{ENDLESS}")
    second = visit(f"certify?object=gallery:sofa-1&{ENDLESS}")
    for page in (first, second):
        start(page)
    for page, mine, theirs in ((first, "Wooden chair", "sofa"), (second, "sofa", "Wooden chair")):
        page.wait_for_function(
            "() => /votes\\s+[1-9]/.test(document.querySelector('.tpc-facts')?.innerText ?? '')"
        )  # both are served, whoever came first
        assert page.locator(FACTS).count() == 1
        assert page.get_by_text("Your runs").count() == 0
        title = page.locator("h2").first.inner_text()
        assert mine.lower() in title.lower()
        assert theirs.lower() not in title.lower()
    for page in (first, second):
        page.get_by_role("button", name="Cancel").click()
        wait_for_status(page, "cancelled")


def test_runs_outlive_the_page_and_a_reload(visit) -> None:
    page = visit("certify?transform=z-taper&radius=0.2")
    start(page)
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector(READY["explore"])
    page.get_by_role("link", name="Certify").click()
    page.locator(".tpc-verdict").first.wait_for()
    page.reload()
    page.locator(".tpc-verdict").first.wait_for()


def test_the_dialog_of_objects_outlives_the_votes_that_come_in_behind_it(visit, tmp_path) -> None:
    """The page ran again when its map was finished: the tab of uploads, and the file in it, were gone."""
    file = tmp_path / "ring.xyz"
    file.write_text("\n".join(f"{math.cos(k)} {math.sin(k)} {k / 40 - 1}" for k in range(80)))
    page = visit("certify?transform=z-twist")
    page.wait_for_selector(".st-key-start")
    page.get_by_role("button", name="Choose an object").click()
    page.get_by_role("tab", name="Upload").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(str(file))
    page.get_by_role("button", name="Show this object").wait_for()
    page.wait_for_timeout(4000)  # the map behind it is finished by now
    page.get_by_role("button", name="Show this object").click()
    page.get_by_role("dialog").wait_for(state="detached")
    page.get_by_text("ring", exact=True).first.wait_for()
    page.get_by_role("button", name="Choose an object").click()
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.wait_for_timeout(2000)
    assert page.get_by_role("dialog").count() == 0  # and it does not come back by itself
