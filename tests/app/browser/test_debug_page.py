"""Debug in a real browser: three verdicts from real runs, failing cells up close, and what settles them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.browser.conftest import FAILED, PATIENCE
from tpc_core import Budget, Certificate, Options, certify, load_model, load_object
from tpc_core.case_view import CaseView

pytestmark = pytest.mark.browser

MAP = ".st-key-debug_map"
CASE, PANEL = "[class*=st-key-debug_case_]", "[class*=st-key-debug_panel_]"
PIANO = "object=gallery:piano-2&transform=z-taper%2Bz-rotation&radius=taper%3D0.3,rotation%3D5"
PLACE = """([key, path]) => {
    const chart = document.querySelector(`${key} .js-plotly-plot`), layout = chart._fullLayout;
    const box = chart.getBoundingClientRect(), size = layout._size;
    const spot = (x, y) => [box.x + size.l + layout.xaxis.d2p(x), box.y + size.t + layout.yaxis.d2p(y)];
    for (const trace of chart._fullData) {
        const known = trace.customdata ? Array.from(trace.customdata) : [];
        if (trace.type === 'bar' && known.includes(path)) return spot(trace.x[known.indexOf(path)], 0.7);
        if (trace.type === 'heatmap') for (let row = 0; row < known.length; row++) {
            const column = known[row].indexOf(path);
            if (column >= 0) return spot((trace.x[column] + trace.x[column + 1]) / 2,
                                         (trace.y[row] + trace.y[row + 1]) / 2);
        }
    }
}"""
"""Where on the screen a map shows a cell."""
GAP = """() => document.querySelector('.st-key-debug_gap .js-plotly-plot')._fullData
    .filter(trace => trace.type === 'bar').map(trace => [trace.base[0], trace.base[0] + trace.x[0]])"""
"""The ends of what is certified, open and broken, on one axis."""


def drawn(key: str) -> str:
    return f"{key} .tpc-plot[data-drawn]"


@pytest.fixture
def student(visitor: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """The one visitor, with a picture of the page where a test fails."""
    yield visitor
    if request.node.stash.get(FAILED, False):
        visitor.screenshot(path=tmp_path / "page.png")
        print(f"the page as it was: {tmp_path / 'page.png'}")


@pytest.fixture(scope="module")
def visitor(chromium: Any, server: str) -> Iterator[Any]:
    """One visitor who stays on the Debug page; tests find it in any state."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{server}/debug")
    page.wait_for_selector(".st-key-debug_start_undecided button")
    yield page
    assert page.locator("[data-testid=stException]").count() == 0
    context.close()


STOP_THE_HUNT = """() => {
    const stop = document.querySelector('[class*=st-key-debug_stop][class*=hunt] button');
    if (!stop) return window.huntSeen ? ((window.huntSeen = false), "over") : false;
    window.huntSeen = true;
    const progress = document.querySelector('[data-testid=stProgress]')?.innerText ?? '';
    if (!/of about [\\d,]+ evaluations, [1-9]\\d?%/.test(progress)) return false;
    window.huntSeen = false;
    stop.click();
    return "stopped";
}"""
"""Presses Stop in the frame in which the search says how far it is: a quick search ends before a click from outside."""


def at_rest(page: Any) -> None:
    """Nothing is under way, and the page has drawn it."""
    page.wait_for_function(
        "() => !document.querySelector('[class*=st-key-debug_stop]')"
        " && document.querySelector('[data-test-script-state]')?.dataset.testScriptState !== 'running'"
    )


def open_example(page: Any, verdict: str) -> None:
    """One click on a prepared case; it runs for real. Later ones are behind a button."""
    at_rest(page)
    button = page.locator(f".st-key-debug_start_{verdict} button")
    if button.count() == 0:
        page.get_by_role("button", name="Examples").click()
    before = page.locator(CASE).inner_html() if page.locator(CASE).count() else ""
    button.click()
    page.wait_for_function(
        "([key, before]) => { const box = document.querySelector(key); return box && box.innerHTML !== before; }",
        arg=[CASE, before],
    )
    page.wait_for_selector(f'.tpc-verdict[data-verdict="{verdict}"]')
    page.keyboard.press("Escape")
    explained(page)


def explained(page: Any) -> None:
    """A cell is on screen with its cloud, its votes and a cause."""
    page.wait_for_selector(".st-key-debug_cloud .tpc-stage[data-drawn]")
    page.wait_for_selector(drawn(".st-key-debug_votes"))
    page.wait_for_selector(".tpc-cell[data-cause]")
    at_rest(page)


