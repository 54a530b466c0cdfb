"""From a certificate to its report: the object along an attack, the evidence as a map, and the facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

import numpy as np
import torch
from torch import Tensor

from app.export.page import Panel, page
from app.figures.cloud import CloudView, certified_parts_figure, cloud_figure
from app.figures.debug_map import case_scene
from app.figures.region_map import MapScene, region_map
from app.figures.single import convergence_figure, group_figure
from app.figures.theme import LIGHT, Figure
from app.server.jobs import CellView, Count
from tpc_core import Certificate
from tpc_core.case_view import ATTACK, CaseView
from tpc_core.certificate import confidence_words
from tpc_core.covers import cell_level
from tpc_core.explain import explain_certificate
from tpc_core.landscape import Landscape
from tpc_core.ledger import family_level, refutation_level
from tpc_core.transforms import CoordinateNoise

STEPS = 21
"""Places of the slider that takes the object from itself to the attack."""


def run_report(certificate: Certificate, landscape: Landscape | None = None, title: str = "") -> str:
    """The report of a run as one HTML page; the landscape, where a run has drawn one, is shown too."""
    view = CaseView.of(certificate)
    end, words = _end_of_path(view)
    panels = [Panel("cloud", f"Drag to turn, slide to move: from the object itself to {words}.", end)]
    evidence = _evidence_panel(view, landscape)
    if evidence is not None:
        panels.append(evidence)
    stem = f"{certificate.cloud.name}-{certificate.question.transform}"
    return page(
        title=title or f"{certificate.cloud.name}, {certificate.question.transform}",
        verdict=certificate.verdict,
        sentence=certificate.sentence,
        panels=panels,
        body=_body(view, stem),
        certificate=certificate.to_json(),
        filename=f"certificate-{stem}.json",
    )


# -- the object ------------------------------------------------------------------------------------------------


def _end_of_path(view: CaseView) -> tuple[Figure, str]:
    """The cloud with a slider from the identity to the most telling parameter of this run, and what that is."""
    z, words = _telling_parameter(view)
    transform, points = view.transform, view.cloud.points
    exact = points.double()
    path = [transform.apply(exact, z * (k / (STEPS - 1))).float().numpy() for k in range(STEPS)]
    last = path[-1]
    shown = CloudView(original=points.numpy(), moved=last)
    figure = cloud_figure(shown, LIGHT, colouring="height", size=5.0 if len(points) <= 128 else 2.5)
    moved = len(figure["data"]) - 1
    figure["layout"]["sliders"] = [
        {
            "active": STEPS - 1,
            "currentvalue": {"prefix": "attack ", "font": {"size": 12}},
            "pad": {"t": 4, "b": 4},
            "x": 0.03,
            "len": 0.94,
            "steps": [
                {
                    "label": f"{100 * k / (STEPS - 1):.0f} %",
                    "method": "restyle",
                    "args": [{axis: [_short(cloud[:, i])] for i, axis in enumerate("xyz")}, [moved]],
                }
                for k, cloud in enumerate(path)
            ],
        }
    ]
    return figure, words


def _short(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]


def _telling_parameter(view: CaseView) -> tuple[Tensor, str]:
    """The proven attack, else the weakest cell of what is not certified, else the edge of the region."""
    transform = view.transform
    if view.attack is not None:
        z = torch.tensor(view.attack.parameter, dtype=torch.float64)
        return z, f"the attack that makes it a {str(view.rival).replace('_', ' ')}"
    weakest = next((cell for cell in view.failing if cell.kind == "cell" and not view.is_polar), None)
    if weakest is not None and view.certificate.verdict != "certified":
        return torch.from_numpy(weakest.z), f"its weakest cell, {view.place(weakest)}"
    claimed = view.certificate.radius if view.certificate.verdict == "certified" else None
    radii = view.radii if claimed is None else [p.to_internal(claimed[p.name]) for p in transform.radii]
    if isinstance(transform, CoordinateNoise):
        direction = torch.randn(
            3 * len(view.cloud), generator=torch.Generator().manual_seed(0), dtype=torch.float64
        )
        return transform.on_sphere(direction, radii[0]), "one noise of the claimed size"
    edge = transform.region(radii).extremes()[-1]
    return torch.from_numpy(np.ascontiguousarray(edge)), "the edge of the region"


# -- the evidence ----------------------------------------------------------------------------------------------


def _evidence_panel(view: CaseView, landscape: Landscape | None) -> Panel | None:
    """A map of cells, the points of a segmentation, the votes of a group, or one probability; None without votes."""
    kind, certificate = view.proof.kind, view.certificate
    if kind in ("cover", "grid"):
        return _map(view)
    if not view.leaves or not any(leaf.n for leaf in view.leaves):
        return None
    if kind == "points":
        return _points(view)
    name = certificate.prediction or ""
    (place,) = view.leaves
    if kind == "group":
        figure = group_figure(view.votes_of(place), name, LIGHT)
        return Panel(
            "map", "Votes over all rotations: the class that wins is the same for every rotation.", figure
        )
    if landscape is not None:
        scene = MapScene(
            landscape.chart,
            landscape.nodes.half,
            landscape.chart.half_widths(view.radii),
            landscape,
            certified=view.certified_part,
            needed=landscape.needed,
        )
        words = "Outlined: what is certified. Colours: p_A as sampled votes show it, which prove nothing."
        return Panel("map", words, region_map(scene, LIGHT))
    figure = convergence_figure(Count.readings(place), place.needed, LIGHT)
    return Panel("map", "The lower bound of p_A as votes came in, and what is needed.", figure)


def _points(view: CaseView) -> Panel | None:
    points = view.proof.standing(view.ledger).points
    assert points is not None
    figure = certified_parts_figure(
        view.cloud.points.numpy(),
        np.asarray(points.predictions),
        np.asarray(points.certified, dtype=bool),
        dict(enumerate(view.certificate.model.classes)),
        LIGHT,
    )
    words = (
        f"{sum(points.certified)} points are certified one by one, {sum(points.jointly)} of them all at once."
    )
    return Panel("map", words, figure)


def _map(view: CaseView) -> Panel | None:
    if view.is_polar or view.region is None:
        return None  # its cells are in polar coordinates of the rotation vector
    leaves = [CellView.of(cell, "failed") for cell in view.leaves if cell.n]
    dim = view.region.dim
    if not leaves or dim > 3:
        return None
    passed = sum(leaf.state == "passed" for leaf in leaves)
    passing = f"{passed} of {len(leaves)} tested cells passed."
    caption = f"{passing} Each covers its own attacks only. Point at one to see it."
    return Panel("map", caption, region_map(case_scene(view, leaves, None if dim == 1 else "bound"), LIGHT))


# -- the facts -------------------------------------------------------------------------------------------------


def _body(view: CaseView, stem: str) -> str:
    certificate = view.certificate
    question, options = certificate.question, certificate.question.options
    radius = ", ".join(f"{name} {value:.6g}" for name, value in certificate.radius.items())
    seed = f"{view.ledger.seed} ({'of object and model' if view.ledger.own_seed else 'set by hand'})"
    facts = [
        ("object", f"{certificate.cloud.name}, {certificate.cloud.count} points"),
        ("true class", certificate.cloud.label or "unknown"),
        ("class", certificate.prediction or ""),
        ("attacks", f"{question.transform} within {radius}"),
        ("confidence", confidence_words(certificate.alpha)),
        ("model", f"{certificate.model.name}; {view.smoothing.describe()}"),
        ("votes", f"{certificate.samples:,}"),
        ("protocol", options.protocol),
        ("seed, device", f"{seed}, {certificate.device}"),
        ("time", f"{certificate.seconds:.1f} s"),
        ("model digest", certificate.model.digest[:16]),
        ("cloud digest", certificate.cloud.digest[:16]),
        ("certificate", certificate.checksum[:16]),
    ]
    parts = ["<h2>The run</h2>", _table(["", ""], [fact for fact in facts if fact[1]])]
    if certificate.verdict != "certified":
        parts.append("<h2>Why it is not certified</h2>")
        parts += [
            f"<p><b>{escape(finding.title)}.</b> {escape(finding.sentence)}</p>"
            for finding in explain_certificate(view).findings
        ]
    if view.attack is not None:
        votes = [(n, f"{v:,}") for n, v in list(view.votes_of(view.cell(ATTACK)).items())[:5]]
        parts += ["<h2>The attack</h2>", _table(["class", "votes"], votes)]
    parts += ["<h2>Where the error level goes</h2>", _table(["what", "level"], _levels(view))]
    name = f"certificate-{stem}.json"
    commands = f"tpc verify {json.dumps(name)}\ntpc verify {json.dumps(name)} --replay"
    parts += [
        "<h2>Check it</h2>",
        "<p>The certificate is inside this page. Save it; the first command derives the verdict again from its counts, "
        "the second casts every vote again.</p>",
        f"<pre>{escape(commands)}</pre>",
    ]
    return "\n".join(parts)


def _levels(view: CaseView) -> list[tuple[str, str]]:
    """Which part of alpha each kind of statement may spend."""
    alpha, number = view.certificate.alpha, view.certificate.family
    rows = [("alpha", f"{alpha:.3g}")]
    if view.cover is not None:
        level = family_level(alpha, number, len(view.transform.radii))
        if level != alpha:
            rows.append((f"all cells on one path, shape of region number {number}", f"{level:.3g}"))
        depths = sorted({cell.depth for standing in view.leaves if (cell := standing.cell) is not None})
        rows += [(f"a cell halved {depth} times", f"{cell_level(level, depth):.3g}") for depth in depths]
    elif view.proof.kind == "grid":
        rows.append(
            (f"each of {len(view.leaves):,} cells", f"{view.leaves[0].level:.3g}" if view.leaves else "")
        )
    for number in range(1, len(view.ledger.refutations) + 1):
        rows.append((f"attack number {number} put to the test", f"{refutation_level(alpha, number):.3g}"))
    return rows


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th class="word">{escape(name)}</th>' for name in header) if any(header) else ""
    lines = "".join(
        "<tr>" + "".join(f'<td class="word">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
