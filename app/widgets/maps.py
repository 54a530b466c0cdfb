"""The figure of a run, whichever kind of certificate it is."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.plot import PNG, SVG, plot
from app.figures.axes import parameter_axes
from app.figures.cells import MODES, Mode, curve_figure, heatmap_figure, volume_figure
from app.figures.cloud import certified_parts_figure
from app.figures.points import bounds_figure
from app.figures.single import convergence_figure, group_figure, landscape_figure
from app.jobs import JobView
from app.look import theme
from app.widgets.objects import part_names
from tpc_core.certificate.schema import GroupEvidence, PointEvidence, SingleEvidence
from tpc_core.certify.strategy import choose_strategy, with_sigma

HEIGHT = "clamp(320px, calc(100vh - 400px), 680px)"


def run_map(view: JobView) -> None:
    """The live map of a cover, the bound of a single probability, the votes of a group, or the points."""
    evidence = view.certificate.evidence if view.certificate is not None else None
    if isinstance(evidence, PointEvidence):
        _points(view, evidence)
    elif isinstance(evidence, GroupEvidence):
        _group(view, evidence)
    elif view.cells or (view.live and _is_cover(view)):
        _cover(view)
    elif view.counts or isinstance(evidence, SingleEvidence):
        _single(view, evidence if isinstance(evidence, SingleEvidence) else None)


def _is_cover(view: JobView) -> bool:
    request = view.request
    smoothing = with_sigma(request.model.smoothing, request.options.sigma)
    return choose_strategy(request.transform, smoothing, request.cloud).kind == "cover"


def radii_of(view: JobView) -> tuple[float, ...]:
    """The internal radii of the region that the run looks at."""
    request = view.request
    given = (
        request.radius if request.radius is not None else [p.largest_radius for p in request.transform.radii]
    )
    return request.transform.parse_radius(given)


def _cover(view: JobView) -> None:
    transform = view.request.transform
    half = transform.region(radii_of(view)).half_widths
    if len(half) == 1:
        figure = curve_figure(view.leaves, transform, float(half[0]), theme())
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
        _plot(heatmap_figure(view.leaves, transform, half, mode, theme()), view, "map")
    elif len(half) == 3:
        _slices(view, half, mode)
    else:
        passed = sum(leaf.state == "passed" for leaf in view.leaves)
        st.caption(f"{len(half)} parameters cannot be drawn; {passed} of {len(view.leaves)} cells passed.")


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
        _plot(figure, view, "slice", height="clamp(300px, calc(100vh - 448px), 612px)")
    with right:
        _plot(
            volume_figure(view.leaves, transform, half, mode, theme()),
            view,
            "volume",
            height="clamp(390px, calc(100vh - 370px), 690px)",
            zoom=True,
        )


def _single(view: JobView, evidence: SingleEvidence | None) -> None:
    needed = evidence.needed if evidence is not None and not view.request.options.largest else None
    if view.landscape is None:
        _plot(convergence_figure(view.counts, needed, theme()), view, "map")
        return
    certificate = view.certificate
    assert certificate is not None
    assert certificate.prediction is not None
    transform = view.request.transform
    certified = None
    if certificate.verdict == "certified":
        certified = [p.to_internal(certificate.claim.radius[p.name]) for p in transform.radii]
    name = certificate.prediction.name
    left, right = st.columns([3, 2])
    with left:
        place = "a slice through the identity" if view.landscape.is_slice else "a picture, not a proof"
        st.caption(f"The certified region over an empirical map of the votes (32 at each place; {place}).")
        _plot(landscape_figure(view.landscape, transform, certified, name, theme()), view, "landscape")
    with right:
        st.caption("The bound as votes came in.")
        _plot(convergence_figure(view.counts, needed, theme()), view, "map")


def _group(view: JobView, evidence: GroupEvidence) -> None:
    if evidence.stages and view.prediction is not None:
        st.caption(
            f"The smoothed model is exactly invariant, so its top class is the top class under every rotation. "
            f"p-value of the top class {evidence.p_value:.2g}, allowed {evidence.level:.2g}."
        )
        _plot(group_figure(evidence.stages[-1], view.prediction.name, theme()), view, "map", height=280)


def _points(view: JobView, evidence: PointEvidence) -> None:
    certified = np.asarray(evidence.certified, dtype=bool)
    predictions = np.asarray(evidence.predictions)
    named = {number: name.replace("_", " ") for number, name in enumerate(view.request.model.classes)}
    names = named | part_names(view.request.spec)
    left, right = st.columns([3, 2])
    with left:
        st.caption(
            f"{int(certified.sum())} of {len(certified)} points keep their part, each with the confidence above; "
            f"{sum(evidence.jointly_certified)} of them all at once."
        )
        cloud = certified_parts_figure(
            view.request.cloud.points.numpy(), predictions, certified, names, theme(), size=4.5
        )
        _plot(cloud, view, "parts", zoom=True)
    with right:
        st.caption("The bound of every point.")
        bounds = np.asarray(evidence.lower_bounds)
        _plot(bounds_figure(bounds, predictions, certified, evidence.needed, names, theme()), view, "points")


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
