"""Debug in a real browser: three verdicts from real runs, a failing cell up close, and votes that settle it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

VOTES = ".st-key-debug_votes .tpc-plot[data-drawn]"
CLOUD = ".st-key-debug_cloud .tpc-plot[data-drawn]"
IDLE = "() => !document.querySelector('[class*=st-key-debug_stop]')"


def debug_page(visit: Any) -> Any:
    """The Debug page as a new visitor finds it."""
    page = visit("certify")
    page.get_by_role("link", name="Debug").click()
    page.wait_for_selector(".st-key-debug_start_undecided button")
    return page


def open_example(page: Any, verdict: str) -> None:
    """One click on a prepared case; it runs for real."""
    page.locator(f".st-key-debug_start_{verdict} button").click()
    page.wait_for_selector(f'.tpc-verdict[data-verdict="{verdict}"]')
    page.wait_for_selector(VOTES)


def cell(page: Any, name: str) -> str:
    return str(page.locator(".tpc-cell").get_attribute(f"data-{name}"))


def test_a_cell_is_clicked_explained_and_settled_by_more_votes(visit) -> None:
    """From the Debug page: one click to the explained failure, one more to the cell that passed."""
    page = debug_page(visit)
    open_example(page, "undecided")
    assert cell(page, "cause") == "wide-interval"
    assert cell(page, "state") == "waiting"
    page.get_by_text("votes leave room for less").first.wait_for()
    first = cell(page, "cell")

    # By keyboard to the next failing cell, and back by a click on the map.
    page.locator("body").press("ArrowRight")
    page.wait_for_function(f"() => document.querySelector('.tpc-cell').dataset.cell !== '{first}'")
    assert cell(page, "state") == "waiting"
    page.wait_for_selector(".st-key-debug_map .tpc-plot[data-drawn]")
    place = page.evaluate(
        """(path) => {
            const chart = document.querySelector('.st-key-debug_map .js-plotly-plot');
            const heat = chart._fullData[0], rows = heat.customdata;
            for (let row = 0; row < rows.length; row++) for (let column = 0; column < rows[row].length; column++)
                if (rows[row][column] === path) {
                    const box = chart.getBoundingClientRect(), layout = chart._fullLayout;
                    const x = (heat.x[column] + heat.x[column + 1]) / 2, y = (heat.y[row] + heat.y[row + 1]) / 2;
                    return [box.x + layout._size.l + layout.xaxis.d2p(x), box.y + layout._size.t + layout.yaxis.d2p(y)];
                }
        }""",
        first,
    )
    page.mouse.click(*place)
    page.wait_for_function(f"() => document.querySelector('.tpc-cell').dataset.cell === '{first}'")
    page.wait_for_selector(CLOUD)
    page.wait_for_selector(VOTES)
    drawn = page.evaluate(
        "() => document.querySelector('.st-key-debug_votes .js-plotly-plot')._fullData[0].text.map(Number)"
    )
    votes = int(cell(page, "votes"))
    assert sum(drawn) == votes > 0

    page.get_by_role("button", name="more votes here").first.click()
    page.wait_for_selector(f'.tpc-cell[data-cell="{first}"][data-state="passed"]')


def test_an_attack_is_shown_with_the_path_to_it(visit) -> None:
    page = debug_page(visit)
    open_example(page, "refuted")
    assert cell(page, "cause") == "another-class"
    page.wait_for_selector(".st-key-debug_way .tpc-plot[data-drawn]")
    page.locator(".st-key-debug_panel").get_by_text("Attack", exact=True).click()
    page.wait_for_selector(".st-key-debug_attack .tpc-plot[data-drawn]")
    page.wait_for_selector(".st-key-debug_path .tpc-plot[data-drawn]")
    page.wait_for_function(IDLE)
    way = page.evaluate(
        "() => document.querySelector('.st-key-debug_path .js-plotly-plot')._fullData.map(t => [t.name, t.y])"
    )
    name, shares = way[0]
    assert name == "bookshelf"
    assert shares[0] > 50 > shares[-1]


def test_a_certificate_travels_by_file_and_two_runs_are_compared(visit, tmp_path) -> None:
    page = debug_page(visit)
    open_example(page, "certified")
    with page.expect_download() as download:
        page.get_by_role("button", name="This certificate (JSON)").click()
    saved = tmp_path / "certificate.json"
    download.value.save_as(saved)

    page.get_by_role("button", name="Open a certificate").click()
    hostile = tmp_path / "hostile.json"
    hostile.write_text(saved.read_text().replace('"certified"', '"refuted"', 1))
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(hostile)
    page.get_by_text("the file was changed after it was made").first.wait_for()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(saved)
    page.wait_for_function(
        """() => { const box = document.querySelector('.st-key-debug_case');
        return /(^|\\n)Twin-jet/.test(box.innerText) || box.querySelector('input').value.startsWith('Twin-jet'); }"""
    )
    page.keyboard.press("Escape")
    page.locator(".st-key-debug_panel").get_by_text("Compare", exact=True).click()
    page.wait_for_selector(".st-key-debug_difference .tpc-plot[data-drawn]")
