"""The small experiments of the lessons: the same votes, bounds and displacements, laid open step by step."""

from tpc_core.teaching.cells import (
    LessonCell,
    exact_taper_factor,
    paper_taper_factor,
    taper_cells,
    taper_gap,
    vote_on_cells,
)
from tpc_core.teaching.experiments import ballots_of, cells_of, first_breaks, line_of, turning_of
from tpc_core.teaching.forms import MarginForms, NeuronForm, bending_neuron, margin_forms
from tpc_core.teaching.line import Line, answers_along
from tpc_core.teaching.peeking import METHODS, Method, PeekingStudy, study_peeking
from tpc_core.teaching.repeated import Repeated, repeat_experiment
from tpc_core.teaching.theorems import (
    EvidencePaths,
    angle_density,
    evidence_paths,
    uniform_angle_density,
    worst_half_space,
)
from tpc_core.teaching.turning import AngleStudy, coupled_votes, pole_share, share_by_angle
from tpc_core.teaching.votes import Ballots, cast_ballots
from tpc_core.teaching.worst_case import guaranteed_share, worst_set

__all__ = [
    "METHODS",
    "AngleStudy",
    "Ballots",
    "EvidencePaths",
    "LessonCell",
    "Line",
    "MarginForms",
    "Method",
    "NeuronForm",
    "PeekingStudy",
    "Repeated",
    "angle_density",
    "answers_along",
    "ballots_of",
    "bending_neuron",
    "cast_ballots",
    "cells_of",
    "coupled_votes",
    "evidence_paths",
    "exact_taper_factor",
    "first_breaks",
    "guaranteed_share",
    "line_of",
    "margin_forms",
    "paper_taper_factor",
    "pole_share",
    "repeat_experiment",
    "share_by_angle",
    "study_peeking",
    "taper_cells",
    "taper_gap",
    "turning_of",
    "uniform_angle_density",
    "vote_on_cells",
    "worst_half_space",
    "worst_set",
]
