"""The landscape: p_A sampled on a grid of parameters that grows finer. It shows, and proves nothing.

Its votes come from streams of their own (`look_stream`), which are no places of a ledger: however long somebody looks
at a landscape, no verdict and no error level changes.
"""

from tpc_core.landscape.chart import Chart, ChartAxis, coordinates, noise_direction
from tpc_core.landscape.nodes import Nodes
from tpc_core.landscape.of_question import landscape_events, needed_of
from tpc_core.landscape.survey import Landscape, extent, survey, survey_plain
from tpc_core.landscape.work import LandscapeWork

__all__ = [
    "Chart",
    "ChartAxis",
    "Landscape",
    "LandscapeWork",
    "Nodes",
    "coordinates",
    "extent",
    "landscape_events",
    "needed_of",
    "noise_direction",
    "survey",
    "survey_plain",
]
