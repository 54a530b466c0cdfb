"""Certified accuracy against radius, drawn as SVG by hand: a report needs no plotting library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from tpc_core.evaluation.intervals import Share

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 34, 42
_Scale = Callable[[float], float]
OURS, PAPER, DEEPG3D = "#0b62a4", "#c2410c", "#6b7280"


@dataclass(frozen=True)
class CurvePoint:
    """One radius: our share with its interval, and what others report there (percent)."""

    radius: float
    share: Share
    tpc: float | None = None
    deepg3d: float | None = None


def draw_curve(title: str, unit: str, points: Sequence[CurvePoint]) -> str:
    """An SVG of certified accuracy against radius, with 95 % intervals and the paper's figures."""
    points = sorted(points, key=lambda point: point.radius)
    largest = points[-1].radius

    def x(radius: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * radius / (1.05 * largest)

    def y(percent: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * percent / 100

    pieces = [
        _frame(title, f"radius{f' ({unit})' if unit else ''}"),
        *_grid(x, y, [p.radius for p in points]),
    ]
    path = " ".join(f"{x(point.radius):.1f},{y(point.share.value):.1f}" for point in points)
    pieces.append(f'<polyline points="{path}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    for point in points:
        at = x(point.radius)
        low, high = y(point.share.low), y(point.share.high)
        pieces.append(f'<path d="M{at:.1f} {low:.1f}V{high:.1f}" stroke="{OURS}" stroke-width="1.5"/>')
        tip = f"{point.radius:g}: {point.share.value:.1f} % ({point.share.low:.1f} to {point.share.high:.1f})"
        pieces.append(_dot(at, y(point.share.value), OURS, tip))
        for value, colour, name in ((point.tpc, PAPER, "paper"), (point.deepg3d, DEEPG3D, "DeepG3D")):
            if value is not None:
                pieces.append(_diamond(at, y(value), colour, f"{name}, {point.radius:g}: {value:.1f} %"))
    pieces.append(_legend(any(p.tpc is not None for p in points), any(p.deepg3d is not None for p in points)))
    return "\n".join([*pieces, "</svg>"])


def _frame(title: str, below: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="11" fill="#222">'
        f'<title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<text x="{LEFT}" y="18" font-size="13" font-weight="600">{escape(title)}</text>'
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(below)}</text>'
    )


def _grid(x: _Scale, y: _Scale, radii: Sequence[float]) -> list[str]:
    lines = []
    for percent in range(0, 101, 20):
        at = y(percent)
        lines.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{percent} %</text>')
    last = -100.0
    for radius in radii:
        if x(radius) - last > 26:
            last = x(radius)
            lines.append(
                f'<text x="{last:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{radius:g}</text>'
            )
    return lines


def _dot(x: float, y: float, colour: str, tip: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>{escape(tip)}</title></circle>'


def _diamond(x: float, y: float, colour: str, tip: str) -> str:
    shape = f"M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"
    style = f'fill="none" stroke="{colour}" stroke-width="1.8"'
    return f'<path d="{shape}" {style}><title>{escape(tip)}</title></path>'


def _legend(paper: bool, deepg3d: bool) -> str:
    entries = [("ours, 95 % interval", OURS)]
    entries += [("paper", PAPER)] if paper else []
    entries += [("DeepG3D", DEEPG3D)] if deepg3d else []
    pieces, at = [], LEFT + 8.0
    for name, colour in entries:
        pieces.append(f'<circle cx="{at:.0f}" cy="{HEIGHT - BOTTOM - 10}" r="4" fill="{colour}"/>')
        pieces.append(f'<text x="{at + 8:.0f}" y="{HEIGHT - BOTTOM - 6}">{name}</text>')
        at += 22 + 6 * len(name)
    return "".join(pieces)
