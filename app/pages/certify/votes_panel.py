"""The votes of a run that has no cells: the bound as they came in, the votes of a group, or the points of a cloud."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.plot import PNG, SVG, plot
from app.components.style import theme
from app.figures.point_groups import PointGroups, certified_groups
from app.figures.points import bounds_figure
from app.figures.single import convergence_figure, group_figure
from app.figures.theme import Figure
from app.server.jobs import Count, JobView
from app.widgets.objects import part_names
from tpc_core.proofs import PointStanding

HEIGHT = "clamp(260px, calc(100vh - 460px), 420px)"


def votes_panel(view: JobView) -> None:
    """What stands behind the verdict, where it is not drawn on the map."""
    standing = view.standing
    if standing is not None and standing.points is not None:
        _points(view, standing.points)
    elif view.request.is_certain or view.request.has_cells:
        return
    elif view.votes:
        _group(view)
    elif view.proof is not None and view.proof.kind == "single" and (view.counts or standing is not None):
        needed = None if view.request.question.options.largest else view.proof.claim.threshold.q
        counts = view.counts if standing is None else Count.readings(standing.cells[0])
        with st.expander("The votes of this run", expanded=view.live):
            st.caption("The share of votes for the class, and the lower bound of p_A that they prove.")
            _plot(convergence_figure(counts, needed, theme()), view, "votes")


def _group(view: JobView) -> None:
    name = view.prediction or ""
    rival, votes = max(
        ((n, v) for n, v in view.votes.items() if n != name), key=lambda item: item[1], default=("", 0)
    )
    against = f" against {votes:,} for {rival.replace('_', ' ')}" if rival else ", and none for another class"
    with st.expander("The votes of this run"):
        st.caption(
            "This smoothed model answers the same for every rotation of the object. So it is enough to prove which "
            f"class wins: {view.votes.get(name, 0):,} votes{against}."
        )
        _plot(group_figure(view.votes, name, theme()), view, "votes", height=280)


def _points(view: JobView, points: PointStanding) -> None:
    certified = np.asarray(points.certified, dtype=bool)
    several = "" if view.request.is_certain else f" {sum(points.jointly)} of them all at once."
    st.caption(f"{int(certified.sum())} of {len(certified)} points keep their part.{several}")
    standing = view.standing
    if standing is None or not standing.cells:
        return
    with st.expander("The lower bound of p_A for each point", expanded=not view.live):
        bounds, needed = np.array([c.lower_bound for c in standing.cells]), standing.cells[0].needed
        figure = bounds_figure(
            bounds, np.asarray(points.predictions), certified, needed, _names(view), theme()
        )
        _plot(figure, view, "points", height=260)


def groups_of_parts(view: JobView | None) -> PointGroups | None:
    """The points of a segmentation by the part that is certified; None before a run, and for a class."""
    points = None if view is None or view.standing is None else view.standing.points
    if view is None or points is None:
        return None
    certified, predictions = np.asarray(points.certified, dtype=bool), np.asarray(points.predictions)
    return certified_groups(predictions, certified, _names(view), theme())


def _names(view: JobView) -> dict[int, str]:
    named = {number: name.replace("_", " ") for number, name in enumerate(view.request.model.classes)}
    return named | part_names("" if view.request.private else view.request.question.object)


def _plot(figure: Figure, view: JobView, key: str, *, height: int | str = HEIGHT, zoom: bool = False) -> None:
    plot(
        figure,
        key=f"run_{key}",
        height=height,
        stamp=view.revision,
        camera_of=view.id,
        actions=(PNG, SVG),
        filename=f"votes-{view.request.cloud.name}-{view.request.transform.name}",
        zoom=zoom,
    )
