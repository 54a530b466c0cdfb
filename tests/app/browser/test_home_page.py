"""The first screen in a real browser: an object that a twist turns into something else, and three doors."""

from __future__ import annotations

from typing import Any

import pytest

from app.pages.home.page import DOORS, SENTENCE

pytestmark = pytest.mark.browser

ANSWER = ".tpc-demonstration"
SLIDER = f"{ANSWER} input[type=range]"


def angle(page: Any) -> float:
    return float(page.locator(SLIDER).input_value())


def test_it_twists_until_the_label_flips_and_stops_for_good_at_the_first_touch(visit) -> None:
    page = visit("")
    page.get_by_text(SENTENCE).wait_for()
    truth = page.locator(ANSWER).get_attribute("data-says")
    page.wait_for_function(f"truth => document.querySelector('{ANSWER}').dataset.says !== truth", arg=truth)
    assert angle(page) > 0
    assert page.locator(".tpc-answer-now .wrong").count() == 1
    page.locator(".tpc-sentence").click()
    page.wait_for_selector(f"{ANSWER}[data-state=resting]")
    there = angle(page)
    page.wait_for_timeout(400)
    assert angle(page) == there
    page.reload()
    page.wait_for_selector(f"{ANSWER}[data-ready][data-state=resting]")
    assert angle(page) == 0


def test_the_slider_moves_the_object_and_says_the_answer(visit) -> None:
    page = visit("")
    page.wait_for_selector(".tpc-stage[data-drawn]")
    page.locator(SLIDER).focus()
    page.keyboard.press("End")
    page.wait_for_function(
        "() => document.querySelector('.st-key-home .tpc-stage').stage.pose.values[0] === 180"
    )
    assert "wrong" in page.locator(SLIDER).get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    page.wait_for_selector(".tpc-answer-now .right")


def test_nothing_moves_for_those_who_want_no_motion(chromium: Any, server: str) -> None:
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(server)
    page.wait_for_selector(f"{ANSWER}[data-state=resting]")
    assert angle(page) == 0
    context.close()


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_each_door_opens_its_page(visit, door) -> None:
    page = visit("")
    page.get_by_role("link", name=door.name).click()
    page.wait_for_url(f"**/{door.page}?**" if door.query else f"**/{door.page}**")
    page.wait_for_selector(".tpc-link")


def test_a_link_without_a_page_opens_explore_as_it_was(visit) -> None:
    page = visit("?object=gallery:lamp-1&transform=z-twist&at=35")
    page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")
    assert page.locator(".tpc-sliders input[type=number]").first.input_value() == "35"
    assert "/explore?" in page.url


def test_a_word_is_explained_on_hover_on_focus_and_not_after_escape(visit) -> None:
    page = visit("explore")
    term = page.locator(".tpc-term").first
    term.hover()
    page.wait_for_selector(".tpc-terms:popover-open")
    page.mouse.move(5, 5)
    page.wait_for_selector(".tpc-terms:not(:popover-open)", state="attached")
    term.focus()
    page.wait_for_selector(".tpc-terms:popover-open")
    assert term.get_attribute("aria-describedby") == "tpc-term-text"
    page.keyboard.press("Escape")
    page.wait_for_selector(".tpc-terms:not(:popover-open)", state="attached")
