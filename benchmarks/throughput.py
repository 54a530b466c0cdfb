"""Votes per second, end to end, against the plain implementation and against the machine's sgemm rate."""

from __future__ import annotations

import math
import os

import torch

from benchmarks.plain import plain_network, plain_votes
from benchmarks.timing import Contestant, flops, rates, sgemm
from tpc_core import CoordinateSmoothing, Model, ParameterSmoothing, load_model, load_object
from tpc_core.smoothing import Smoothing
from tpc_core.transforms import Rotation
from tpc_core.votes import Voter

MODEL, OBJECT = "pointnet64-noise", "gallery:airplane-1"
SIZES = {64: 1024, 1024: 64}
"""Points of the cloud, and votes of one measurement."""

PLAIN = {64: 1000, 1024: 100}
"""The batch of the plain implementation: what the authors' program takes, and what 1 GB of memory holds."""

SMOOTHINGS: dict[str, Smoothing] = {
    "z-rotation": ParameterSmoothing(Rotation("z"), (math.radians(30),)),
    "coordinate noise": CoordinateSmoothing(0.08),
}
TARGET_FLOOR, TARGET_PLAIN = 0.70, 5.0


def measure(*, full: bool) -> list[str]:
    """The table of votes per second."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = [1] if cores == 1 else [1, cores]
    model = load_model(MODEL)
    lines = [
        "## Votes per second",
        "",
        f"The PointNet of the paper (`{MODEL}`) on `{OBJECT}`, end to end: noise, transform, network, count, as "
        "`certify` does it. The floor is this machine's rate for a float32 product of two 2,048 x 2,048 matrices, "
        "taken in turns with the votes, divided by the network's FLOPs: no float32 program can be faster. *Plain* is "
        "Conv1d, BatchNorm and MaxPool modules with transforms in a Python loop, as the released program of the paper "
        "has them (`benchmarks/plain.py`), on the same threads; *at most* is the floor divided by it.",
        "",
        f"Targets: at least {TARGET_FLOOR:.0%} of the floor, at least {TARGET_PLAIN:g}x plain.",
        "",
        "| points | smoothing | threads | votes/s | floor | of the floor | plain | times plain | at most |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for points in SIZES:
        for name, smoothing in SMOOTHINGS.items():
            lines += _rows(model, smoothing, name, points, threads)
    return lines


def _rows(model: Model, smoothing: Smoothing, name: str, points: int, threads: list[int]) -> list[str]:
    cloud = load_object(OBJECT, points=points)
    voter = Voter(model, smoothing, seed=0, device=torch.device("cpu"))
    network, batch = plain_network(model), PLAIN[points]
    contestants: dict[str, Contestant] = {}
    for n in threads:
        votes = SIZES[points] * n
        contestants[f"sgemm {n}"] = sgemm(n)
        contestants[f"votes {n}"] = Contestant(
            lambda votes=votes: voter.count(cloud.points, "bench", 0, votes), votes, n
        )
        contestants[f"plain {n}"] = Contestant(
            lambda: plain_votes(network, smoothing, cloud.points, batch, batch), batch, n
        )
    found = rates(contestants, rounds=6)
    rows = []
    for n in threads:
        ours, plain = found[f"votes {n}"], found[f"plain {n}"]
        floor = found[f"sgemm {n}"] / flops(model.module, points)
        rows.append(
            f"| {points:,} | {name} | {n} | {ours:,.0f} | {floor:,.0f} | {ours / floor:.0%} | {plain:,.0f} "
            f"| {ours / plain:.1f}x | {floor / plain:.1f}x |"
        )
        print(rows[-1], flush=True)
    return rows
