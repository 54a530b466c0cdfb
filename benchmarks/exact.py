"""What certainty costs: cells and processor time per object, against votes, and its growth with radius and points.

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
from tpc_core import Cloud, Options, certify, load_model, load_object
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
    smoothed: str
    """The network that answers the same question by votes."""
    share: int = 1
    budget: int = 20_000
    prototype: int | None = None
    """Median cells of the prototype: affine forms forward alone, cells halved one by one."""


PLAIN, NOISE, SHEAR = "pointnet64-plain", "pointnet64-noise", "pointnet64-z-shear"
TWIST, BOTH, CYLINDER = "pointnet64-z-twist", "pointnet64-z-twist-z-rotation", "pointnet64-cylinder"
TURN, ANY_TURN, DIFFUSION = (
    "pointnet64-z-rotation-30",
    "pointnet64-z-rotation-group",
    "pointnet64-so3-diffusion",
)
ROWS = [
    Row("z-taper", "0.1", NOISE, NOISE, prototype=6),
    Row("z-taper", "0.2", NOISE, NOISE, prototype=12),
    Row("z-taper", "0.5", NOISE, NOISE, prototype=30),
    Row("z-taper", "0.5", PLAIN, NOISE),
    Row("z-shear", "0.03", PLAIN, SHEAR),
    Row("z-twist", "20", CYLINDER, TWIST, prototype=70),
    Row("z-twist", "60", CYLINDER, TWIST, prototype=210),
    Row("z-twist", "60", PLAIN, TWIST),
    Row("z-rotation", "20", TURN, TURN, prototype=180),
    Row("z-rotation", "60", TURN, ANY_TURN, prototype=558),
    Row("z-rotation", "60", ANY_TURN, ANY_TURN, share=2),
    Row("z-rotation", "180", ANY_TURN, ANY_TURN, share=4),
    Row("z-taper+z-rotation", "taper=0.1,rotation=1", PLAIN, CYLINDER),
    Row("z-taper+z-rotation", "taper=0.2,rotation=1", PLAIN, CYLINDER, share=2),
    Row("z-twist+z-rotation", "twist=20,rotation=1", PLAIN, BOTH, share=2),
    Row("z-twist+z-rotation", "twist=20,rotation=5", PLAIN, BOTH, share=4),
    Row("z-twist+z-rotation", "twist=50,rotation=5", PLAIN, BOTH, share=4, budget=4000),
    Row(
        "z-twist+z-taper+z-rotation",
        "twist=10,taper=0.1,rotation=1",
        PLAIN,
        CYLINDER,
        share=6,
        budget=1000,
    ),
    Row("zyx-rotation", "2", DIFFUSION, DIFFUSION, share=6, budget=1000),
    Row("general-rotation", "3", DIFFUSION, DIFFUSION, share=12, budget=1000),
]
OTHER_KINDS = [
    ("modelnet40", "linf", "0.01", "pointnet64-small-boxes", "pointnet64-l2"),
    ("shapenetpart", "z-twist", "10", "segmentation64-z-twist", "segmentation64-z-twist"),
]
"""Balls and parts: data, transform, radius, network, and the network of the votes."""
EVERY, EVERY_IN_FULL = 80, 8
"""Of the test split, every how many-th object is settled."""
VOTED = 6
"""So many of a row's certified objects are certified by votes as well."""


