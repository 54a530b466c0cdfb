"""Does a certificate's claim follow from its votes? Asked of the JSON alone, by the formulas on one screen.

Nothing of the engine that decides is used: thresholds, tests, cells and levels are written down again, for single
points of the claimed region instead of whole cells. What it refuses cannot be right; `tests.certificate.forge` shows
it everything that `verify` accepts.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from scipy.special import betaincinv, ndtr

from tpc_core import reference
from tpc_core.covers.lattice import Lattice
from tpc_core.smoothing import Cover, smoothing_from_json
from tpc_core.statistics.linear_shift import required_p_a
from tpc_core.transforms import parse_transform

Content = dict[str, Any]
SLACK = 1e-6
"""What rounding may make of ln E here, which has no allowance of its own."""


class NotCarried(AssertionError):
    """The votes do not carry what the certificate says."""


def check(content: Content, rng: np.random.Generator, places: int = 40) -> None:
    """NotCarried where the claim does not follow from the recorded votes."""
    _sentence(content)
    chosen = _chosen(content)
    options = content["question"]["options"]
    if content["model"]["task"] == "segmentation":
        _points(content, chosen)
        return
    if content["verdict"] == "undecided":
        return
    if chosen is None or content["model"]["classes"][int(chosen)] != content["prediction"]:
        raise NotCarried("the class is not the one that was chosen")
    if content["verdict"] == "refuted":
        _refuted(content, int(chosen))
        return
    for parameter in parse_transform(content["question"]["transform"]).radii:
        if not 0 < content["radius"][parameter.name] <= parameter.largest_radius:
            raise NotCarried("the radius is out of range")
        if content["radius"][parameter.name] > content["question"]["radius"][parameter.name]:
            raise NotCarried("more is claimed than was asked")
    kind = content["model"]["smoothing"]["kind"]
    cells = [place for place in content["ledger"]["places"] if place.startswith(("cell|", "grid|"))]
    if kind == "group":
        _require(_top(_votes(content, "whole"), int(chosen), options), "another class may be on top")
    elif cells or (kind == "coordinate" and content["question"]["transform"] not in ("l2", "linf")):
        _covered(content, int(chosen), rng, places)
    else:
        _require(
            _exceeds(_votes(content, "whole"), int(chosen), _needed(content), options), "p_A is too small"
        )


# -- votes -------------------------------------------------------------------------------------------------------------


def _votes(content: Content, place: str) -> np.ndarray:
    return _blocks(content["ledger"]["places"].get(place, []), len(content["model"]["classes"]))


def _blocks(blocks: Sequence[Any], classes: int) -> np.ndarray:
    table = np.zeros((len(blocks), classes), dtype=np.int64)
    for row, block in zip(table, blocks, strict=True):
        for index, votes in zip(block[::2], block[1::2], strict=True):
            row[index] += votes
    _require(bool((table.sum(axis=1) == 32).all()), "a block has 32 votes")
    return table


def _chosen(content: Content) -> np.ndarray | None:
    """y_A by the rule on one screen; None where too few votes chose it."""
    blocks = content["ledger"]["places"].get("select", [])
    task, classes = content["model"]["task"], len(content["model"]["classes"])
    if task == "segmentation":
        table = np.array([[_blocks([point], classes)[0] for point in block] for block in blocks])
        rule = ((32, 12), (128, 0))
    else:
        table = _blocks(blocks, classes)
        rule = ((32, 12), (128, 24), (512, 0))
    for size, lead in rule:
        if 32 * len(table) < size:
            return None
        votes = table[: size // 32].sum(axis=0)
        ordered = np.sort(votes, axis=-1)
        if votes.shape[-1] < 2 or np.min(ordered[..., -1] - ordered[..., -2]) >= lead:
            _require(32 * len(table) == size, "the choice went on after its end")
            return np.asarray(np.argmax(votes, axis=-1))
    return None


def _passes(hits: np.ndarray, totals: np.ndarray, q: float, level: float) -> bool:
    """E reaches 1/level at some reading."""
    if q >= 1:
        return False
    pairs = zip(hits.tolist(), totals.tolist(), strict=True)
    return any(k > n * q and reference.e_value(k, n, q) >= -math.log(level) - SLACK for k, n in pairs)


def _exceeds(table: np.ndarray, target: int, q: float, options: Content, level: float | None = None) -> bool:
    """Whether the votes of a place prove p_A > q, by the protocol of the question."""
    level = options["alpha"] if level is None else level
    if not len(table):
        return False
    if options["protocol"] == "paper":
        n, k = 32 * len(table), int(table[:, target].sum())
        return k > 0 and float(betaincinv(k, n - k + 1, level)) > q - 1e-9
    return _passes(np.cumsum(table[:, target]), 32 * np.arange(1, len(table) + 1), q, level)


def _top(table: np.ndarray, target: int, options: Content) -> bool:
    own = np.cumsum(table[:, target])
    rivals = [np.cumsum(table[:, rival]) for rival in range(table.shape[1]) if rival != target]
    return len(table) > 0 and all(_passes(own, own + rival, 0.5, options["alpha"]) for rival in rivals)


# -- what is needed ----------------------------------------------------------------------------------------------------


def _internal(content: Content, radius: Content) -> list[float]:
    parameters = parse_transform(content["question"]["transform"]).radii
    return [math.radians(radius[p.name]) if p.unit == "deg" else radius[p.name] for p in parameters]


def _needed(content: Content) -> float:
    """The p_A that one probability must exceed."""
    smoothing, transform = content["model"]["smoothing"], content["question"]["transform"]
    radii = _internal(content, content["radius"])
    if smoothing["kind"] == "coordinate":
        stretch = math.sqrt(3 * content["cloud"]["count"]) if transform == "linf" else 1.0
        return float(ndtr(radii[0] * stretch / smoothing["sigma"]))
    if smoothing["kind"] == "diffusion":
        sigma = math.radians(smoothing["sigma"])
        return float(ndtr(_turn(transform, radii[0]) / math.sqrt(2 * math.expm1(sigma**2 / 2))))
    if smoothing["kind"] == "parameter" and smoothing["transform"] == "linear":
        return required_p_a(smoothing["sigma"][0], radii[0])
    of = dict(zip(smoothing["transform"].split("+"), smoothing["sigma"], strict=True))
    parts = transform.split("+")
    sigmas = [of[part] if part.endswith("shear") else math.radians(of[part]) for part in parts]
    return float(ndtr(math.sqrt(sum((r / s) ** 2 for r, s in zip(radii, sigmas, strict=True)))))


def _turn(transform: str, phi: float) -> float:
    """The largest turn of a region of rotations, over the corners of its box."""
    if transform != "zyx-rotation":
        return min(phi, math.pi)
    apply = parse_transform(transform).apply
    eye, largest = torch.eye(3, dtype=torch.float64), 0.0
    for signs in np.ndindex(2, 2, 2):
        corner = torch.tensor([phi * (2 * s - 1) for s in signs], dtype=torch.float64)
        trace = float(torch.trace(apply(eye, corner)))
        largest = max(largest, math.acos(min(1.0, max(-1.0, (trace - 1) / 2))))
    return largest


# -- covers ------------------------------------------------------------------------------------------------------------


def _cloud(content: Content) -> torch.Tensor:
    raw = np.frombuffer(base64.b64decode(content["cloud"]["points"]), dtype="<f4")
    return torch.from_numpy(raw.reshape(-1, 3).astype(np.float64))


def _covered(content: Content, target: int, rng: np.random.Generator, places: int) -> None:
    """Every looked-at z of the region lies in a cell, recorded and by itself sure enough of that z."""
    transform = parse_transform(content["question"]["transform"])
    options, points = content["question"]["options"], _cloud(content)
    sigma = content["model"]["smoothing"]["sigma"]
    region = transform.region(_internal(content, content["radius"]))
    paper = options["protocol"] == "paper"
    cells = list(_grid(content) if paper else _cells(content, points))
    level = options["alpha"]
    if paper:
        level /= len(cells)
    elif len(transform.radii) > 1:
        number = content["family"]
        level *= 0.9 if number == 1 else 0.1 * 2.0 ** (1 - number)
    for z in [*(region.extremes() * (1 - 1e-12)), *region.sample(places, rng)]:
        moved = transform.apply(points, torch.from_numpy(np.asarray(z)))
        vouching = False
        for place, low, high, centre, depth in cells:
            if not (np.all(low - 1e-12 <= z) and np.all(z <= high + 1e-12)):
                continue
            tested = transform.apply(points, torch.from_numpy(np.asarray(centre)))
            q = float(ndtr(float((moved - tested).norm()) / sigma))
            share = level if paper else level * 3 / ((depth + 3) * (depth + 4))
            if _exceeds(_votes(content, place), target, q, options, share):
                vouching = True
                break
        _require(vouching, f"nothing vouches for z = {z.tolist()}")


CellRow = tuple[str, np.ndarray, np.ndarray, np.ndarray, int]


def _cells(content: Content, points: torch.Tensor) -> Iterator[CellRow]:
    """The recorded cells of the claim's family, their boxes written out from their paths."""
    transform = parse_transform(content["question"]["transform"])
    array = points.numpy()
    rule = smoothing_from_json(content["model"]["smoothing"]).rule(transform, array)
    assert isinstance(rule, Cover)
    spacing = np.array(Lattice.of(transform, rule, array).spacing)
    prefix = f"cell|{content['family']}|"
    for place in content["ledger"]["places"]:
        if not place.startswith(prefix):
            continue
        first, _, halves = place.removeprefix(prefix).partition(":")
        centre = np.array([int(i) for i in first.split(",")]) * spacing
        width = spacing.copy()
        for number, half in enumerate(halves):
            axis = number % len(spacing)  # sides are halved in turn
            width[axis] /= 2
            centre[axis] += width[axis] / 2 * (1 if half == "1" else -1)
        yield place, centre - width / 2, centre + width / 2, centre, len(halves)