def cell(page: Any, name: str) -> str:
    return str(page.locator(".tpc-cell").get_attribute(f"data-{name}"))


def wait_for_cell(page: Any, path: str, **patience: Any) -> None:
    page.wait_for_selector(f'.tpc-cell[data-cell="{path}"]', **patience)


def click_cell(page: Any, path: str) -> None:
    """Click a cell on the map; a map that was just being drawn anew is clicked once more."""
    for patience in (10_000, 20_000, PATIENCE):
        page.mouse.move(5, 5)
        page.mouse.move(*page.evaluate(PLACE, [MAP, path]))
        page.wait_for_selector(f"{MAP} .hoverlayer .hovertext")
        page.mouse.click(*page.evaluate(PLACE, [MAP, path]))
        try:
            return wait_for_cell(page, path, timeout=patience)
        except Exception:
            if patience == PATIENCE:
                raise
    return None


def upload(page: Any, file: Path) -> None:
    """Open a certificate; the page moves on to it."""
    before = page.locator(CASE).inner_html() if page.locator(CASE).count() else ""
    if page.locator("[data-testid=stFileUploaderDropzoneInput]").count() == 0:
        page.get_by_role("button", name="Open a certificate").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(file)
    page.wait_for_function(
        "([key, before]) => { const box = document.querySelector(key); return box && box.innerHTML !== before; }",
        arg=[CASE, before],
    )
    page.keyboard.press("Escape")
    explained(page)


def histogram(page: Any) -> dict[str, int]:
    """The votes by class, as drawn."""
    names, votes = page.evaluate(
        "() => { const bars = document.querySelector('.st-key-debug_votes .js-plotly-plot')._fullData[0];"
        " return [Array.from(bars.y), Array.from(bars.text)]; }"
    )
    return {name: int(str(count).replace(",", "")) for name, count in zip(names, votes, strict=True)}


def test_a_cold_start_leads_to_an_explained_failure_in_two_clicks(visit: Callable[..., Any]) -> None:
    page = visit("explore")
    clicks = 0
    for target in (
        page.get_by_role("link", name="Debug"),
        page.locator(".st-key-debug_start_undecided button"),
    ):
        target.click()
        clicks += 1
    page.wait_for_selector('.tpc-verdict[data-verdict="undecided"]')
    explained(page)
    assert clicks == 2
    assert cell(page, "cause") == "wide-interval"
    assert page.locator('.tpc-finding[data-cause="budget"]').count() == 1
    remedy = page.get_by_role("button", name=re.compile(r"Cast [\d,]+ more votes here \(.*(enough|certain)"))
    remedy.first.wait_for()  # the cause has a remedy, and the remedy a price
    said = float(
        page.get_by_text(re.compile(r"about [\d,]+ votes, ")).first.inner_text().split()[1].replace(",", "")
    )

    # The primary action finishes the whole run, for about what was said, and lands in before and after.
    page.locator(".st-key-debug_do_all_go-on button").first.click()
    step = page.locator('.tpc-step[data-before="undecided"][data-after="certified"]')
    step.wait_for()
    assert said / 2 <= float(step.get_attribute("data-spent") or 0) <= 2 * said
    page.wait_for_selector(drawn(".st-key-debug_difference"))
    assert page.locator(f"{PANEL} button[aria-checked=true]").inner_text() == "Compare"


def test_a_run_of_ones_own_that_failed_is_explained_from_the_certify_page(visit: Callable[..., Any]) -> None:
    page = visit(f"certify?{PIANO}&model=pointnet64-noise&budget=1000")
    page.get_by_role("button", name="Certify", exact=True).click()
    page.get_by_role("button", name="Why?").click()
    page.wait_for_selector('.tpc-verdict[data-verdict="undecided"]')
    explained(page)
    page.wait_for_function("() => location.pathname.endsWith('debug') && /budget=1000/.test(location.search)")

    # Panels are opened, and the question is still there on the way back.
    for name in ("Votes and sigma", "Neighbours", "Why"):
        page.locator(PANEL).get_by_text(name, exact=True).click()
        at_rest(page)
    page.get_by_role("link", name="Certify").first.click()
    page.wait_for_function(
        "words => location.pathname.endsWith('certify') && words.every(word => location.search.includes(word))",
        arg=["piano-2", "taper%3D0.3,rotation%3D5", "budget=1000"],
    )
    page.get_by_role("button", name="Certify", exact=True).wait_for()
    assert page.get_by_role("slider", name="taper").first.input_value() == "0.3"
    assert page.get_by_role("slider", name="rotation").first.input_value() == "5"


