"""How the cost grows: with the points of a cloud, with the radius, with the samples; and what memory it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np
import torch

from benchmarks.confident import HalfSpace
from benchmarks.timing import Contestant, rates
from tpc_core import Focus, certify, load_model, load_object
from tpc_core.certify.estimate import estimate
from tpc_core.data.limits import MAX_POINTS
from tpc_core.ledger import SELECT
from tpc_core.votes import Voter

OBJECT, MODEL = "gallery:airplane-1", "pointnet64-noise"
SIZES = (16, 64, 256, 1024, 4096)
COVERS = {
    "z-taper": ("radius", (0.1, 0.2, 0.4, 0.8)),
    "z-taper+z-rotation": ("both radii, taper and degrees x 5", (0.1, 0.2, 0.4, 0.8)),
    "general-rotation": ("degrees", (5.0, 10.0, 15.0, 20.0)),
}
SAMPLES = (1_000, 10_000, 100_000)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost against log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def measure(*, full: bool) -> list[str]:
    """The three tables."""
    return ["## Growth", "", *_points(), "", *_radii(full=full), "", *_samples()]


def _points() -> list[str]:
    model = load_model(MODEL)
    milliseconds = []
    for size in SIZES:
        # Objects have at most 2,048 points; a cloud that has each of them twice costs what any other of 4,096 does.
        points = load_object(OBJECT, points=min(size, MAX_POINTS)).points.repeat(-(-size // MAX_POINTS), 1)
        voter = Voter(model, model.smoothing, seed=0, device=torch.device("cpu"))
        votes = max(64, (1 << 17) // size // 32 * 32)
        one = Contestant(lambda p=points, v=voter, n=votes: v.count(p, "growth", 0, n), votes, 1)
        milliseconds.append(1000 / rates({"votes": one}, rounds=2)["votes"])
        print(f"{size} points: {milliseconds[-1]:.3f} ms a vote", flush=True)
    slope = exponent(SIZES[1:], milliseconds[1:])
    return [
        "### With the points of a cloud",
        "",
        f"Milliseconds per vote (`{MODEL}`, coordinate noise, one thread). From 64 points on the cost grows like "
        f"N^{slope:.2f}; below, the layers after the pool, which do not depend on N, weigh more.",
        "",
        "| points | " + " | ".join(f"{size:,}" for size in SIZES) + " |",
        "|---|" + "---:|" * len(SIZES),
        "| ms per vote | " + " | ".join(f"{value:.3f}" for value in milliseconds) + " |",
    ]


def _radii(*, full: bool) -> list[str]:
    cloud = load_object(OBJECT, points=64)
    half_space = HalfSpace(cloud)
    lines = [
        "### With the radius",
        "",
        "Votes of an adaptive cover, on a classifier that is sure all over the region (a half-space, sigma 0.1), so "
        "that the geometry alone decides. The exponent is fitted to the votes without those that choose the class.",
        "",
        "| transform | radius: votes | grows like |",
        "|---|---|---|",
    ]
    for name, (what, radii) in COVERS.items():
        asked = radii if full else radii[:3]
        texts = [f"taper={r:g},rotation={5 * r:g}" if "+" in name else f"{r:g}" for r in asked]
        ledgers = [certify(half_space, cloud, name, text).votes() for text in texts]
        votes = [ledger.samples for ledger in ledgers]
        slope = exponent(asked, [ledger.samples - ledger.tally(SELECT).n for ledger in ledgers])
        pairs = ", ".join(f"{text}: {count:,}" for text, count in zip(texts, votes, strict=True))
        lines.append(f"| {name} | {pairs} | radius^{slope:.1f} ({what}) |")
        print(lines[-1], flush=True)
    worst = estimate(half_space, cloud, "general-rotation", 180)
    lines += [
        "",
        f"All of SO(3) by a cover would take {worst.cells:,} first cells or more, which is refused; group smoothing "
        "certifies it with a hundred votes or two, whatever the angle.",
    ]
    return lines


def _samples() -> list[str]:
    """Seconds and peak memory in a fresh process for each number of samples."""
    seconds, megabytes = zip(*(_one_run(samples) for samples in SAMPLES), strict=True)
    slope = exponent(SAMPLES, seconds)
    lines = [
        "### With the samples",
        "",
        f"One l2 certificate of `{MODEL}` at 64 points, in a process of its own for each row. Time grows like "
        f"n^{slope:.2f}; memory does not grow.",
        "",
        "| samples | seconds of processor time | peak memory, MB |",
        "|---:|---:|---:|",
    ]
    rows = zip(SAMPLES, seconds, megabytes, strict=True)
    return [*lines, *(f"| {n:,} | {taken:.2f} | {memory:,.0f} |" for n, taken, memory in rows)]


def _one_run(samples: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.growth", str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    taken, memory = (float(word) for word in done.stdout.split())
    print(f"{samples:,} samples: {taken:.2f} s, {memory:.0f} MB", flush=True)
    return taken, memory


def _child(samples: int) -> None:
    import resource

    model, cloud = load_model(MODEL), load_object(OBJECT, points=64)
    certify(model, cloud, "l2", 0.05)
    start = time.process_time()
    certify(model, cloud, "l2", 0.05, focus=Focus((), until=samples))
    print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _child(int(sys.argv[1]))
