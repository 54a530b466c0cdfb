"""From counted votes to bounds that hold."""

from tpc_core.statistics.binomial import (
    check_alpha,
    lower_bound,
    samples_to_reach,
    saturation,
    tail,
    upper_bound,
)
from tpc_core.statistics.sequence import BetaPrior, anytime_lower_bound
from tpc_core.statistics.stages import (
    AnytimeMonitor,
    Monitor,
    StagedMonitor,
    falling_shares,
    geometric_stages,
)
from tpc_core.statistics.top_class import top_class_p_value

__all__ = [
    "AnytimeMonitor",
    "BetaPrior",
    "Monitor",
    "StagedMonitor",
    "anytime_lower_bound",
    "check_alpha",
    "falling_shares",
    "geometric_stages",
    "lower_bound",
    "samples_to_reach",
    "saturation",
    "tail",
    "top_class_p_value",
    "upper_bound",
]
