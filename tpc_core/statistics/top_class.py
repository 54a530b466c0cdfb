"""Is this class the most likely one? A binomial test of the first class against the second."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.statistics.binomial import tail


def top_class_p_value(votes: Sequence[int], claimed: int | None = None) -> float:
    """The p-value of the claim that a class is the top class of a multinomial.

    With `claimed` chosen on other samples: one-sided, against the runner-up. With claimed None the winner of
    these same votes is meant, and the p-value doubles (Hung and Fithian, as in PREDICT of Cohen et al.).
    """
    if len(votes) < 2 or any(v < 0 for v in votes):
        raise InvalidValue("a top-class test needs the votes of at least two classes")
    chosen = max(range(len(votes)), key=lambda i: (votes[i], -i)) if claimed is None else claimed
    if not 0 <= chosen < len(votes):
        raise InvalidValue(f"class {chosen} is not among the {len(votes)} classes")
    first = votes[chosen]
    second = max(v for i, v in enumerate(votes) if i != chosen)
    if first + second == 0:
        return 1.0
    one_sided = tail(first, first + second, 0.5)
    return min(1.0, 2 * one_sided) if claimed is None else one_sided


def anytime_top_class_p_value(votes: Sequence[int], claimed: int) -> float:
    """A p-value for the same claim that may be read after every vote: 1 / M_n(1/2) against the runner-up.

    Among the votes for two classes, the share of the claimed one is at most 1/2 if the other is the true top
    class; then the beta-binomial martingale M_n(1/2) of that pair ever exceeds 1/p with probability at most p.
    """
    first = votes[claimed]
    second = max(v for i, v in enumerate(votes) if i != claimed)
    if first <= second:
        return 1.0
    total = first + second
    log_martingale = (
        special.betaln(0.5 + first, 0.5 + second) - special.betaln(0.5, 0.5) + total * math.log(2.0)
    )
    return float(min(1.0, math.exp(min(-log_martingale, 0.0)) * (1 + 1e-9)))
