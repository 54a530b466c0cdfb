"""Solids: almost everything is a loft, a skin over a row of rings; every face knows its part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.gallery.curves import Curve, circle, rectangle
from tpc_core.data.gallery.ply import NO_PART

Vector = Sequence[float]


@dataclass(frozen=True)
class Solid:
    """Vertices (V, 3), triangles (F, 3), and the part id of each triangle (F,)."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    parts: NDArray[np.int64]

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """Shift the solid."""
        return replace(self, vertices=self.vertices + np.array([x, y, z]))

    def scaled(self, x: float = 1.0, y: float = 1.0, z: float = 1.0) -> Solid:
        """Stretch the solid about the origin."""
        return replace(self, vertices=self.vertices * np.array([x, y, z]))

    def turned(self, axis: str, degrees: float) -> Solid:
        """Turn the solid about an axis through the origin."""
        angle = np.deg2rad(degrees)
        cos, sin = np.cos(angle), np.sin(angle)
        one, two = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        matrix = np.eye(3)
        matrix[one, one], matrix[one, two], matrix[two, one], matrix[two, two] = cos, -sin, sin, cos
        return replace(self, vertices=self.vertices @ matrix.T)

    def mirrored(self) -> Solid:
        """The mirror image, left for right (x for -x), with its faces turned outwards again."""
        return replace(self, vertices=self.vertices * np.array([-1, 1, 1]), faces=self.faces[:, ::-1])

    def part(self, part: int) -> Solid:
        """The same solid as one part."""
        return replace(self, parts=np.full(len(self.faces), part, dtype=np.int64))

    def part_where(self, chosen: NDArray[np.bool_], part: int) -> Solid:
        """The same solid with the chosen faces (F,) as a part of their own."""
        return replace(self, parts=np.where(chosen, part, self.parts))

    def centres(self) -> NDArray[np.float64]:
        """The middle of each face: (F, 3)."""
        return np.asarray(self.vertices[self.faces].mean(axis=1))

    def normals(self) -> NDArray[np.float64]:
        """The outward unit normal of each face: (F, 3)."""
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        normals = np.cross(b - a, c - a)
        return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12))


def joined(solids: Iterable[Solid]) -> Solid:
    """Several solids as one."""
    pieces = list(solids)
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    return Solid(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.faces + start for piece, start in zip(pieces, starts, strict=False)]),
        np.concatenate([piece.parts for piece in pieces]),
    )


def loft(rings: Sequence[NDArray[np.float64]], *, loop: bool = False) -> Solid:
    """A skin over rings of equally many points each, closed by flat ends; or bent into a loop.

    Rings run counter-clockwise as seen from the last one. A ring need not be convex, but its middle must see
    every point of it, because the ends are closed by fans.
    """
    stacked = np.stack(rings)
    count, size, _ = stacked.shape
    vertices = stacked.reshape(-1, 3)
    faces = []
    for ring in range(count if loop else count - 1):
        here = ring * size + np.arange(size)
        there = (ring + 1) % count * size + np.arange(size)
        here_next, there_next = np.roll(here, -1), np.roll(there, -1)
        faces += [
            np.stack([here, here_next, there_next], axis=1),
            np.stack([here, there_next, there], axis=1),
        ]
    if not loop:
        first = np.arange(size)
        last = (count - 1) * size + first
        middle = len(vertices)
        vertices = np.vstack([vertices, stacked[0].mean(axis=0), stacked[-1].mean(axis=0)])
        faces.append(np.stack([np.roll(first, -1), first, np.full(size, middle)], axis=1))
        faces.append(np.stack([last, np.roll(last, -1), np.full(size, middle + 1)], axis=1))
    skin = np.concatenate(faces)
    # A cone ends in a ring of one repeated point; its empty triangles would only cost bytes.
    a, b, c = np.moveaxis(vertices[skin], 1, 0)
    skin = skin[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-12]
    return Solid(vertices, skin, np.full(len(skin), NO_PART, dtype=np.int64))


def at_height(outline: Curve, z: float) -> NDArray[np.float64]:
    """An outline of the plane as a ring at a height."""
    return np.column_stack([outline, np.full(len(outline), z)])


def slab(outline: Curve, low: float, high: float, bevel: float = 0.0) -> Solid:
    """An outline pushed up from `low` to `high`; its edges are bevelled by drawing the ends together."""
    if bevel == 0:
        return loft([at_height(outline, low), at_height(outline, high)])
    middle = outline.mean(axis=0)
    reach = np.linalg.norm(outline - middle, axis=1).max()
    inner = middle + (outline - middle) * (1 - bevel / reach)
    return loft(
        [
            at_height(inner, low),
            at_height(outline, low + bevel),
            at_height(outline, high - bevel),
            at_height(inner, high),
        ]
    )


def box(size: Vector, centre: Vector = (0, 0, 0), radius: float = 0.0) -> Solid:
    """A box; with a radius, its upright edges are rounded and its flat ones bevelled."""
    outline = rectangle(size[0], size[1], radius)
    return slab(outline, -size[2] / 2, size[2] / 2, radius * 0.6).moved(*centre)


def column(low: float, high: float, radius: float, top_radius: float | None = None, sides: int = 20) -> Solid:
    """An upright cylinder, or a cone with another radius at the top."""
    top = radius if top_radius is None else top_radius
    return loft([at_height(circle(radius, sides), low), at_height(circle(top, sides), high)])


def revolved(profile: Curve | Sequence[Vector], sides: int = 32) -> Solid:
    """A profile of (radius, z), from bottom to top, turned about the z axis."""
    return loft([at_height(circle(max(radius, 0.0), sides), z) for radius, z in profile])


def ellipsoid(radii: Vector, centre: Vector = (0, 0, 0), sides: int = 16) -> Solid:
    """A sphere, stretched."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1)
    ball = revolved(np.stack([np.cos(angles), np.sin(angles)], axis=1), sides)
    return ball.scaled(*radii).moved(*centre)


def tube(path: Curve | Sequence[Vector], radius: float | Sequence[float] | Curve, sides: int = 10) -> Solid:
    """A round bar along a path (P, 3); the radius may change from point to point."""
    points = np.asarray(path, dtype=np.float64)
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(points))
    ahead = np.gradient(points, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    # Any start that is not along the path; after that the frame is carried along, so the bar does not twist.
    side = np.cross(ahead[0], np.eye(3)[np.abs(ahead[0]).argmin()])
    rings = []
    for point, direction, size in zip(points, ahead, radii, strict=True):
        side = side - direction * (side @ direction)
        side /= np.linalg.norm(side)
        outline = circle(float(size), sides)
        rings.append(point + outline[:, :1] * side + outline[:, 1:] * np.cross(direction, side))
    return loft(rings)


def bar(start: Vector, end: Vector, radius: float, end_radius: float | None = None, sides: int = 10) -> Solid:
    """A straight round bar between two points."""
    return tube([start, end], [radius, radius if end_radius is None else end_radius], sides)