@pytest.mark.parametrize("verdict", ["certified", "refuted", "undecided"])
def test_each_verdict_is_reached_by_a_real_run_and_drawn_on_one_axis(student: Any, verdict: str) -> None:
    open_example(student, verdict)
    bars = student.evaluate(GAP)
    assert bars[0][0] == 0
    assert all(before[1] == pytest.approx(after[0]) for before, after in itertools.pairwise(bars))
    certified, end = bars[0][1], bars[-1][1]
    assert (certified == pytest.approx(end)) == (verdict == "certified")
    assert len(bars) == (3 if verdict == "refuted" else 2)
    if verdict == "refuted":
        assert certified < bars[2][0] < end
        assert cell(student, "cause") == "another-class"


def test_a_failing_cell_is_clicked_and_settled_by_more_votes(student: Any) -> None:
    open_example(student, "undecided")
    first = cell(student, "cell")
    assert cell(student, "state") == "open"

    # By keyboard to the next failing cell, and back by a click on the map.
    student.locator("body").press("ArrowRight")
    student.wait_for_function("path => document.querySelector('.tpc-cell').dataset.cell !== path", arg=first)
    assert cell(student, "state") == "open"
    explained(student)
    click_cell(student, first)
    explained(student)
    assert sum(histogram(student).values()) == int(cell(student, "votes")) > 0

    student.get_by_role("button", name="more votes here").first.click()
    student.wait_for_selector(f'.tpc-cell[data-cell="{first}"][data-state="passed"]')
    explained(student)
    assert "continued" in student.locator(CASE).inner_html()  # and the page stays with what came of it
    student.locator(PANEL).get_by_text("Why", exact=True).click()


def out_of_votes(transform: str, radius: str) -> Certificate:
    """A run that ended with some cells settled and some open; larger budgets come to that in larger regions."""
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:piano-2", points=64)
    for samples in (1_000, 2_000, 4_000, 8_000):
        options = Options(budget=Budget(samples=samples))
        found = certify(model, cloud, transform, radius, options)
        view = CaseView.of(found)
        if view.failing and sum(facts.n > 0 for facts in view.leaves) > 1:
            return found
    raise AssertionError("no budget leaves cells open")


def box_of(view: CaseView, path: str) -> float:
    box = view.cell(path).cell
    return 0.0 if box is None else box.volume


@pytest.mark.parametrize(
    ("transform", "radius"),
    [("z-taper", "0.9"), ("z-twist+z-taper+z-rotation", "twist=15,taper=0.2,rotation=5")],
    ids=["1-D", "3-D"],
)
def test_cells_of_one_and_three_dimensions_are_clicked(
    student: Any, tmp_path: Path, transform: str, radius: str
) -> None:
    found = out_of_votes(transform, radius)
    view = CaseView.of(found)
    file = tmp_path / "failed.json"
    file.write_text(found.to_json())
    upload(student, file)
    assert cell(student, "cell") == view.failing[0].path  # the worst first
    student.wait_for_selector(drawn(MAP))
    leaves = [facts.path for facts in view.leaves if facts.n and facts.path != view.failing[0].path]
    on_map = [path for path in leaves if student.evaluate(PLACE, [MAP, path])]
    widest = max(on_map, key=lambda path: box_of(view, path))  # what is cut off at the border is thin
    click_cell(student, widest)
    explained(student)
    facts = view.cell(widest)
    assert int(cell(student, "votes")) == facts.n
    assert histogram(student)["piano"] == facts.n_a


def test_an_attack_is_shown_with_the_path_to_it_and_hunted_until_stopped(student: Any) -> None:
    open_example(student, "refuted")
    student.wait_for_selector(drawn(MAP))
    student.locator(PANEL).get_by_text("Attack", exact=True).click()
    student.wait_for_selector(".st-key-debug_attack .tpc-stage[data-drawn]")
    walk = student.locator(".tpc-walk")
    student.wait_for_selector(".tpc-walk[data-steps='17']")
    at_rest(student)
    assert walk.get_attribute("data-says") == "bookshelf"
    walk.get_by_role("button", name="Play").click()
    student.wait_for_selector(".tpc-walk[data-says=stairs]")  # on the way it becomes another class
    walk.get_by_role("button", name="Play again").wait_for()
    assert float(walk.get_attribute("data-part") or 0) == 1
    poses = [float(each.get_attribute("data-part") or 0) for each in student.locator(".tpc-pose").all()]
    assert poses[0] == 0
    assert poses[-1] == 1
    assert poses == sorted(poses)

    for _ in range(6):  # each search is longer than the one before, so that one of them is still under way
        student.locator(".st-key-debug_hunt button:not([disabled])").click()
        if student.wait_for_function(STOP_THE_HUNT).json_value() == "stopped":
            break
        at_rest(student)
    else:
        pytest.fail("no search could be stopped while it ran")
    at_rest(student)
    student.locator(".st-key-debug_hunt button:not([disabled])").wait_for()
    student.locator(PANEL).get_by_text("Why", exact=True).click()


