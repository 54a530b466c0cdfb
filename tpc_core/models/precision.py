"""Names of variants of reduced precision: "pointnet64-noise@bfloat16".

Fewer bits round otherwise, so now and then the network answers otherwise: it is another base classifier h, and what
was measured or certified of the full one does not hold for it. Nothing switches it on but its name.
"""

from __future__ import annotations

from tpc_core.errors import unknown_name

FULL = "float32"
REDUCED = ("bfloat16", "float16")


def split_precision(name: str) -> tuple[str, str]:
    """The checkpoint and the precision of a name: "pointnet64-noise@bfloat16", or without @ for float32."""
    checkpoint, at, precision = name.rpartition("@")
    if not at or "/" in precision or precision.endswith(".safetensors"):
        return name, FULL
    if precision not in REDUCED:
        raise unknown_name("precision", precision, list(REDUCED))
    return checkpoint, precision


def with_precision(name: str, precision: str) -> str:
    """The inverse of split_precision."""
    return name if precision == FULL else f"{name}@{precision}"