def measure(*, full: bool) -> list[str]:
    """The table of regions, and growth."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        every = EVERY_IN_FULL if full else EVERY
        tables = [*_regions(every), "", *_other_kinds(every), "", *_both_cores(every), "", *_growth()]
        return ["## Certain answers", "", *tables]
    finally:
        torch.set_num_threads(before)


def _objects(every: int, data: str = "modelnet40") -> tuple[list[Cloud], str]:
    """Clouds of 64 points, and where they are from."""
    try:
        split = open_dataset(data, "test")
    except InvalidFile:
        return [load_object(f"gallery:{entry.name}", points=64) for entry in gallery()], "the gallery"
    return [
        split[i].cloud(64) for i in range(0, len(split), every)
    ], f"every {every}th object of {data}'s test split"


def _regions(every: int) -> list[str]:
    clouds, source = _objects(every)
    lines = [
        f"Settled with certainty, {source} ({len(clouds)} objects; fewer where a row says so): percentages of all "
        "objects; cells and processor seconds (one core) are medians of the certified ones. Beside them, by votes at "
        f"99.9 %: the smoothed network named, medians of up to {VOTED} of the objects that were certified with "
        "certainty.",
        "",
        "| region | network | objects | classified rightly | certified | refuted | undecided | cells | prototype | s "
        "| smoothed network | votes | s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|",
    ]
    for row in ROWS:
        lines.append(_region(row, clouds[:: row.share]))
        print(lines[-1], flush=True)
    return lines


def _region(row: Row, clouds: list[Cloud]) -> str:
    model, transform = load_model(row.model), parse_transform(row.transform)
    network = network_of(model.module)
    region = transform.region(transform.parse_radius(row.radius))
    budget = Budget(cells=row.budget, seconds=3600)
    verdicts: Counter[str] = Counter()
    cells, seconds, certified = [], [], []
    for cloud in clouds:
        answer = int(network.evaluate(cloud.points[None])[0].argmax())
        if model.classes[answer] != cloud.label:
            continue
        start = time.process_time()
        result = settle(Problem(network, transform, cloud.points, region, answer), budget)
        verdicts[result.verdict] += 1
        if result.verdict == "certified":
            seconds.append(time.process_time() - start)
            cells.append(result.bounded)
            certified.append(cloud)
    shares = [100 * verdicts[v] / len(clouds) for v in ("certified", "refuted", "undecided")]
    words = [f"{row.transform} {row.radius}", row.model, str(len(clouds)), f"{sum(shares):.1f}"]
    words += [f"{share:.1f}" for share in shares]
    words += [_median(cells, "g"), str(row.prototype or "-"), _median(seconds, ".2f")]
    words += [row.smoothed, *_by_votes(row.smoothed, row.transform, row.radius, certified[:VOTED])]
    return f"| {' | '.join(words)} |"


def _by_votes(name: str, transform: str, radius: str, clouds: list[Cloud]) -> list[str]:
    """The median votes and processor seconds of smoothed certificates."""
    model = load_model(name)
    votes, seconds = [], []
    for cloud in clouds:
        start = time.process_time()
        votes.append(certify(model, cloud, transform, radius).samples)
        seconds.append(time.process_time() - start)
    return [_median(votes, ",.0f"), _median(seconds, ".2f")]


def _median(values: list[int] | list[float], form: str) -> str:
    return f"{statistics.median(values):{form}}" if values else "-"


def _other_kinds(every: int) -> list[str]:
    """Balls and parts, through the public door."""
    lines = [
        "Balls, and parts point by point, on the same share of the test splits: medians of all objects, whatever the "
        f"verdict (an object of parts is certified where every point is); votes of up to {VOTED} objects.",
        "",
        "| region | network | objects | certified | cells or balls | s | smoothed network | votes | s |",
        "|---|---|---:|---:|---:|---:|---|---:|---:|",
    ]
    for data, transform, radius, name, smoothed in OTHER_KINDS:
        clouds, source = _objects(every, data)
        if source == "the gallery" and data != "modelnet40":
            continue
        model = load_model(name)
        cells, seconds, certified = [], [], 0
        for cloud in clouds:
            start = time.process_time()
            found = certify(model, cloud, transform, radius, Options(proof="certain"))
            seconds.append(time.process_time() - start)
            assert found.certain is not None
            cells.append(found.certain.bounded)
            certified += found.verdict == "certified"
        words = [f"{transform} {radius}", name, str(len(clouds)), str(certified), _median(cells, "g")]
        words += [_median(seconds, ".2f"), smoothed, *_by_votes(smoothed, transform, radius, clouds[:VOTED])]
        lines.append(f"| {' | '.join(words)} |")
        print(lines[-1], flush=True)
    return lines


def _both_cores(every: int) -> list[str]:
    """Seconds on the clock for one parameter within 20 degrees, with one core and with two."""
    clouds, source = _objects(every)
    network = network_of(load_model(TURN).module)
    transform = parse_transform("z-rotation")
    region = transform.region(transform.parse_radius("20"))
    took = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        start = time.monotonic()
        for cloud in clouds:
            label = int(network.evaluate(cloud.points[None])[0].argmax())
            settle(Problem(network, transform, cloud.points, region, label))
        took.append((time.monotonic() - start) / len(clouds))
    torch.set_num_threads(1)
    return [
        f"z-rotation within 20 degrees, `{TURN}`, {source}: {took[0]:.2f} s an object on the clock with one core, "
        f"{took[1]:.2f} s with two (means; target 0.2 with two, 1.1 with the prototype)."
    ]


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