def test_another_model_is_chosen_from_a_ranking_and_certifies_at_once(student: Any) -> None:
    open_example(student, "refuted")
    student.locator(PANEL).get_by_text("Models", exact=True).click()
    student.locator(".st-key-debug_rank button").click()
    student.wait_for_selector(f"{PANEL} button[aria-checked=true]:has-text('Models')")  # while the work runs
    student.locator(
        "[class*=st-key-debug_with_] button[kind=primary]"
    ).first.wait_for()  # who reaches farthest
    at_rest(student)
    # One probability for the whole region; the first row, a cover of a slower network, would take minutes.
    student.locator(".st-key-debug_with_pointnet64-z-shear button").first.click()
    student.locator('.tpc-step[data-before="refuted"][data-after="certified"]').wait_for()
    at_rest(student)
    student.locator(PANEL).get_by_text("Why", exact=True).click()


def test_a_certificate_travels_by_file_and_two_runs_are_compared(student: Any, tmp_path: Path) -> None:
    open_example(student, "certified")
    with student.expect_download() as download:
        student.get_by_role("button", name="This certificate (JSON)").click()
    saved = tmp_path / "certificate.json"
    download.value.save_as(saved)
    student.get_by_role("button", name="Open a certificate").click()
    hostile = tmp_path / "hostile.json"
    hostile.write_text(saved.read_text().replace('"certified"', '"refuted"', 1))
    student.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(hostile)
    student.get_by_text("the file was changed after it was made").first.wait_for()
    upload(student, saved)
    assert Certificate.load(saved).verdict == "certified"
    student.locator(PANEL).get_by_text("Compare", exact=True).click()
    student.wait_for_selector(drawn(".st-key-debug_difference"))
    at_rest(student)
    difference = student.evaluate(
        "() => Array.from(document.querySelector('.st-key-debug_difference .js-plotly-plot')._fullData[0].z)"
        ".flatMap(row => Array.from(row)).filter(Number.isFinite)"
    )
    assert difference
    assert set(difference) == {0}  # the file says what the run said
    student.locator(PANEL).get_by_text("Why", exact=True).click()


def test_a_link_to_a_failed_run_leads_others_to_the_same_cell(
    student: Any, visit: Callable[..., Any]
) -> None:
    open_example(student, "undecided")
    first = cell(student, "cell")
    student.get_by_role("button", name="Next").click()
    student.wait_for_function("path => document.querySelector('.tpc-cell').dataset.cell !== path", arg=first)
    student.locator(PANEL).get_by_text("Neighbours", exact=True).click()
    path = cell(student, "cell")
    student.wait_for_function(
        "path => location.search.includes(`cell=${path}`) && /panel=Neighbours/.test(location.search)",
        arg=path,
    )
    address = student.evaluate("() => location.href")
    other = visit(f"debug{address.partition('/debug')[2]}")
    other.locator(".st-key-debug_follow_link button").click()
    other.wait_for_selector('.tpc-verdict[data-verdict="undecided"]')
    explained(other)
    assert cell(other, "cell") == path
    other.get_by_text("How the search split the region").wait_for()
    other.wait_for_function("address => location.href === address", arg=address)
    student.locator(PANEL).get_by_text("Why", exact=True).click()


def test_a_link_that_makes_no_sense_falls_back_with_a_notice(visit: Callable[..., Any]) -> None:
    page = visit("debug?object=/etc/passwd&transform=z-sneeze&budget=-1&panel=Secret")
    notice = page.locator("[data-testid=stAlert]").first.inner_text()
    for name in ("object", "transform", "budget", "panel"):
        assert f"{name} = " in notice
    assert page.locator(".st-key-debug_start_undecided button").is_enabled()
