"""From a table to a failure, in a real browser: a run, an object that failed, its certificate in Debug."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_one_click_leads_from_a_run_to_the_certificate_of_an_object(visit) -> None:
    page = visit("runs")
    page.get_by_role("radio", name="z-rotation:45").click()
    failed = page.locator(".tpc-thumbnails button", has=page.locator("b[data-tone=bad]"))
    failed.first.wait_for()
    name = failed.first.get_attribute("data-name").removeprefix("gallery:")
    failed.first.click()
    page.wait_for_url("**/debug**")
    page.get_by_text("An attack by z-rotation").first.wait_for()
    shown = "name => [...document.querySelectorAll('input')].some((box) => box.value.includes(name))"
    page.wait_for_function(shown, arg=name)  # the chooser of certificates


def test_an_object_of_the_library_opens_in_explore(visit) -> None:
    page = visit("library")
    page.get_by_label("Search").fill("grand")
    page.keyboard.press("Enter")
    piano = page.locator(".tpc-thumbnails button")
    page.wait_for_function("() => document.querySelectorAll('.tpc-thumbnails button').length === 1")
    piano.first.click()
    page.wait_for_url("**/explore**")
    page.get_by_text("Grand piano").first.wait_for()