def _grid(content: Content) -> Iterator[CellRow]:
    """The paper's grid of a taper: M + 1 points from -R to R, each for what is nearest to it."""
    m = content["question"]["options"]["resolution"]
    (radius,) = _internal(content, content["question"]["radius"])
    for number in range(m + 1):
        centre = np.array([(2 * number / m - 1) * radius])
        half = radius / m
        yield f"grid|{m}|{radius:.17g}|{number}", centre - half, centre + half, centre, 0


# -- attacks, parts, words ---------------------------------------------------------------------------------------------


def _refuted(content: Content, target: int) -> None:
    transform = parse_transform(content["question"]["transform"])
    radii, alpha = _internal(content, content["question"]["radius"]), content["question"]["options"]["alpha"]
    for number, attack in enumerate(content["ledger"]["refutations"], start=1):
        z = np.array(attack["parameter"])
        if transform.name in ("l2", "linf"):
            size = np.linalg.norm(z) if transform.name == "l2" else np.abs(z).max(initial=0.0)
            inside = len(z) == 3 * content["cloud"]["count"] and size <= radii[0] * (1 + 1e-9)
        else:
            region = transform.region(radii)
            inside = z.shape == (region.dim,) and region.gauge(z[None])[0] <= 1 + 1e-9
        table = _blocks(attack["votes"], len(content["model"]["classes"]))
        rival = np.cumsum(table[:, attack["rival"]])
        both = rival + np.cumsum(table[:, target])
        if inside and attack["rival"] != target and _passes(rival, both, 0.5, alpha * 2.0**-number):
            return
    raise NotCarried("no attack is proven")


