"""Certify in a real browser: cells fill in, the verdict follows, runs can be stopped, visitors do not meet."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

FACTS = ".tpc-facts"
VOTED = "() => /votes\\s+[1-9]/.test(document.querySelector('.tpc-facts').innerText)"


def ask(page: Any, transform: str, preset: str) -> None:
    box = page.locator("[data-testid=stSelectbox]").filter(has_text="Transform").locator("input").first
    box.click()
    box.fill(transform)
    page.get_by_role("option", name=transform, exact=True).click()
    page.get_by_text(preset, exact=True).first.click()
    page.wait_for_timeout(1500)


def use_paper_protocol(page: Any) -> None:
    """A grid of cells with 10,000 votes each: long enough to be stopped."""
    page.get_by_text("Settings", exact=True).click()
    page.get_by_text("paper", exact=True).click()
    page.wait_for_timeout(1500)


def start(page: Any) -> None:
    page.locator("[data-testid=stBaseButton-primary]").click()
    page.locator(FACTS).first.wait_for()


def status(page: Any) -> str:
    return str(page.locator(FACTS).first.get_attribute("data-status"))


def settled(page: Any) -> int:
    return int(page.locator(FACTS).first.get_attribute("data-settled") or 0)


def wait_for_status(page: Any, wanted: str) -> None:
    page.wait_for_selector(f'{FACTS}[data-status="{wanted}"]', state="attached")


def test_taper_ends_with_a_verdict_and_a_certificate_to_take_away(visit) -> None:
    page = visit("certify")
    ask(page, "z-taper", "0.2")
    start(page)
    wait_for_status(page, "done")
    verdict = page.locator(".tpc-verdict").first
    verdict.wait_for()
    assert verdict.get_attribute("data-verdict") == "certified"
    assert "Every z-taper within 0.2 keeps the class chair, with 99.9 % confidence." in verdict.inner_text()
    page.wait_for_selector(".st-key-run_map .tpc-plot[data-drawn]")
    bars = page.evaluate(
        "() => document.querySelector('.st-key-run_map .js-plotly-plot')._fullData[0].x.length"
    )
    assert bars == settled(page) > 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Certificate (JSON)").click()
    assert download.value.suggested_filename.endswith("z-taper.json")


def test_cells_fill_in_over_time(visit) -> None:
    page = visit("certify")
    ask(page, "general-rotation", "5°")
    start(page)
    page.wait_for_function("() => Number(document.querySelector('.tpc-facts').dataset.settled) >= 2")
    page.wait_for_selector(".st-key-run_volume .tpc-plot[data-drawn]")
    drawn = "() => document.querySelector('.st-key-run_volume .js-plotly-plot')._fullData[0].x.length"
    first = page.evaluate(drawn)
    page.wait_for_function(f"() => ({drawn})() > {first}")
    page.get_by_role("button", name="Cancel").click()
    wait_for_status(page, "cancelled")


def test_a_run_is_paused_goes_on_and_is_cancelled(visit) -> None:
    page = visit("certify")
    ask(page, "z-taper", "0.5")
    use_paper_protocol(page)
    start(page)
    wait_for_status(page, "running")
    page.get_by_role("button", name="Pause").click()
    wait_for_status(page, "paused")
    page.get_by_role("button", name="Go on").click()
    wait_for_status(page, "running")
    page.get_by_role("button", name="Cancel").click()
    wait_for_status(page, "cancelled")
    page.get_by_role("button", name="Continue, with up to").wait_for()
    assert page.locator(".tpc-verdict").first.get_attribute("data-verdict") == "undecided"


def test_two_visitors_share_the_device_and_never_see_each_other(visit) -> None:
    first, second = visit("certify"), visit("certify")
    for page in (first, second):
        ask(page, "z-taper", "0.5")
        use_paper_protocol(page)
        start(page)
    for page in (first, second):
        page.wait_for_function(VOTED)
    for page in (first, second):
        page.get_by_role("button", name="Cancel").click()
        wait_for_status(page, "cancelled")
        assert page.get_by_text("Your runs").count() == 0
        assert page.locator(FACTS).count() == 1


def test_runs_outlive_the_page_and_a_reload(visit) -> None:
    page = visit("certify")
    ask(page, "z-taper", "0.2")
    start(page)
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector(".tpc-plot[data-drawn]")
    page.get_by_role("link", name="Certify").click()
    page.locator(".tpc-verdict").first.wait_for()
    page.reload()
    page.locator(".tpc-verdict").first.wait_for()
