"""The Debug page: cases, tasks and figures, each on real certificates."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.figures.debug_cell import interval_figure, votes_figure
from app.figures.debug_gap import gap_figure
from app.figures.debug_map import curve, heatmap, volume
from app.figures.debug_take import votes_curve
from app.figures.theme import DARK, LIGHT
from app.pages.debug import work
from app.pages.debug.cases import Case
from app.pages.debug.examples import EXAMPLES
from app.server.jobs import JobBoard, TooManyJobs
from app.server.jobs.board import TASKS_PER_VISITOR
from tests.certificate.made import QUESTIONS, genuine
from tests.engines.models import growing, until
from tpc_core import Certificate, certify, list_models, parse_transform
from tpc_core.case_view import CaseView
from tpc_core.engines import Call, Steps
from tpc_core.explain import explain_certificate
from tpc_core.forecast import radius_by_votes

needs_model = pytest.mark.skipif(
    not any(card.name == "pointnet64-noise" for card in list_models()),
    reason="needs checkpoints/pointnet64-noise",
)

PATIENCE = 120.0
"""Seconds that work in the background may take on a busy machine."""


def debug_page(visitor: str = "debug-tester") -> None:
    import streamlit as st

    from app.pages.debug.page import page
    from app.session.settings import keep_settings

    st.session_state["visitor"] = visitor
    keep_settings()
    page()


def made(example_number: int) -> Certificate:
    """The certificate of a prepared case, from a real run."""
    request = EXAMPLES[example_number].request()
    asked = request.question
    return certify(request.model, request.cloud, asked.transform, asked.radius, asked.options)


@needs_model
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_each_prepared_case_ends_as_it_says(number: int) -> None:
    assert made(number).verdict == EXAMPLES[number].verdict


class TestPage:
    @pytest.mark.parametrize("kind", list(QUESTIONS))
    def test_every_kind_of_certificate_can_be_looked_into(self, kind: str) -> None:
        debug = with_cases(kind, "cover")
        for _ in range(60):  # certificates of linear maps take a few seconds of quadrature to open
            if debug.get("button_group"):
                break
            debug.run()
        assert not debug.exception
        assert not debug.error
        for panel in ("Attack", "Models", "Votes and sigma", "Neighbours", "Points", "Compare", "Why"):
            steered(debug.button_group, "debug_panel").set_value(panel).run()
            assert not debug.exception, panel

    def test_it_steps_through_what_failed(self) -> None:
        certificate = genuine("cover undecided")
        debug = with_cases("cover undecided")
        failing = [cell.path for cell in CaseView.of(certificate).failing]
        assert len(failing) > 1
        debug.button(key="debug_after").click().run()
        assert debug.session_state["debug_chosen"][f"file:{certificate.checksum[:16]}"] == failing[1]


def with_cases(first: str, *others: str) -> AppTest:
    """The page with some certificates, as if they had been opened from files; the first is on screen."""
    from app.pages.debug.cases import keep

    visitor = f"looks into {first}"
    for kind in (*others, first):
        keep(visitor, kind, genuine(kind), None)
    app = AppTest.from_function(debug_page, default_timeout=60, kwargs={"visitor": visitor})
    app.session_state["debug_case"] = f"file:{genuine(first).checksum[:16]}"
    app.run()
    assert not app.exception
    return app


def steered(widgets: Any, name: str) -> Any:
    """The widget of a name that both the visitor and the program move."""
    return next(widget for widget in widgets if str(widget.key).startswith(f"{name}_"))


@needs_model
class TestLinks:
    """The question of a case in the address, and back."""

    @pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.verdict)
    def test_a_question_comes_back_from_its_words(self, example: Any) -> None:
        from app.pages.debug import question_link as asked

        request = example.request()
        words = asked.words_of(request)
        app = AppTest.from_function(linked_words, kwargs={"words": {**words, "cell": "0,-1:01"}}).run()
        assert not app.exception
        assert app.session_state["notices"] == []
        assert app.session_state["words"] == words
        assert app.session_state["cell"] == "0,-1:01"

    def test_what_makes_no_sense_is_left_out_with_a_notice(self) -> None:
        words = {
            "object": "/etc/passwd",
            "transform": "z-sneeze",
            "radius": "0.2",
            "model": "../model",
            "sigma": "-1",
            "alpha": "0",
            "protocol": "none",
            "budget": "all",
            "seed": "-3",
            "cell": "<b>",
            "panel": "Secret",
        }
        app = AppTest.from_function(linked_words, kwargs={"words": words}).run()
        assert not app.exception
        assert len(app.session_state["notices"]) == len(words)
        assert app.session_state["words"] is None

    def test_a_certificate_from_a_file_has_a_link_where_its_object_is_in_the_gallery(self) -> None:
        from app.pages.debug.cases import Case
        from app.pages.debug.question_link import request_of, words_of

        certificate, request = made(2), EXAMPLES[2].request()
        found = request_of(Case("file:1", "from a file", certificate, request.model))
        assert found is not None
        assert words_of(found) == words_of(request)
        assert request_of(Case("file:2", "of a toy", genuine("cover"), None)) is None


def linked_words(words: dict[str, str]) -> None:
    """A page that takes a link and says what it understood."""
    import streamlit as st

    from app.pages.debug import question_link as asked
    from app.session import links

    st.session_state["visitor"] = "linked"
    st.session_state["notices"] = links.take(asked.LINKED, words)
    link = asked.linked()
    st.session_state["words"] = None if link is None else asked.words_of(link.request)
    st.session_state["cell"] = None if link is None else link.cell


def after_click(visitor: str, key: str) -> tuple[AppTest, Any]:
    """The example with too few votes, a click on a remedy, and the case that came of it."""
    from app.pages.debug.cases import cases, keep

    request, certificate = EXAMPLES[2].request(), made(2)
    before = keep(visitor, "short of votes", certificate, request.model, request)
    app = AppTest.from_function(debug_page, default_timeout=60, kwargs={"visitor": visitor}).run()
    end = time.monotonic() + PATIENCE
    while key not in {button.key for button in app.button} and time.monotonic() < end:
        time.sleep(0.1)  # a worker opens the certificate
        app.run()
    app.button(key=key).click().run()
    while app.session_state["debug_case"] == before.id and time.monotonic() < end:
        time.sleep(0.1)
        app.run()
    assert not app.exception
    return app, cases(visitor)[app.session_state["debug_case"]]


@needs_model
def test_one_click_finishes_the_whole_run_within_twice_the_votes_that_it_says() -> None:
    certificate = made(2)
    said = explain_certificate(CaseView.of(certificate)).primary
    assert said is not None
    app, after = after_click("one-click", "debug_do_all_go-on")
    assert after.certificate.verdict == "certified"
    assert said.votes / 2 <= after.certificate.samples - certificate.samples <= 2 * said.votes
    # It lands in a comparison of before and after, and the Certify page has the run with its question.
    assert app.session_state["debug_panel"] == "Compare"
    assert app.session_state["debug_other"].startswith("file:")
    assert app.session_state["run"] == after.id.removeprefix("run:")


@needs_model
def test_a_run_that_went_on_says_its_time_by_the_votes_that_it_cast_itself(monkeypatch) -> None:
    """Its certificate has the votes of all its parts, and the seconds of the last one only."""
    certificate = made(2).model_copy(update={"seconds": 0.1})
    monkeypatch.setattr(work, "votes_per_second", lambda *_: 500.0)
    view = CaseView.of(certificate)

    def case(cast: int) -> Any:
        return SimpleNamespace(case=Case("run:1", "a run", certificate, None, None, cast), view=view)

    assert work.pace(case(cast=128), SimpleNamespace()) == 500  # too few to tell
    assert work.pace(case(cast=1000), SimpleNamespace()) == pytest.approx(10_000)
    assert work.pace(case(cast=0), SimpleNamespace()) == 500  # from a file


@needs_model
def test_one_cell_can_be_settled_by_itself() -> None:
    certificate = made(2)
    first = CaseView.of(certificate).failing[0]
    app, after = after_click("one-cell", "debug_do_cell_0_more-votes")
    assert CaseView.of(after.certificate).cell(first.path).state == "passed"
    assert app.session_state["debug_panel"] == "Compare"


@needs_model
def test_a_link_without_an_object_says_what_it_needs() -> None:
    app = AppTest.from_function(debug_page, default_timeout=60, kwargs={"visitor": "half a link"})
    app.query_params["transform"] = "z-taper"
    app.run()
    assert not app.exception
    (told,) = [info.value for info in app.info]
    assert "the object and the model" in told


class TestFigures:
    @pytest.mark.parametrize("theme", [LIGHT, DARK])
    def test_every_cell_of_the_map_can_be_clicked(self, theme) -> None:
        view = CaseView.of(genuine("cover"))
        figure = curve(view, view.leaves[0].path, theme)
        columns = figure["data"][-1]
        assert columns["customdata"] == [facts.path for facts in view.leaves]

    def test_slices_and_volumes_of_three_dimensions(self) -> None:
        view = CaseView.of(genuine("cover of rotations"))
        chosen = view.leaves[0].path
        sliced = heatmap(view, chosen, "margin", LIGHT, at=0.0)
        paths = {path for row in sliced["data"][0]["customdata"] for path in row}
        assert paths - {""} <= set(view.by_path)
        solid = volume(view, chosen, "state", DARK)
        (dots,) = [trace for trace in solid["data"] if trace.get("customdata")]
        assert set(dots["customdata"]) == {facts.path for facts in view.leaves}
        assert solid["data"][-1]["name"] == "chosen"

    def test_an_interval_shows_what_was_needed(self) -> None:
        facts = CaseView.of(genuine("cover undecided")).leaves[0]
        figure = interval_figure(facts, LIGHT)
        assert figure["data"][0]["x"] == [facts.lower_bound, facts.upper_bound]
        assert figure["layout"]["shapes"][0]["x0"] == facts.needed

    def test_the_claimed_class_is_always_in_the_histogram(self) -> None:
        votes = dict.fromkeys("abcdef", 10) | {"claimed": 1}
        assert "claimed" in votes_figure(votes, "claimed", LIGHT)["data"][0]["y"]

    def test_the_gap_is_drawn_between_certificate_and_attack(self) -> None:
        view = CaseView.of(genuine("cover refuted"))
        figure = gap_figure(view, 0.1, 0.3, LIGHT)
        bars = [(trace["base"][0], trace["x"][0]) for trace in figure["data"] if trace["type"] == "bar"]
        whole = view.transform.radii[0].to_edge(view.radii[0])
        assert bars[0] == (0.0, pytest.approx(0.1 * whole))
        assert bars[1] == (pytest.approx(0.1 * whole), pytest.approx(0.2 * whole))
        assert bars[2] == (pytest.approx(0.3 * whole), pytest.approx(0.7 * whole))

    def test_the_curve_marks_what_was_asked_for(self) -> None:
        view = CaseView.of(genuine("cover undecided"))
        figure = votes_curve(view, radius_by_votes(view), LIGHT)
        assert figure["layout"]["shapes"][0]["y0"] == pytest.approx(0.88)
        assert 0 <= view.certified_part <= 1


class TestTasks:
    @pytest.fixture
    def board(self, engine) -> JobBoard:
        return JobBoard(engine)

    def test_work_reports_and_ends(self, board) -> None:
        view = board.start("me", "count", "Counting", Call(sum, ([40, 2],))).settle(30)
        assert (view.status, view.result) == ("done", 42)
        assert board.task("you", "count") is None

    def test_all_steps_so_far_are_the_result_and_the_bar_never_runs_backwards(self, board) -> None:
        view = board.start("me", "steps", "Steps", Steps(growing, (3,), 2, "step {step}")).settle(30)
        assert (view.status, view.result, view.words) == ("done", [0, 1, 2], "step 2")
        assert (
            view.part == 1.5
        )  # three steps came where two were expected; the page draws no more than a full bar
        assert view.eta is None

    def test_work_is_stopped(self, board) -> None:
        task = board.start("me", "endless", "Endless", Steps(growing, (None,), 10))
        until(lambda: task.view().result is not None)
        assert [live.key for live in board.tasks("me")] == ["endless"]
        task.cancel()
        assert task.settle(30).status == "cancelled"

    def test_an_error_is_one_sentence(self, board) -> None:
        view = board.start("me", "bad", "Bad", Call(parse_transform, ("z-nothing",))).settle(30)
        assert view.status == "failed"
        assert "z-nothing" in view.message

    def test_nobody_takes_the_whole_board(self, board) -> None:
        tasks = [
            board.start("me", str(n), "One", Steps(growing, (None,), 10)) for n in range(TASKS_PER_VISITOR)
        ]
        assert board.start("me", "0", "One", Steps(growing, (None,), 10)) is tasks[0]
        with pytest.raises(TooManyJobs):
            board.start("me", "another", "Two", Steps(growing, (None,), 10))
        for task in tasks:
            task.cancel()
            assert task.join(30)

    def test_what_a_visitor_left_is_dropped(self, board) -> None:
        board.start("gone", "one", "One", Call(sum, ([1],))).settle(30)
        board.drawer("gone")["x"] = 1
        board.sweep(lambda visitor: False, now=0.0)
        board.sweep(lambda visitor: False, now=1e6)
        assert board.task("gone", "one") is None
        assert board.drawer("gone") == {}


def test_a_file_may_not_name_a_model_by_its_path(tmp_path: Path) -> None:
    from app.pages.debug.cases import model_of
    from tests.certificate.made import changed

    named = changed(
        genuine("cover"), lambda content: content["model"].update(name=str(tmp_path / "x.safetensors"))
    )
    assert model_of(named) is None


@needs_model
def test_going_on_waits_for_a_run_that_writes_into_the_same_ledger_and_holds_nobody_up() -> None:
    """The run needs its turns to end, so whoever waits for it must not keep one."""
    from app.pages.debug.cases import keep
    from app.pages.debug.opened_case import Opened, opened
    from app.pages.debug.work import start_more
    from app.server.visitors import board
    from tpc_core.explain import Remedy

    request, certificate = EXAMPLES[2].request(), made(2)
    kept = keep("waits", "short of votes", certificate, request.model)
    until(lambda: not opened("waits", kept).live)
    case = opened("waits", kept).result
    assert isinstance(case, Opened)
    account = board().accounts.of("waits", request)
    account.enter(lambda: None)
    start_more("waits", case, request.model, Remedy("go-on", "go on with all that is open"))
    somebody = board().start("somebody else", "sum", "Sum", Call(sum, ([1],)))
    assert somebody.join(30)
    (task,) = board().tasks("waits")
    assert (task.title, task.view().status) == ("Casting more votes", "queued")
    account.leave()
    assert task.join(PATIENCE)
    assert account.certificate is not None
    assert account.certificate.samples > certificate.samples


@needs_model
class TestExact:
    """Certificates without votes: their cells, the cloud that refutes them, and both kinds side by side."""

    @pytest.mark.parametrize(
        "kind", ["certified", "of two", "refuted", "largest", "ball", "refuted ball", "parts, some refuted"]
    )
    def test_every_kind_of_exact_proof_can_be_looked_into(self, kind: str) -> None:
        from tests.certificate.test_certain import genuine as exact

        debug = exact_page(exact(kind))
        assert not debug.error
        words = "\n".join(caption.value for caption in debug.caption)
        wrong = "refuted" in kind or kind == "largest"
        assert ("the plain network says" in words) == wrong
        assert "By votes, smoothed" in words

    def test_both_kinds_of_proof_stand_beside_each_other(self) -> None:
        from tests.certificate.test_certain import genuine as exact
        from tests.certificate.test_certain import model
        from tpc_core import load_object

        votes = certify(model(), load_object("gallery:chair-1", points=48), "z-taper", 0.05)
        debug = exact_page(exact("certified"), votes)
        table = debug.dataframe[0].value
        assert sorted(table["Proof"]) == ["by votes", "exact"]
        assert set(table["Chance of error"]) == {"none", "0.1 %"}


def exact_page(first: Certificate, *others: Certificate) -> AppTest:
    from app.pages.debug.cases import keep

    visitor = f"looks into {first.checksum[:8]} of {len(others)}"
    for certificate in (*others, first):
        keep(visitor, certificate.question.transform, certificate, None)
    app = AppTest.from_function(debug_page, default_timeout=60, kwargs={"visitor": visitor})
    app.session_state["debug_case"] = f"file:{first.checksum[:16]}"
    app.run()
    assert not app.exception
    return app
