"""What certainty costs: cells and processor time per object, its growth with radius and points, and who is ahead.

Every object that the network gets right is settled: certified, refuted or (budget) undecided. Seconds are processor
time on one core, which other programs on the machine do not add to; two quiet cores take about half of it.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.growth import exponent
from tpc_core import load_model, load_object
from tpc_core.data import gallery, open_dataset
from tpc_core.errors import InvalidFile
from tpc_core.exact import Budget, Network, Problem, network_of, robust_radius, settle
from tpc_core.transforms import parse_transform


@dataclass(frozen=True)
class Row:
    """A region, the network it is asked of, and how many of the objects: every `share`-th of those of the run."""

    transform: str
    radius: str
    model: str
    share: int = 1
    budget: int = 20_000
    prototype: int | None = None
    """Median cells of the prototype: affine forms forward alone, cells halved one by one."""


ROWS = [
    Row("z-taper", "0.1", "pointnet64-noise", prototype=6),
    Row("z-taper", "0.2", "pointnet64-noise", prototype=12),
    Row("z-taper", "0.5", "pointnet64-noise", prototype=30),
    Row("z-shear", "0.03", "pointnet64-noise"),
    Row("z-twist", "20", "pointnet64-cylinder", prototype=70),
    Row("z-twist", "60", "pointnet64-cylinder", prototype=210),
    Row("z-rotation", "20", "pointnet64-z-rotation-30", prototype=180),
    Row("z-rotation", "60", "pointnet64-z-rotation-30", prototype=558),
    Row("z-rotation", "60", "pointnet64-z-rotation-group", share=2),
    Row("z-rotation", "180", "pointnet64-z-rotation-group", share=4),
    Row("z-taper+z-rotation", "taper=0.1,rotation=1", "pointnet64-noise"),
    Row("z-taper+z-rotation", "taper=0.2,rotation=1", "pointnet64-noise", share=2),
    Row("z-twist+z-rotation", "twist=20,rotation=1", "pointnet64-z-twist-z-rotation", share=4),
    Row("z-twist+z-rotation", "twist=20,rotation=5", "pointnet64-z-twist-z-rotation", share=4),
    Row(
        "z-twist+z-taper+z-rotation",
        "twist=10,taper=0.1,rotation=1",
        "pointnet64-cylinder",
        share=12,
        budget=4000,
    ),
    Row("zyx-rotation", "2", "pointnet64-so3-diffusion", share=12, budget=4000),
    Row("general-rotation", "3", "pointnet64-so3-diffusion", share=24, budget=4000),
]
EVERY, EVERY_IN_FULL = 40, 8
"""Of the test split, every how many-th object is settled."""


def measure(*, full: bool) -> list[str]:
    """The table of regions, and growth."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return ["## Certain answers", "", *_regions(full=full), "", *_growth()]
    finally:
        torch.set_num_threads(before)


def _objects(every: int) -> tuple[list[tuple[torch.Tensor, str]], str]:
    """Clouds of 64 points with their classes, and where they are from."""
    try:
        split = open_dataset("modelnet40", "test")
    except InvalidFile:
        shapes = [load_object(f"gallery:{entry.name}", points=64) for entry in gallery()]
        return [(shape.points, shape.label or "") for shape in shapes], "the gallery"
    points = split.points_array(64)
    chosen = range(0, len(split), every)
    clouds = [(torch.from_numpy(points[i]), split.classes[split.label(i)]) for i in chosen]
    return clouds, f"every {every}th object of ModelNet40's test split"


