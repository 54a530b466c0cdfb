"""Write tpc_core/statistics/linear_table.json: the p_A that linear maps need, for the sigmas of the checkpoints.

    python scripts/linear_table.py

Takes minutes; `required_p_a` reads the table instead of computing the same number anew. A test computes some again.
"""

from __future__ import annotations

import json
import sys

from tpc_core.models import list_models
from tpc_core.statistics.linear_shift import BOXES, STEP, TABLE, computed_p_a


def needed(sigma: float) -> list[float]:
    """The p_A for radii of 1, 2, 3, ... steps, up to the first for which no p_A suffices."""
    values: list[float] = []
    while not values or values[-1] < 1.0:
        values.append(computed_p_a(sigma, STEP * (len(values) + 1), BOXES))
        print(f"\rsigma {sigma:g}: radius {STEP * len(values):.3f}, p_A {values[-1]:.5f}", end="", flush=True)
    print()
    return values


def main() -> int:
    """One list for each sigma that a shipped checkpoint for linear maps has."""
    described = [card.smoothing for card in list_models() if card.smoothing.get("transform") == "linear"]
    sigmas = sorted({float(smoothing["sigma"][0]) for smoothing in described})
    table = {"boxes": BOXES, "step": STEP, "needed": {f"{sigma!r}": needed(sigma) for sigma in sigmas}}
    TABLE.write_text(json.dumps(table) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
