"""Results: our tables beside the paper's and DeepG3D's, with the command that made each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from app.components.escape_markdown import literal
from app.components.plot import SVG, plot
from app.components.style import theme
from app.figures.results import ROW, row_name, standing_figure
from app.session import links
from tpc_core.evaluation import (
    ClaimSpec,
    Figures,
    PaperTable,
    Settings,
    Share,
    Standing,
    load_summaries,
    objects_of,
    paper,
    run_name,
    spoken_radius,
    standings,
)
from tpc_core.shipped import shipped

EVERYTHING = "All figures"
SUMMARIES = shipped("results", "paper", "summaries")


def page() -> None:
    """What is below the paper first, then every table."""
    all_figures, complaints = load_summaries(SUMMARIES)
    for complaint in complaints:
        st.warning(f"A summary could not be read. {literal(complaint)}")
    if not all_figures:
        st.info("No evaluation is in results/paper/summaries yet; make one with `tpc evaluate`.")
        return
    tables = [(table, standings(table, all_figures)) for table in paper().tables]
    answered = [(table, rows) for table, rows in tables if any(row.answer or row.certain for row in rows)]
    _overview(tables)
    names = [*(table.id for table, _ in answered), EVERYTHING]
    linked = [links.choice("table", "results_table", names, names[0])]
    links.restore(linked)
    if st.session_state.get("results_table") not in names:
        st.session_state["results_table"] = names[0]
    chosen = st.segmented_control("Table", names, required=True, key="results_table")
    shown = next((pair for pair in answered if pair[0].id == chosen), None)
    if shown is None:
        _everything(all_figures)
        _commands("The commands that measured these figures", all_figures)
    else:
        _table(*shown)
        answers = [answer for row in shown[1] for answer in (row.answer, row.certain) if answer is not None]
        used = {id(answer.figures): answer.figures for answer in answers}
        _commands("The commands that measured this table", list(used.values()))
    links.share(linked)


def _overview(tables: Sequence[tuple[PaperTable, Sequence[Standing]]]) -> None:
    """How many rows are above, and plainly which are below."""
    rows = [(table, row) for table, rows in tables for row in rows]
    ours = [row for _, row in rows if row.difference is not None]
    whole = sum(row.figures.on_whole_split for row in ours if row.figures is not None)
    below = [(table, row) for table, row in rows if row.verdict == "below"]
    above = [row for row in ours if row.verdict == "above"]
    st.markdown(
        "## Certified accuracy, compared with the TPC paper\n\n"
        "Certified accuracy is the share of test objects for which the answer is right and certified. "
        f"Of the {len(rows)} published figures we have measured {len(ours)}: **{len(above)} are higher** than the "
        f"paper's, **{len(below)} are lower**. {whole} of them are measured on every object of the test split, the "
        "others on a part of it. The 95 % intervals show the uncertainty that comes from the choice of these objects. "
        "The model of each row was fixed before it was measured."
    )
    if below:
        with st.expander(f"The {len(below)} rows that are lower than in the paper", expanded=False):
            st.dataframe(
                [
                    {
                        "table": table.id,
                        "row": row_name(row, points=True),
                        "model": _model(row.figures.settings) if row.figures else "",
                        "objects": objects_of(row.figures) if row.figures else "",
                        "ours": row.share.value if row.share else None,
                        "95 %": _interval(row.share),
                        "paper": row.row.tpc,
                        "difference": row.difference,
                        "outside the 95 % interval": "yes" if row.sure else "no",
                    }
                    for table, row in sorted(below, key=lambda pair: pair[1].difference or 0.0)
                ],
                column_config=_columns(),
                hide_index=True,
            )


def _everything(all_figures: Sequence[Figures]) -> None:
    """Every claim that was evaluated, whether the paper has it or not."""
    st.markdown("**All that we measured**, also what the paper does not have.")
    lines = []
    for figures in all_figures:
        for claim in figures.claims:
            spec = ClaimSpec.parse(claim.claim)
            lines.append(
                {
                    "model": _model(figures.settings),
                    "transform": spec.transform.name,
                    "radius": spoken_radius(spec),
                    "points": figures.settings.points,
                    "objects": objects_of(figures),
                    "clean": figures.clean_accuracy.value,
                    "ours": claim.certified_accuracy.value,
                    "95 %": _interval(claim.certified_accuracy),
                    "ratio": _value(claim.certified_ratio),
                    "all points": _value(claim.joint_accuracy),
                    "mIoU, all points": _value(claim.joint_miou),
                    "votes": claim.samples,
                }
            )
    together = any(line["all points"] is not None for line in lines)
    if not together:
        lines = [{k: v for k, v in line.items() if "all points" not in k} for line in lines]
    st.dataframe(lines, column_config=_columns(), hide_index=True, height=_height(lines), placeholder="–")
    st.caption(
        "All figures are percent of the objects; for part segmentation, percent of the points. clean: right without an "
        "attack. ours: right and certified. ratio: certified, right or wrong. votes: for one certificate; for exact "
        "proofs, the number of cells."
        + (" all points: every point of the object is certified at once." if together else "")
    )


def _interval(share: Share | None) -> str:
    return "" if share is None else f"{share.low:.1f} to {share.high:.1f}"


def _value(share: Share | None) -> float | None:
    return None if share is None else share.value


def _height(lines: Sequence[object]) -> int:
    """A table as tall as its rows, up to a screenful or so."""
    return min(38 + 35 * len(lines), 1100)


def _table(table: PaperTable, rows: Sequence[Standing]) -> None:
    left, right = st.columns([1, 1.25], gap="medium")
    with left:
        st.markdown(f"**{table.id}.** {table.title}")
        plot(
            standing_figure(rows, theme()),
            key="results_plot",
            height=120 + ROW * len(rows),
            camera_of=table.id,
            actions=(SVG,),
            filename=f"results-{table.id}",
        )
    with right:
        st.caption(f"Source of the published figures: {paper().source}; {paper().settings}.")
        sizes = len({row.row.points for row in rows}) > 1
        event = st.dataframe(
            [_line(row, sizes=sizes) for row in rows],
            column_config=_columns(),
            hide_index=True,
            height=_height(rows),
            key=f"results_rows_{table.id}",
            placeholder="–",
            on_select="rerun",
            selection_mode="single-row",
        )
        picked = event["selection"]["rows"]
        chosen = rows[picked[0]].figures if picked and picked[0] < len(rows) else None
        if chosen is None:
            st.caption("Choose a row to see the command that measured it.")
        else:
            _command(chosen)


def _line(row: Standing, *, sizes: bool) -> dict[str, object]:
    model = "not evaluated" if row.figures is None else _model(row.figures.settings)
    certain = row.certain
    return {
        "transform": row.claim.transform.name,
        "radius": spoken_radius(row.claim),
        **({"points": row.row.points} if sizes else {}),
        "ours": _value(row.share),
        "95 %": _interval(row.share),
        "paper": row.row.tpc,
        "difference": row.difference,
        "model": model,
        "objects": "" if row.figures is None else objects_of(row.figures),
        "exact": None if certain is None else certain.share.value,
        "exact, 95 %": "" if certain is None else _interval(certain.share),
        "DeepG3D": row.row.deepg3d,
        "exact, model": "" if certain is None else certain.figures.settings.model,
        "exact, objects": "" if certain is None else objects_of(certain.figures),
    }


def _model(settings: Settings) -> str:
    """The model of an evaluation, as this page calls it."""
    return run_name(settings).replace(", certain", ", exact")


def _columns() -> dict[str, ColumnConfig]:
    number = st.column_config.NumberColumn
    return {
        "ours": number(format="%.1f"),
        "paper": number(format="%.1f"),
        "exact": number(
            format="%.1f",
            help="Exact proofs about the base model, with no probability of error, as DeepG3D gives them.",
        ),
        "DeepG3D": number(format="%.1f"),
        "difference": number(format="%+.1f"),
        "clean": number(format="%.1f"),
        "ratio": number(format="%.1f"),
        "all points": number(format="%.1f"),
        "mIoU, all points": number(format="%.1f"),
        "points": number(format="%d"),
        "votes": number(format="%,.0f"),
    }


def _command(figures: Figures) -> None:
    """One evaluation, and how to get it again."""
    settings = figures.settings
    name = _model(settings)
    what = "cells" if settings.proof == "certain" else "votes"
    passes = f"{figures.evaluations_per_object:,.0f} {what} for each object"
    st.markdown(
        f"**{literal(name)}**: {figures.done:,} objects, {passes}, {figures.seconds_per_object:.2f} s; "
        f"clean accuracy {figures.clean_accuracy.value:.1f} % "
        f"({figures.clean_accuracy.low:.1f} to {figures.clean_accuracy.high:.1f})."
    )
    st.code(f"{settings.command()} --out runs/eval/{name}", language="bash", wrap_lines=True)


def _commands(title: str, all_figures: Sequence[Figures]) -> None:
    """How to get each figure again."""
    with st.expander(title):
        st.caption(
            "The same command gives the same verdicts: the random numbers follow from the seed, the object and the "
            "model. The data sets are not part of this program; `tpc data fetch` downloads them."
        )
        for figures in all_figures:
            _command(figures)
