"""The figure of a run, whichever kind of certificate it is."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.plot import PNG, SVG, plot
from app.components.style import theme
from app.figures.axes import parameter_axes
from app.figures.cells import MODES, Mode, curve_figure, heatmap_figure, star, volume_figure
from app.figures.cloud import certified_parts_figure
from app.figures.margins import margin_bars, margin_heatmap
from app.figures.points import bounds_figure
from app.figures.single import convergence_figure, group_figure, landscape_figure
from app.figures.theme import Figure
from app.server.jobs import Count, JobView
from app.widgets.objects import part_names
from tpc_core.bounds.kinds import kind_of
from tpc_core.proofs import PointStanding, Standing
from tpc_core.proofs.certain import question_region

HEIGHT = "clamp(320px, calc(100vh - 400px), 680px)"


def run_map(view: JobView) -> None:
    """The live map of a cover, the bound of a single probability, the votes of a group, or the points."""
    standing = view.standing
    if view.request.is_certain:
        _margins(view)
    elif standing is not None and standing.points is not None:
        _points(view, standing, standing.points)
    elif view.votes:
        _group(view)
    elif view.request.has_cells and (view.live or view.cells):
        _cover(view)
    elif view.counts or standing is not None:
        _single(view)


def _margins(view: JobView) -> None:
    transform = view.request.transform
    kind = kind_of(transform, view.request.model.task)
    if kind == "ball":
        st.caption(
            "Every coordinate moves on its own: one pass through the network bounds all of them at once."
        )
        return
    if view.standing is not None and view.standing.points is not None:
        _certain_points(view, view.standing.points)
    half = question_region(view.request.question).half_widths
    if len(half) == 1:
        figure = margin_bars(view.boxes, transform, float(half[0]), theme())
        if view.attack is not None:
            figure["data"].append(
                star([float(parameter_axes(transform)[0].shown(view.attack[0]))], [0.0], theme())
            )
        _plot(figure, view, "map")
    elif len(half) == 2:
        figure = margin_heatmap(view.boxes, transform, half, theme())
        _plot(_with_attack(figure, view, (0, 1)), view, "map")
    else:
        st.caption(f"{len(half)} parameters cannot be drawn; {len(view.boxes):,} cells are proved.")


def _certain_points(view: JobView, points: PointStanding) -> None:
    certified = np.asarray(points.certified, dtype=bool)
    st.caption(f"{int(certified.sum())} of {len(certified)} points keep their part, all at once.")
    _plot(_parts_cloud(view, points), view, "parts", zoom=True)


def _cover(view: JobView) -> None:
    transform = view.request.transform
    half = transform.region(view.request.question.radii).half_widths
    if view.is_polar:
        _undrawn(view, "The paper's grid of rotations has coordinates of its own")
        return
    if len(half) == 1:
        figure = curve_figure(view.leaves, transform, float(half[0]), theme())
        if view.attack is not None:
            along = parameter_axes(transform)[0]
            figure["data"].append(star([float(along.shown(view.attack[0]))], [0.43], theme()))
        _plot(figure, view, "map")
        return
    mode: Mode = (
        st.segmented_control(
            "Colour",
            list(MODES),
            format_func=MODES.__getitem__,
            key="map_mode",
            required=True,
            label_visibility="collapsed",
        )
        or "bound"
    )
    if len(half) == 2:
        figure = heatmap_figure(view.leaves, transform, half, mode, theme())
        _plot(_with_attack(figure, view, (0, 1)), view, "map")
    elif len(half) == 3:
        _slices(view, half, mode)
    else:
        _undrawn(view, f"{len(half)} parameters cannot be drawn")


def _undrawn(view: JobView, why: str) -> None:
    passed = sum(leaf.state == "passed" for leaf in view.leaves)
    st.caption(f"{why}; {passed} of {len(view.leaves)} cells passed.")


def _with_attack(figure: Figure, view: JobView, sides: tuple[int, int]) -> Figure:
    """The map with a star where the proven attack is."""
    if view.attack is not None:
        axes = parameter_axes(view.request.transform)
        x, y = (float(axes[side].shown(view.attack[side])) for side in sides)
        figure["data"].append(star([x], [y], theme()))
    return figure


def _slices(view: JobView, half: np.ndarray, mode: Mode) -> None:
    transform = view.request.transform
    axes = parameter_axes(transform)
    left, right = st.columns(2)
    with left:
        names = [axis.title for axis in axes]
        which, where = st.columns(2, vertical_alignment="bottom")
        across = names.index(which.selectbox("Slice across", names, index=2, key="slice_across") or names[2])
        edge = float(axes[across].shown(half[across]))
        at = where.slider(
            "at", -edge, edge, 0.0, edge / 32, key=f"slice_at_{transform.name}_{across}", format="%.3g"
        )
        first, second = (side for side in range(3) if side != across)
        inside = float(np.clip(at / axes[across].factor, -half[across], half[across]))
        figure = heatmap_figure(view.leaves, transform, half, mode, theme(), sides=(first, second), at=inside)
        figure["data"][0]["showscale"] = False  # the bar beside the 3D map is the same
        _plot(
            _with_attack(figure, view, (first, second)),
            view,
            "slice",
            height="clamp(300px, calc(100vh - 448px), 612px)",
        )
    with right:
        _plot(
            volume_figure(view.leaves, transform, half, mode, theme()),
            view,
            "volume",
            height="clamp(390px, calc(100vh - 370px), 690px)",
            zoom=True,
        )


def _single(view: JobView) -> None:
    assert view.proof is not None
    needed = None if view.request.question.options.largest else view.proof.claim.threshold.q
    counts = view.counts if view.standing is None else Count.readings(view.standing.cells[0])
    if view.landscape is None:
        _plot(convergence_figure(counts, needed, theme()), view, "map")
        return
    certificate = view.certificate
    assert certificate is not None
    assert certificate.prediction is not None
    transform = view.request.transform
    certified = None
    if certificate.verdict == "certified":
        certified = [p.to_internal(certificate.radius[p.name]) for p in transform.radii]
    name = certificate.prediction
    left, right = st.columns([3, 2])
    with left:
        place = "a slice through the identity" if view.landscape.is_slice else "a picture, not a proof"
        st.caption(f"The certified region over an empirical map of the votes (32 at each place; {place}).")
        _plot(landscape_figure(view.landscape, transform, certified, name, theme()), view, "landscape")
    with right:
        st.caption("The bound as votes came in.")
        _plot(convergence_figure(counts, needed, theme()), view, "map")


def _group(view: JobView) -> None:
    name = view.prediction or ""
    rival, votes = max(
        ((n, v) for n, v in view.votes.items() if n != name), key=lambda item: item[1], default=("", 0)
    )
    against = f" against {votes:,} for {rival.replace('_', ' ')}" if rival else ", and none for another class"
    st.caption(
        f"The smoothed model is exactly invariant, so its top class is the top class under every rotation. "
        f"{view.votes.get(name, 0):,} votes{against}, besides those that chose the class."
    )
    _plot(group_figure(view.votes, name, theme()), view, "map", height=280)


def _points(view: JobView, standing: Standing, points: PointStanding) -> None:
    certified = np.asarray(points.certified, dtype=bool)
    left, right = st.columns([3, 2])
    with left:
        st.caption(
            f"{int(certified.sum())} of {len(certified)} points keep their part, each with the confidence above; "
            f"{sum(points.jointly)} of them all at once."
        )
        _plot(_parts_cloud(view, points), view, "parts", zoom=True)
    with right:
        st.caption("The bound of every point.")
        bounds, needed = np.array([c.lower_bound for c in standing.cells]), standing.cells[0].needed
        figure = bounds_figure(
            bounds, np.asarray(points.predictions), certified, needed, _names(view), theme()
        )
        _plot(figure, view, "points")


def _parts_cloud(view: JobView, points: PointStanding) -> Figure:
    """The cloud in the colours of its parts, points that are certified larger than the others."""
    certified, predictions = np.asarray(points.certified, dtype=bool), np.asarray(points.predictions)
    shown = view.request.cloud.points.numpy()
    return certified_parts_figure(shown, predictions, certified, _names(view), theme(), size=4.5)


def _names(view: JobView) -> dict[int, str]:
    named = {number: name.replace("_", " ") for number, name in enumerate(view.request.model.classes)}
    return named | part_names("" if view.request.private else view.request.question.object)


def _plot(
    figure: dict[str, object], view: JobView, key: str, *, height: int | str = HEIGHT, zoom: bool = False
) -> None:
    name = f"certificate-{view.request.cloud.name}-{view.request.transform.name}"
    plot(
        figure,
        key=f"run_{key}",
        height=height,
        stamp=view.revision,
        camera_of=view.id,
        actions=(PNG, SVG),
        filename=name,
        zoom=zoom,
    )
