"""Variants of a model, by name: "pointnet64-noise@bfloat16" and "my-net@z-twist:20".

Fewer bits round otherwise, so now and then the network answers otherwise: it is another base classifier h, and what
was measured or certified of the full one does not hold for it. Nothing switches it on but its name. A smoothing after
the @ shakes the same network in another way; whatever it was trained for, certificates are valid.
"""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.errors import unknown_name

FULL_PRECISION = "float32"
REDUCED = ("bfloat16", "float16")


@dataclass(frozen=True)
class Variant:
    """A checkpoint, how precisely it computes, and under which smoothing, where not under its own."""

    checkpoint: str
    precision: str = FULL_PRECISION
    smoothing: str | None = None

    def __str__(self) -> str:
        pieces = [
            self.checkpoint,
            self.smoothing,
            None if self.precision == FULL_PRECISION else self.precision,
        ]
        return "@".join(piece for piece in pieces if piece)


def parse_variant(name: str) -> Variant:
    """The variant of a name; a path may hold an @ of its own."""
    found = Variant(name)
    while True:
        rest, at, last = found.checkpoint.rpartition("@")
        if not at or "/" in last or last.endswith(".safetensors"):
            return found
        if last in REDUCED and found.precision == FULL_PRECISION and found.smoothing is None:
            found = Variant(rest, last)
        elif ":" in last and found.smoothing is None:
            found = Variant(rest, found.precision, last)
        else:
            raise unknown_name("precision", last, list(REDUCED))


def split_precision(name: str) -> tuple[str, str]:
    """What is before the precision in a name, and the precision: float32 where none is named."""
    variant = parse_variant(name)
    return str(Variant(variant.checkpoint, smoothing=variant.smoothing)), variant.precision


def with_precision(name: str, precision: str) -> str:
    """The inverse of split_precision."""
    return name if precision == FULL_PRECISION else f"{name}@{precision}"
