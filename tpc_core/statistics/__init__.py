"""From counted votes to statements that hold."""

from tpc_core.statistics.binomial import (
    check_alpha,
    lower_bound,
    samples_to_reach,
    saturation,
    tail,
    upper_bound,
)
from tpc_core.statistics.e_test import (
    best_lower_bound,
    divergence,
    expected_votes,
    fewest_votes,
    log_e,
    lower_confidence_bound,
    needed_log_e,
    rejects,
)

__all__ = [
    "best_lower_bound",
    "check_alpha",
    "divergence",
    "expected_votes",
    "fewest_votes",
    "log_e",
    "lower_bound",
    "lower_confidence_bound",
    "needed_log_e",
    "rejects",
    "samples_to_reach",
    "saturation",
    "tail",
    "upper_bound",
]
