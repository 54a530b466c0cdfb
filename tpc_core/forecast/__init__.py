"""What would it take? The votes that are missing, the chance that they do, and the radius that they promise."""

from tpc_core.forecast.model_ranking import RankedModel, best_first, rank_models
from tpc_core.forecast.outlook import Outlook, outlook, outlooks
from tpc_core.forecast.pass_chance import PassChance, best_pass_chance, pass_chances
from tpc_core.forecast.proposal import propose_radius
from tpc_core.forecast.radius_forecast import RadiusForecast, radius_by_votes
from tpc_core.forecast.region_look import RegionLook
from tpc_core.forecast.remaining_cost import RemainingCost, remaining_cost, untested_share
from tpc_core.forecast.safe_band import SafeBand, SafeBandWork, parts_of_sliders, safe_band_events
from tpc_core.forecast.sigma_sweep import (
    FACTORS,
    SigmaLook,
    best_sigma,
    sweep_judgement,
    sweep_sigmas,
    sweep_votes,
)
from tpc_core.forecast.voting_speed import voting_speed

__all__ = [
    "FACTORS",
    "Outlook",
    "PassChance",
    "RadiusForecast",
    "RankedModel",
    "RegionLook",
    "RemainingCost",
    "SafeBand",
    "SafeBandWork",
    "SigmaLook",
    "best_first",
    "best_pass_chance",
    "best_sigma",
    "outlook",
    "outlooks",
    "parts_of_sliders",
    "pass_chances",
    "propose_radius",
    "radius_by_votes",
    "rank_models",
    "remaining_cost",
    "safe_band_events",
    "sweep_judgement",
    "sweep_sigmas",
    "sweep_votes",
    "untested_share",
    "voting_speed",
]