def _regions(*, full: bool) -> list[str]:
    objects, source = _objects(EVERY_IN_FULL if full else EVERY)
    lines = [
        f"Settled with certainty, {source} ({len(objects)} objects; fewer where a row says so): percentages of all "
        "objects; cells and processor seconds (one core) are medians of the certified ones.",
        "",
        "| region | network | objects | classified rightly | certified | refuted | undecided | cells | prototype | s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in ROWS:
        lines.append(_region(row, objects[:: row.share]))
        print(lines[-1], flush=True)
    return lines


def _region(row: Row, objects: list[tuple[torch.Tensor, str]]) -> str:
    model, transform = load_model(row.model), parse_transform(row.transform)
    network = network_of(model.module)
    region = transform.region(transform.parse_radius(row.radius))
    verdicts: Counter[str] = Counter()
    cells, seconds = [], []
    for points, label in objects:
        answer = int(network.evaluate(points[None])[0].argmax())
        if model.classes[answer] != label:
            continue
        start = time.process_time()
        budget = Budget(cells=row.budget, seconds=3600)
        result = settle(Problem(network, transform, points, region, answer), budget)
        verdicts[result.verdict] += 1
        if result.verdict == "certified":
            cells.append(result.bounded)
            seconds.append(time.process_time() - start)
    shares = [100 * verdicts[v] / len(objects) for v in ("certified", "refuted", "undecided")]
    middle = f"{statistics.median(cells):g}" if cells else "-"
    took = f"{statistics.median(seconds):.2f}" if seconds else "-"
    words = [f"{row.transform} {row.radius}", row.model, str(len(objects)), f"{sum(shares):.1f}"]
    words += [f"{share:.1f}" for share in shares]
    words += [middle, str(row.prototype or "-"), took]
    return f"| {' | '.join(words)} |"


def _problem(network: Network, name: str, radius: str, points: int = 64) -> Problem:
    transform = parse_transform(name)
    cloud = load_object("gallery:chair-1", points=points).points
    label = int(network.evaluate(cloud[None])[0].argmax())
    return Problem(network, transform, cloud, transform.region(transform.parse_radius(radius)), label)


def _growth() -> list[str]:
    """Cells and time with the radius, and with the points of a cloud."""
    network = network_of(load_model("pointnet64-z-rotation-30").module)
    radii = (5.0, 10.0, 20.0, 40.0, 80.0)
    by_radius = [_timed(_problem(network, "z-rotation", f"{radius:g}")) for radius in radii]
    sizes = (16, 64, 256)
    by_size = [_timed(_problem(network, "z-rotation", "5", size)) for size in sizes]
    whole = _problem(network, "x-rotation", "90")
    start = time.process_time()
    found = robust_radius(whole)
    both = time.process_time() - start
    refuted = "none" if found.refuted is None else f"{90 * found.refuted:.2f}"
    return [
        "### Growth",
        "",
        f"`gallery:chair-1`, z-rotation, `pointnet64-z-rotation-30`. Cells grow like radius^"
        f"{exponent(radii, [cells for cells, _ in by_radius]):.2f}, the time of a cell like "
        f"N^{exponent(sizes, [took / cells for cells, took in by_size]):.2f}.",
        "",
        "| degrees, at 64 points | " + " | ".join(f"{radius:g}" for radius in radii) + " |",
        "|---|" + "---:|" * len(radii),
        "| cells | " + " | ".join(str(cells) for cells, _ in by_radius) + " |",
        "| seconds | " + " | ".join(f"{took:.2f}" for _, took in by_radius) + " |",
        "",
        "| points, at 5 degrees | " + " | ".join(str(size) for size in sizes) + " |",
        "|---|" + "---:|" * len(sizes),
        "| cells | " + " | ".join(str(cells) for cells, _ in by_size) + " |",
        "| ms a cell | " + " | ".join(f"{1000 * took / cells:.1f}" for cells, took in by_size) + " |",
        "",
        f"The exact robust radius of x-rotation, from both sides: certified {90 * found.certified:.2f}, refuted "
        f"{refuted} degrees, {found.bounded} cells, {both:.1f} s.",
    ]


def _timed(problem: Problem) -> tuple[int, float]:
    start = time.process_time()
    result = settle(problem)
    return result.bounded, float(np.round(time.process_time() - start, 4))
