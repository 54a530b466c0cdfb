"""The Theory page names code that exists; the Results page reads whatever summaries are there."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.figures.results import standing_figure
from app.figures.theme import LIGHT
from app.pages.results import page as results
from app.pages.theory.page import DOCUMENT, implementation, sections
from tpc_core.evaluation.paper import paper
from tpc_core.evaluation.standing import load_summaries, standings

_, SECTIONS = sections(DOCUMENT.read_text(encoding="utf-8"))


def theory_page() -> None:
    """The Theory page by itself."""
    from app.pages.theory.page import page

    page()


def results_page() -> None:
    """The Results page by itself."""
    from app.pages.results.page import page

    page()


class TestTheory:
    @pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
    def test_each_statement_has_a_proof_and_code_that_exists(self, section) -> None:
        assert "**Statement.**" in section.text
        assert "**Proof sketch.**" in section.text
        assert section.names
        for name in section.names:
            thing = implementation(name)
            assert inspect.isclass(thing) or inspect.isfunction(thing)
            assert inspect.getdoc(thing)

    def test_nothing_else_that_looks_like_our_code_is_named(self) -> None:
        named = set(re.findall(r"tpc_core\.[\w.]*\w", DOCUMENT.read_text(encoding="utf-8")))
        assert named == {name for section in SECTIONS for name in section.names}

    @pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
    def test_each_statement_has_a_figure_that_moves(self, section) -> None:
        from app.figures.theorems import theorem_figure

        figure = theorem_figure(section.title)
        assert figure is not None
        assert len(figure.frames) >= 10
        assert len({frame.words for frame in figure.frames}) > 5
        assert any(
            first.lines != second.lines
            for first, second in zip(figure.frames, figure.frames[1:], strict=False)
        )

    def test_the_enclosure_of_the_margin_holds_the_margin_and_gets_proved(self) -> None:
        from app.figures.theorems import theorem_figure

        figure = theorem_figure("Certain answers")
        assert figure is not None
        for frame in figure.frames:
            *cells, curve = frame.lines
            for cell in cells:
                (left, low0), (right, low1), (_, high1), (_, high0) = cell.points
                inside = [(x, y) for x, y in curve.points if left <= x <= right]
                for x, y in inside:
                    part = (x - left) / (right - left)
                    assert low0 + part * (low1 - low0) <= y <= high0 + part * (high1 - high0)
                assert (cell.kind == "right") == (min(low0, low1) > 0)
        proved = [all(cell.kind == "right" for cell in frame.lines[:-1]) for frame in figure.frames]
        assert not proved[0]
        assert proved[-1]

    def test_the_slips_of_the_paper_are_told(self) -> None:
        assert sum("**The paper.**" in section.text for section in SECTIONS) >= 8

    def test_the_page_shows_the_chosen_statement_with_its_source(self) -> None:
        app = AppTest.from_function(theory_page, default_timeout=60).run()
        app.radio(key="theory_section").set_value("Refutation").run()
        assert not app.exception
        assert any("def confirm_attack" in code.value for code in app.code)


def summary(**changes: object) -> dict[str, object]:
    path = sorted(results.SUMMARIES.glob("*.json"))[0]
    return {**json.loads(path.read_text(encoding="utf-8")), **changes}


class TestStandings:
    def test_every_row_of_the_paper_is_there_once_with_or_without_our_answer(self) -> None:
        figures, complaints = load_summaries(results.SUMMARIES)
        assert not complaints
        for table in paper().tables:
            assert [row.row for row in standings(table, figures)] == list(table.rows)

    def test_below_is_said_and_whether_the_objects_explain_it(self) -> None:
        figures, _ = load_summaries(results.SUMMARIES)
        for table in paper().tables:
            for row in standings(table, figures):
                if row.share is None or row.row.tpc is None:
                    assert row.verdict == "open"
                    continue
                gap = row.share.value - row.row.tpc
                assert row.verdict == ("equal" if abs(gap) < 0.05 else "above" if gap > 0 else "below")
                assert row.sure == (row.row.tpc < row.share.low or row.row.tpc > row.share.high)

    def test_a_file_that_is_no_summary_is_named_and_the_others_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "good.json").write_text(json.dumps(summary()))
        (tmp_path / "broken.json").write_text("{")
        (tmp_path / "other.json").write_text('{"format": "tpc-evaluation/9"}')
        (tmp_path / "short.json").write_text(json.dumps(summary(claims=[{}])))
        figures, complaints = load_summaries(tmp_path)
        assert len(figures) == 1
        for complaint, name in zip(complaints, ("broken.json", "other.json", "short.json"), strict=True):
            assert name in complaint

    def test_a_setting_that_is_unknown_is_said(self, tmp_path: Path) -> None:
        settings = {**summary()["settings"], "mystery": 1}  # type: ignore[dict-item]
        (tmp_path / "strange.json").write_text(json.dumps(summary(settings=settings)))
        _, (complaint,) = load_summaries(tmp_path)
        assert "mystery" in complaint

    def test_the_figure_has_a_place_for_each_row(self) -> None:
        figures, _ = load_summaries(results.SUMMARIES)
        rows = standings(paper().tables[0], figures)
        drawn = standing_figure(rows, LIGHT)
        assert len(drawn["layout"]["yaxis"]["ticktext"]) == len(rows)
        assert sum(len(trace["x"]) for trace in drawn["data"][3:]) == sum(
            row.share is not None for row in rows
        )


class TestResults:
    def test_it_counts_the_rows_below_and_shows_every_command(self) -> None:
        app = AppTest.from_function(results_page, default_timeout=60).run()
        assert not app.exception
        said = next(text.value for text in app.markdown if "are lower" in text.value)
        figures, _ = load_summaries(results.SUMMARIES)
        rows = [row for table in paper().tables for row in standings(table, figures)]
        assert f"**{sum(row.verdict == 'below' for row in rows)} are lower**" in said
        app.button_group(key="results_table").set_value(results.EVERYTHING).run()
        assert len(app.code) == len(figures)
        assert all(code.value.startswith("tpc evaluate") for code in app.code)
        assert len(app.dataframe[-1].value) == sum(len(one.claims) for one in figures)

    def test_every_table_can_be_chosen_and_shows_the_commands_behind_it(self) -> None:
        app = AppTest.from_function(results_page, default_timeout=60).run()
        figures, _ = load_summaries(results.SUMMARIES)
        by_id = {table.id: table for table in paper().tables}
        for option in app.button_group(key="results_table").options:
            name = getattr(option, "content", option)
            app.button_group(key="results_table").set_value(name).run()
            assert not app.exception
            if name in by_id:
                rows = standings(by_id[name], figures)
                answers = [
                    answer for row in rows for answer in (row.answer, row.certain) if answer is not None
                ]
                used = {answer.figures.settings.command() for answer in answers}
                assert {code.value.partition(" --out")[0] for code in app.code} == used
                assert len(app.dataframe[-1].value) == len(rows)

    def test_tables_that_come_later_are_shown_without_a_change_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Part segmentation with its joint figures, and CurveNet: summaries of today's format, other tables."""
        share = {"value": 70.0, "low": 60.0, "high": 80.0}
        made = summary()
        for table in paper().tables:
            row = table.rows[0]
            claim = {
                "claim": row.claim, "certified_accuracy": share, "certified_ratio": share, "statuses": {"certified": 7},
                "samples_per_certificate": 1000, "joint_accuracy": None, "joint_miou": None,
            }  # fmt: skip
            if row.architecture.endswith("segmentation"):
                claim |= {"joint_accuracy": share, "joint_miou": share}
            settings = {
                **made["settings"],  # type: ignore[dict-item]
                "data": row.data, "architecture": row.architecture, "points": row.points, "claims": [row.claim],
                "model": f"{row.architecture}-{row.points}",
            }  # fmt: skip
            name = f"{table.id}.json".replace(" ", "-")
            (tmp_path / name).write_text(json.dumps(summary(settings=settings, claims=[claim])))
        monkeypatch.setattr(results, "SUMMARIES", tmp_path)
        app = AppTest.from_function(results_page, default_timeout=60).run()
        assert not app.exception
        assert not app.warning
        options = [getattr(o, "content", o) for o in app.button_group(key="results_table").options]
        assert options == [*(table.id for table in paper().tables), results.EVERYTHING]
        for name in options:
            app.button_group(key="results_table").set_value(name).run()
            assert not app.exception
        assert "mIoU, all points" in app.dataframe[-1].value.columns

    def test_without_summaries_it_says_how_to_make_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(results, "SUMMARIES", tmp_path)
        app = AppTest.from_function(results_page, default_timeout=60).run()
        assert not app.exception
        assert any("tpc evaluate" in info.value for info in app.info)