def _points(content: Content, chosen: np.ndarray | None) -> None:
    count, options, said = content["cloud"]["count"], content["question"]["options"], content["sentence"]
    group = content["model"]["smoothing"]["kind"] == "group"
    passed = 0
    for point in range(count if chosen is not None else 0):
        assert chosen is not None
        votes = [block[point] for block in content["ledger"]["places"].get("whole", [])]
        table, target = _blocks(votes, len(content["model"]["classes"])), int(chosen[point])
        passed += (
            _top(table, target, options) if group else _exceeds(table, target, _needed(content), options)
        )
    claimed = count if said.startswith("Every point") else int(said.split()[0])
    _require(claimed <= passed, f"{claimed} points are claimed, {passed} pass")
    _require(content["verdict"] == ("certified" if claimed == count else "undecided"), "the verdict")


def _sentence(content: Content) -> None:
    """No number in the sentence says more than the certificate does."""
    said, alpha = content["sentence"], content["question"]["options"]["alpha"]
    for percent in re.findall(r"with ([\d.]+) % confidence", said):
        _require(float(percent) < 100 and float(percent) <= 100 * (1 - alpha) + 1e-12, "the confidence")
    _require(0 < alpha <= 0.5, "alpha")
    if content["verdict"] == "certified":
        within = re.search(r" within (.*?)(?: keeps|, with)", said)
        assert within is not None
        numbers = [float(n) for n in re.findall(r"(?<![\w.])[\d.]+(?:e[+-]?\d+)?", within[1])]
        for number, radius in zip(numbers, content["radius"].values(), strict=True):
            _require(number <= radius * (1 + 1e-15), "the radius in the sentence")


def _require(truth: bool, what: str) -> None:
    if not truth:
        raise NotCarried(what)
