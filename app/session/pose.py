"""What a visitor has set: the pose of the object, with undo and redo. Plain objects, without Streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tpc_core import Transform, parse_transform
from tpc_core.errors import TpcError
from tpc_core.transforms import AXES, SINGLE, Composition, CoordinateNoise, Parameter

HISTORY = 100
NOISE_SEED = 0


def kinds() -> list[str]:
    """The kinds of transform without their axis, in the order of the library: rotation, ..., taper, linear, l2."""
    return list(dict.fromkeys(_split(name)[1] for name in SINGLE))


def has_axis(kind: str) -> bool:
    """Whether a kind comes in one version for each axis."""
    return kind not in SINGLE


def transform_name(chosen: Sequence[str], axis: str) -> str:
    """The name of the kinds joined in order, e.g. (twist, rotation) about z -> z-twist+z-rotation."""
    return "+".join(f"{axis}-{kind}" if has_axis(kind) else kind for kind in chosen)


def kinds_and_axis(name: str) -> tuple[list[str], str]:
    """The inverse of transform_name; z where nothing has an axis."""
    pieces = [_split(piece) for piece in name.split("+")] if name else []
    return [kind for _, kind in pieces], next((axis for axis, _ in pieces if axis), "z")


def _split(name: str) -> tuple[str, str]:
    head, dash, tail = name.partition("-")
    return (head, tail) if dash and head in AXES else ("", name)


def order_in_words(transform: Transform) -> str:
    """Which part of a composition acts first."""
    if not isinstance(transform, Composition):
        return ""
    return "first " + ", then ".join(part.name for part in reversed(transform.parts))


def identity_values(parameters: Iterable[Parameter]) -> tuple[float, ...]:
    """The values that move nothing."""
    return tuple(0.0 for _ in parameters)


def within(parameters: Sequence[Parameter], values: Sequence[float]) -> tuple[float, ...]:
    """The values inside the ranges of the sliders; bounds that only the browser enforces are checked here."""
    pairs = zip(parameters, values, strict=True)
    return tuple(min(p.high, max(p.low, float(v))) for p, v in pairs)


def moved(transform: Transform, values: Sequence[float], points: Tensor) -> Tensor:
    """phi(x, z) of the points (N, 3) at the slider values; noise points in one fixed random direction."""
    exact = points.double()
    if isinstance(transform, CoordinateNoise):
        generator = torch.Generator().manual_seed(NOISE_SEED)
        direction = torch.randn(3 * len(points), generator=generator, dtype=torch.float64)
        return transform.apply(exact, transform.on_sphere(direction, float(values[0]))).float()
    return transform.apply(exact, transform.from_edge(values)).float()


def preset_values(transform: Transform, radius: Sequence[float]) -> tuple[float, ...]:
    """Slider values at the edge of a region: the radius itself where a slider is a radius."""
    if len(radius) == len(transform.parameters):
        return within(transform.parameters, radius)
    values = list(identity_values(transform.parameters))
    name = transform.radii[0].name
    place = next((i for i, p in enumerate(transform.parameters) if p.name == name), 0)
    values[place] = float(radius[0])
    return within(transform.parameters, values)


@dataclass(frozen=True)
class Pose:
    """One member of a family of transforms: the family's name and its slider values."""

    transform: str = "z-rotation"
    values: tuple[float, ...] = (0.0,)

    @staticmethod
    def identity(name: str) -> Pose:
        """The pose of a transform that moves nothing."""
        return Pose(name, identity_values(parse_transform(name).parameters))


@dataclass
class Poser:
    """The pose with its history. A drag is one step of history, however many values it went through."""

    pose: Pose = field(default_factory=Pose)
    past: list[Pose] = field(default_factory=list)
    future: list[Pose] = field(default_factory=list)
    epoch: int = 0
    """Counts the times that the pose was set from here and not by a slider; the sliders follow it."""
    stamp: int = 0
    """The number of the last slider movement that was heard."""
    _before_drag: Pose | None = None

    @property
    def transform(self) -> Transform:
        return parse_transform(self.pose.transform)

    @property
    def moving(self) -> bool:
        """Whether a slider is being dragged."""
        return self._before_drag is not None

    def drag(self, values: Sequence[float]) -> None:
        """A slider moved."""
        if self._before_drag is None:
            self._before_drag = self.pose
        self.pose = Pose(self.pose.transform, within(self.transform.parameters, values))

    def rest(self) -> None:
        """The sliders were let go: the drag becomes one step of history."""
        before, self._before_drag = self._before_drag, None
        if before is not None and before != self.pose:
            self._remember(before)

    def start(self, pose: Pose) -> None:
        """Begin at a pose, with nothing before it: a link brought it."""
        self.pose, self.past, self.future, self._before_drag = pose, [], [], None
        self.epoch += 1

    def set(self, pose: Pose) -> None:
        """Take a pose from a button or a list."""
        self.rest()
        if pose == self.pose:
            return
        self._remember(self.pose)
        self.pose = pose
        self.epoch += 1

    def reset(self) -> None:
        """Back to the identity, which can be undone."""
        self.set(Pose.identity(self.pose.transform))

    def choose(self, name: str) -> None:
        """Take another transform, starting from its identity; a name that is not one raises a TpcError."""
        if name != self.pose.transform:
            self.set(Pose.identity(name))

    def undo(self) -> None:
        """One step back."""
        self.rest()
        if self.past:
            self.future.append(self.pose)
            self.pose = self.past.pop()
            self.epoch += 1

    def redo(self) -> None:
        """One step forward again."""
        self.rest()
        if self.future:
            self.past.append(self.pose)
            self.pose = self.future.pop()
            self.epoch += 1

    def _remember(self, pose: Pose) -> None:
        self.past = [*self.past, pose][-HISTORY:]
        self.future = []


def parsed(name: str) -> Transform | TpcError:
    """The transform of a name, or the error that says why there is none."""
    try:
        return parse_transform(name)
    except TpcError as error:
        return error
