"""From a certificate to its report: the object along an attack, the evidence as a map, and the facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

import numpy as np
import torch
from torch import Tensor

from app.export.page import Panel, page
from app.figures.cells import curve_figure, heatmap_figure, volume_figure
from app.figures.cloud import CloudView, certified_parts_figure, cloud_figure
from app.figures.single import convergence_figure, group_figure, landscape_figure
from app.figures.theme import LIGHT, Figure
from app.jobs import CellView, Count
from tpc_core import Certificate, Transform, parse_transform
from tpc_core.certificate.schema import (
    GridEvidence,
    GroupEvidence,
    GrownEvidence,
    PointEvidence,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.covers import Cell
from tpc_core.landscape import Landscape
from tpc_core.smoothing import smoothing_from_json
from tpc_core.statistics import AnytimeMonitor, Monitor, StagedMonitor
from tpc_core.transforms import CoordinateNoise, GeneralRotation, ZYXRotation

STEPS = 21
"""Places of the slider that takes the object from itself to the attack."""


def run_report(certificate: Certificate, landscape: Landscape | None = None, title: str = "") -> str:
    """The report of a run as one HTML page; the landscape, where a run has drawn one, is shown too."""
    transform = parse_transform(certificate.claim.transform)
    cloud = certificate.cloud.cloud()
    end, words = _end_of_path(certificate, transform, cloud.points)
    panels = [Panel("cloud", f"Drag to turn, slide to move: from the object itself to {words}.", end)]
    evidence = _evidence_panel(certificate, transform, landscape)
    if evidence is not None:
        panels.append(evidence)
    stem = f"{certificate.cloud.name}-{certificate.claim.transform}"
    return page(
        title=title or f"{certificate.cloud.name}, {certificate.claim.transform}",
        verdict=certificate.verdict,
        sentence=certificate.sentence,
        panels=panels,
        body=_body(certificate, stem),
        certificate=certificate.to_json(),
        filename=f"certificate-{stem}.json",
    )


# -- the object ------------------------------------------------------------------------------------------------


def _end_of_path(certificate: Certificate, transform: Transform, points: Tensor) -> tuple[Figure, str]:
    """The cloud with a slider from the identity to the most telling parameter of this run, and what that is."""
    z, words = _telling_parameter(certificate, transform, points)
    exact = points.double()
    path = [transform.apply(exact, z * (k / (STEPS - 1))).float().numpy() for k in range(STEPS)]
    last = path[-1]
    view = CloudView(original=points.numpy(), moved=last)
    figure = cloud_figure(view, LIGHT, colouring="height", size=5.0 if len(points) <= 128 else 2.5)
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


def _telling_parameter(certificate: Certificate, transform: Transform, points: Tensor) -> tuple[Tensor, str]:
    """The proven attack, else the weakest cell of what is not certified, else the edge of the region."""
    if certificate.attack is not None:
        z = torch.tensor(certificate.attack.parameter, dtype=torch.float64)
        return z, f"the attack that makes it a {certificate.attack.winner.replace('_', ' ')}"
    evidence = certificate.evidence
    if isinstance(evidence, TreeEvidence) and certificate.verdict != "certified":
        leaves = [cell for cell in evidence.cells if cell.state in ("passed", "failed")]
        if leaves:
            weakest = min(leaves, key=lambda cell: cell.lower_bound - cell.needed)
            centre = (np.array(weakest.low) + np.array(weakest.high)) / 2
            return torch.from_numpy(centre), f"its weakest cell, {transform.describe(centre)}"
    radii = [max(p.to_internal(certificate.claim.radius[p.name]), 1e-9) for p in transform.radii]
    if isinstance(transform, CoordinateNoise):
        direction = torch.randn(
            3 * len(points), generator=torch.Generator().manual_seed(0), dtype=torch.float64
        )
        return transform.on_sphere(direction, radii[0]), "one noise of the claimed size"
    edge = transform.region(radii).extremes()[-1]
    return torch.from_numpy(np.ascontiguousarray(edge)), "the edge of the region"


# -- the evidence ----------------------------------------------------------------------------------------------


def _evidence_panel(
    certificate: Certificate, transform: Transform, landscape: Landscape | None
) -> Panel | None:
    evidence = certificate.evidence
    if isinstance(evidence, TreeEvidence | GrownEvidence | GridEvidence):
        return _map(certificate, transform, evidence)
    if isinstance(evidence, PointEvidence):
        names = dict(enumerate(certificate.model.classes))
        figure = certified_parts_figure(
            certificate.cloud.cloud().points.numpy(),
            np.asarray(evidence.predictions),
            np.asarray(evidence.certified, dtype=bool),
            names,
            LIGHT,
        )
        passed, jointly = sum(evidence.certified), sum(evidence.jointly_certified)
        return Panel("map", f"{passed} points certified one by one, {jointly} jointly.", figure)
    if certificate.prediction is None:
        return None
    if isinstance(evidence, GroupEvidence):
        if not evidence.stages:
            return None
        figure = group_figure(evidence.stages[-1], certificate.prediction.name, LIGHT)
        return Panel("map", "Votes over all rotations: a top class is a top class under every one.", figure)
    if landscape is not None:
        certified = None
        if certificate.verdict == "certified":
            certified = [p.to_internal(certificate.claim.radius[p.name]) for p in transform.radii]
        figure = landscape_figure(landscape, transform, certified, certificate.prediction.name, LIGHT)
        return Panel(
            "map", "The certified region over an empirical map of the votes (a picture, not a proof).", figure
        )
    figure = convergence_figure(_counts(certificate, evidence), evidence.needed, LIGHT)
    return Panel("map", "The lower bound of p_A at each stage, and what is needed.", figure)


def _map(
    certificate: Certificate, transform: Transform, evidence: TreeEvidence | GrownEvidence | GridEvidence
) -> Panel | None:
    if isinstance(evidence, GridEvidence) and isinstance(transform, GeneralRotation | ZYXRotation):
        return None  # its cells are in polar coordinates of the rotation vector
    # A cover that grew is drawn from the outermost tree inwards: what was certified first lies on top.
    trees = evidence.trees[::-1] if isinstance(evidence, GrownEvidence) else [evidence]
    leaves = [
        CellView(
            Cell(record.path, tuple(record.low), tuple(record.high), record.reach, rank=0, tested=True),
            record.state,
            record.readings[-1].n if record.readings else 0,
            record.readings[-1].n_a if record.readings else 0,
            record.lower_bound,
        )
        for tree in trees
        for record in tree.cells
        if record.state != "refined"
    ]
    outermost = trees[0]
    if isinstance(outermost, TreeEvidence):
        radii = [outermost.root_radius[p.name] for p in transform.radii]
    else:
        radii = [p.to_internal(certificate.claim.radius[p.name]) for p in transform.radii]
    half = transform.region(radii).half_widths
    if not leaves or len(half) > 3:
        return None
    passed = sum(leaf.state == "passed" for leaf in leaves)
    caption = f"{passed} of {len(leaves)} tested cells passed. Each speaks for its own attacks only; hover to read one."
    if len(half) == 1:
        return Panel("map", caption, curve_figure(leaves, transform, float(half[0]), LIGHT))
    if len(half) == 2:
        return Panel("map", caption, heatmap_figure(leaves, transform, half, "bound", LIGHT))
    return Panel("map", caption, volume_figure(leaves, transform, half, "bound", LIGHT))


def _counts(certificate: Certificate, evidence: SingleEvidence) -> list[Count]:
    statistics = certificate.statistics
    sizes = tuple(statistics.sizes)
    monitor: Monitor = (
        StagedMonitor(sizes, tuple(statistics.shares))
        if statistics.kind == "staged"
        else AnytimeMonitor(sizes)
    )
    counts, best = [], 0.0
    for reading in evidence.readings:
        best = max(best, monitor.bound(reading.n_a, monitor.stage_of(reading.n), certificate.alpha))
        counts.append(Count(reading.n, reading.n_a, best))
    return counts


# -- the facts -------------------------------------------------------------------------------------------------


def _body(certificate: Certificate, stem: str) -> str:
    prediction = certificate.prediction
    radius = ", ".join(f"{name} {value:.6g}" for name, value in certificate.claim.radius.items())
    smoothing = smoothing_from_json(certificate.model.smoothing).describe()
    facts = [
        ("object", f"{certificate.cloud.name}, {certificate.cloud.count} points"),
        ("true class", certificate.cloud.label or "unknown"),
        ("class", "" if prediction is None else prediction.name),
        ("attacks", f"{certificate.claim.transform} within {radius}"),
        ("confidence", f"{100 * (1 - certificate.alpha):.6g} %"),
        ("model", f"{certificate.model.name}; {smoothing}"),
        ("votes", f"{certificate.samples:,}"),
        ("protocol", f"{certificate.protocol}, {certificate.statistics.kind}"),
        ("seed, device", f"{certificate.seed}, {certificate.device}"),
        ("time", f"{certificate.seconds:.1f} s"),
        ("model digest", certificate.model.digest[:16]),
        ("cloud digest", certificate.cloud.digest[:16]),
        ("certificate", certificate.checksum[:16]),
    ]
    parts = ["<h2>The run</h2>", _table(["", ""], [fact for fact in facts if fact[1]])]
    if certificate.reasons:
        parts.append("<h2>Why it is not certified</h2>")
        parts += [f"<p>{escape(reason.message)}.</p>" for reason in certificate.reasons]
    if certificate.attack is not None:
        votes = sorted(certificate.attack.votes.items(), key=lambda item: -item[1])[:5]
        parts += ["<h2>The attack</h2>", _table(["class", "votes"], [(n, f"{v:,}") for n, v in votes])]
    if certificate.ledger:
        entries = [(entry.what, f"{entry.level:.3g}") for entry in certificate.ledger]
        parts += ["<h2>Where the error level goes</h2>", _table(["what", "level"], entries)]
    name = f"certificate-{stem}.json"
    commands = f"tpc verify {json.dumps(name)}\ntpc verify {json.dumps(name)} --replay"
    parts += [
        "<h2>Check it</h2>",
        "<p>The certificate is inside this page. Save it; the first command derives the verdict again from its counts, "
        "the second casts every vote again.</p>",
        f"<pre>{escape(commands)}</pre>",
    ]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th class="word">{escape(name)}</th>' for name in header) if any(header) else ""
    lines = "".join(
        "<tr>" + "".join(f'<td class="word">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
