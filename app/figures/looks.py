"""How the stage looks on a light page, on a dark one, and through a projector; the colours that grade points."""

from __future__ import annotations

from typing import Any, Literal

from app.figures.theme import DARK, KINDS, Theme

Look = dict[str, Any]
LookName = Literal["page", "projector"]

HEIGHT = {
    "light": ("#3b2f73", "#2f5d96", "#23889a", "#3fae86", "#a3c34f"),
    "dark": ("#6a5cc0", "#4a86d0", "#38b3b4", "#74d492", "#dcea78"),
}
"""Low to high: even in lightness, and told apart under every common colour vision deficiency."""
DISPLACEMENT = {
    "light": ("#b9bcc6", "#c98fb0", "#bb4f92", "#86217c", "#45104f"),
    "dark": ("#646b7d", "#9a64a6", "#d7639f", "#f596a8", "#ffe3cf"),
}
"""Grey where nothing moved, and stronger the farther a point went."""
CRITICAL = {"light": ("#d3a6dd", "#a04fb8", "#5d1a78"), "dark": ("#9a6bb0", "#d58be6", "#fbdcff")}

_LIGHT: Look = {
    "name": "light",
    "background": "#f6f8fb",
    "backdrop": "radial-gradient(110% 90% at 50% 36%, #ffffff 0%, #f5f7fb 55%, #e8edf5 100%)",
    "clay": "#e6eaf1",
    "shade": "#7e8aa2",
    "plain": "#8993a6",
    "floor": "#dde4ee",
    "floorStrength": 0.55,
    "shadow": "#27324a",
    "shadowStrength": 0.42,
    "fog": 0.42,
    "ghost": 0.5,
    "points": 1.0,
    "contrast": 1.0,
}
_DARK: Look = {
    **_LIGHT,
    "name": "dark",
    "background": "#181e28",
    "backdrop": "radial-gradient(110% 90% at 50% 36%, #2a3342 0%, #1b222d 55%, #131820 100%)",
    "clay": "#6d7a90",
    "shade": "#1c2430",
    "plain": "#8794aa",
    "floor": "#313c4e",
    "floorStrength": 0.6,
    "shadow": "#04070c",
    "shadowStrength": 0.7,
    "fog": 0.5,
}
_PROJECTOR: Look = {
    **_LIGHT,
    "name": "projector",
    "background": "#ffffff",
    "backdrop": "#ffffff",
    "clay": "#e7eaf0",
    "shade": "#7d879a",
    "plain": "#5c6779",
    "shadowStrength": 0.5,
    "fog": 0.12,
    "ghost": 0.9,
    "points": 1.3,
    "contrast": 0.75,
}


def stage_look(theme: Theme, name: LookName = "page") -> Look:
    """The look of the stage: the page's own, or the one for a projector, which washes faint colours out."""
    kind: Literal["light", "dark"] = "dark" if theme == DARK and name == "page" else "light"
    base = _PROJECTOR if name == "projector" else _DARK if kind == "dark" else _LIGHT
    ramps = {
        "height": HEIGHT[kind],
        "displacement": DISPLACEMENT[kind],
        "critical": CRITICAL[kind],
        "votes": (base["plain"], theme.agree),
    }
    return {
        **base,
        "swept": theme.agree,
        "ramps": {name: list(stops) for name, stops in ramps.items()},
        "palette": list(KINDS),
    }


def point_radius(count: int) -> float:
    """How large a ball each point is, in units of the cloud's radius: small enough to be told apart."""
    return float(min(0.028, max(0.006, 0.42 / count**0.5)))
