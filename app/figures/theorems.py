"""The moving figures of the Theory page, one for each kind of theorem."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from app.components.moving_figure import Frame, Line, Moving
from tpc_core.teaching import angle_density, evidence_paths, uniform_angle_density, worst_half_space

P_A = 0.9
NEEDED, ALPHA, VOTES, RUNS = 0.8, 0.05, 256, 40


def half_space() -> Moving:
    """The half space that loses most: the bell curve moves, and the worst set of probability p_A loses its share."""
    x = np.linspace(-4, 6, 161)
    found = worst_half_space(P_A, np.linspace(0, 2.4, 49))
    frames = []
    for shift, kept in zip(found.shifts, found.kept, strict=True):
        bell = np.exp(-((x - shift) ** 2) / 2) / math.sqrt(2 * math.pi)
        inside = x <= found.edge
        edge = float(np.exp(-((found.edge - shift) ** 2) / 2) / math.sqrt(2 * math.pi))
        area = [(-4.0, 0.0), *_pairs(x[inside], bell[inside]), (found.edge, edge), (found.edge, 0.0)]
        rest = [(found.edge, 0.0), (found.edge, edge), *_pairs(x[~inside], bell[~inside]), (6.0, 0.0)]
        kind = "right" if kept > 0.5 else "wrong"
        frames.append(
            Frame(
                f"The attack moves the noise by {shift:.2f} sigma. At least {kept:.0%} of the votes are left"
                + (": the class still wins." if kept > 0.5 else ": the class may lose."),
                [
                    Line(area, kind, area=True),
                    Line(rest, "faint", area=True),
                    Line(_pairs(x, bell), "plain"),
                    Line([(found.edge, 0.0), (found.edge, 0.45)], "plain", dashed=True),
                ],
            )
        )
    title = f"The half space that loses most, p_A = {P_A}"
    return Moving(title, "size of the attack", (-4, 6), (0, 0.45), "noise, in sigma", "density", frames)


def cells() -> Moving:
    """The ball of attacks and its cells: smaller cells, until the certified ball of each centre covers its cell."""
    radius, ball = 1.0, 0.2
    circle = [(radius * math.cos(t), radius * math.sin(t)) for t in np.linspace(0, 2 * math.pi, 73)]
    frames = []
    for count in range(1, 13):
        side = 2 * radius / count
        reach = side / math.sqrt(2)
        passed = reach <= ball
        lines, dots, used = [Line(circle, "plain")], [], 0
        for row in range(count):
            for column in range(count):
                x, y = (-radius + (column + 0.5) * side, -radius + (row + 0.5) * side)
                nearest = math.hypot(max(abs(x) - side / 2, 0), max(abs(y) - side / 2, 0))
                if nearest > radius:
                    continue
                used += 1
                dots.append((x, y))
                lines.append(Line(_square(x, y, side), "right" if passed else "wrong", area=True))
        centre = dots[len(dots) // 2]
        turn = np.linspace(0, 2 * math.pi, 49)
        lines.append(
            Line([(centre[0] + ball * math.cos(t), centre[1] + ball * math.sin(t)) for t in turn], "open")
        )
        words = (
            f"{used} cells. Each reaches {reach:.2f} from its centre; the votes there certify {ball:.2f} (yellow): "
            + ("every cell passes." if passed else "too little, so the cells are split.")
        )
        frames.append(Frame(words, lines, dots))
    name = "A ball of attacks and its cells"
    edge = (-1.25, 1.25)
    return Moving(
        name, "number of cells", edge, edge, "first parameter", "second parameter", frames, square=True
    )


def margin_bounds() -> Moving:
    """A margin enclosed in cells: in each a line, plus or minus an error that falls with the square of its width."""
    radius, bend = 0.8, 2.2 + 0.12 * 81  # the bend is the largest second derivative of the margin

    def margin(z: float) -> float:
        return 1.0 - 1.1 * z * z + 0.12 * math.sin(9 * z)

    def slope(z: float) -> float:
        return -2.2 * z + 0.12 * 9 * math.cos(9 * z)

    curve = Line([(float(z), margin(float(z))) for z in np.linspace(-radius, radius, 161)], "plain")
    frames = []
    for count in range(1, 17):
        half = radius / count
        error = bend * half * half / 2
        cells, proved = [], 0
        for number in range(count):
            centre = -radius + (2 * number + 1) * half
            ends = [(centre + side * half, margin(centre) + side * half * slope(centre)) for side in (-1, 1)]
            passed = min(y for _, y in ends) - error > 0
            proved += passed
            below = [(x, y - error) for x, y in ends]
            above = [(x, y + error) for x, y in reversed(ends)]
            cells.append(Line([*below, *above], "right" if passed else "wrong", area=True))
        words = (
            f"{count} cells: in each, the margin is a line plus or minus {error:.2f}. A cell is proved where all of "
            f"this lies above 0: {proved} of {count}."
        )
        frames.append(Frame(words, [*cells, curve]))
    name = "The margin of the class, enclosed in cells"
    edge = (-radius, radius)
    return Moving(
        name, "number of cells", edge, (-1.5, 2.5), "parameter", "margin", frames, marks=[(0.0, "0")]
    )


def heat_kernel() -> Moving:
    """The heat kernel on rotations: the angle of the noise spreads until every rotation is equally likely."""
    angles = np.linspace(1e-6, math.pi, 121)
    uniform = uniform_angle_density(angles)
    degrees = np.degrees(angles)
    frames = []
    for sigma in np.geomspace(0.25, 2.6, 40):
        density = angle_density(float(sigma), angles)
        gap = float(np.abs(density - uniform).mean() * math.pi / 2)
        words = f"Sigma {math.degrees(float(sigma)):.0f}°. Distance from the uniform distribution: {gap:.0%}."
        area = [(0.0, 0.0), *_pairs(degrees, density), (180.0, 0.0)]
        frames.append(
            Frame(
                words, [Line(area, "right", area=True), Line(_pairs(degrees, uniform), "plain", dashed=True)]
            )
        )
    name = "The heat kernel on rotations; dashed: uniform"
    return Moving(name, "sigma", (0, 180), (0, 2.5), "angle of the rotation (°)", "density", frames)


def martingale() -> Moving:
    """The evidence E along the votes: where the claim is false, few of many runs ever reach the bar at 1 / alpha."""
    false = evidence_paths(NEEDED, NEEDED, ALPHA, VOTES, RUNS, seed=4)
    true = evidence_paths(0.97, NEEDED, ALPHA, VOTES, 1, seed=2)
    frames = []
    for end in range(8, VOTES + 1, 8):
        shown = slice(0, end)
        lines = [
            Line(_pairs(false.totals[shown], np.maximum(path[shown], -3)), "faint") for path in false.paths
        ]
        lines.append(Line(_pairs(true.totals[shown], np.minimum(true.paths[0][shown], 4)), "right"))
        reached = int(np.sum(false.paths[:, shown].max(axis=1) >= false.bar))
        proved = bool(true.paths[0][shown].max() >= true.bar)
        words = f"{end} votes. True p_A = 0.97 (blue): {'the bar is reached, proved' if proved else 'not yet proved'}. "
        words += f"True p_A = {NEEDED}, which is not enough (grey): {reached} of {RUNS} runs were ever above the bar; "
        words += f"on average at most {ALPHA * RUNS:.0f} of {RUNS} may be."
        frames.append(Frame(words, lines))
    name = f"The evidence against p_A ≤ {NEEDED}, read after every vote"
    marks = [(true.bar, f"1 / alpha = {1 / ALPHA:.0f}"), (0.0, "1")]
    return Moving(name, "votes", (0, VOTES), (-3, 4), "votes", "log10 of E", frames, marks=marks)


_OF: dict[str, Callable[[], Moving]] = {
    "Additive transforms": half_space,
    "Linear maps": half_space,
    "Noise on the coordinates": half_space,
    "Turns and taper at once": half_space,
    "Exact displacements": cells,
    "Covers of a region": cells,
    "Covers of rotations": cells,
    "Certain answers": margin_bounds,
    "Uniform smoothing over a group": heat_kernel,
    "Rotations by diffusion": heat_kernel,
    "One test that may be read at any time": martingale,
    "One ledger of votes": martingale,
    "Part segmentation": martingale,
    "Refutation": martingale,
    "Checking a certificate": martingale,
}


@cache
def theorem_figure(title: str) -> Moving | None:
    """The moving figure of a section of docs/theory.md."""
    made = _OF.get(title)
    return None if made is None else made()


def _pairs(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return [(round(float(a), 3), round(float(b), 4)) for a, b in zip(x, y, strict=True)]


def _square(x: float, y: float, side: float) -> list[tuple[float, float]]:
    half = side / 2
    return [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
