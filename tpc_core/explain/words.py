"""Numbers as a person says them."""

from __future__ import annotations

import math

from tpc_core.proofs.judgement import shown


def count(number: float) -> str:
    """A number of votes to three figures."""
    return f"{float(f'{number:.3g}'):,.0f}" if math.isfinite(number) else "countless"


def probability(value: float, other: float = 1.0) -> str:
    """A probability with as many digits as tell it from one, and from the number that it is compared with."""
    return shown(value, other)


def percent(value: float) -> str:
    """A probability in per cent, with more digits where it is nearly one."""
    text = f"{100 * value:.2f}" if 0.99 < value < 1 else f"{100 * value:.1f}"
    return f"{text} %"


def capital(text: str) -> str:
    """A sentence begins with a capital."""
    return text[:1].upper() + text[1:]
