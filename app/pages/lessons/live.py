"""The experiments of the lessons on the shipped models and gallery objects, each done once and remembered."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray

from app.server import cache
from app.server.engine import ask
from app.words import class_words
from tpc_core import Cloud, CoordinateSmoothing, GroupSmoothing, ParameterSmoothing, gallery, parse_transform
from tpc_core.covers import Lattice
from tpc_core.exact import Network, network_of
from tpc_core.smoothing import Cover
from tpc_core.teaching import (
    AngleStudy,
    Ballots,
    LessonCell,
    Line,
    MarginForms,
    NeuronForm,
    PeekingStudy,
    Repeated,
    ballots_of,
    bending_neuron,
    cells_of,
    coupled_votes,
    first_breaks,
    line_of,
    margin_forms,
    pole_share,
    repeat_experiment,
    study_peeking,
    taper_cells,
    turning_of,
)
from tpc_core.transforms import GeneralRotation

POINTS = 64
NOISE_MODEL = "pointnet64-noise"
TWIST = parse_transform("z-twist")
LINE_REACH, LINE_PLACES = 660.0, 881
"""Degrees, and places: every 1.5 degrees, past all angles that a lesson averages over."""
PICKS, SCAN_PLACES = 6, 25
FAMILIAR = ("airplane", "car", "chair", "guitar", "lamp")
"""Classes that one recognises at once, from 64 points and a pale mesh: a lesson begins with one of them."""
CELL_VOTES, CELL_ALPHA = 512, 0.001
TURN_VOTES, TURN_PLACES = 64, 13


def cloud(spec: str) -> Cloud:
    """A gallery object as the models see it."""
    return cache.shape(spec).cloud(POINTS)


def target(model: str, spec: str) -> int:
    """The number of the object's true class in a model's list."""
    return list(cache.model(model).classes).index(str(cache.shape(spec).label))


def class_name(model: str, index: int) -> str:
    """A class as a person reads it."""
    return class_words(str(cache.model(model).classes[index]))


def fragile(model: str) -> list[str]:
    """Gallery objects that the base classifier gets right and a twist breaks, one of a class: those that everybody
    recognises first, each group by the size of the twist."""
    return _fragile(model, cache.model(model).digest)


@st.cache_data(max_entries=8, show_spinner="Looking for objects that a twist breaks ...")
def _fragile(model: str, digest: str) -> list[str]:
    specs = {entry.name: f"gallery:{entry.name}" for entry in gallery()}
    clouds = {name: (cloud(spec), target(model, spec)) for name, spec in specs.items()}
    breaks = ask(first_breaks, cache.model(model), TWIST, clouds, math.pi, SCAN_PLACES)
    found: dict[str, tuple[float, str]] = {}
    for name, at in breaks.items():
        label = str(cache.shape(specs[name]).label)
        found[label] = min(found.get(label, (math.inf, "")), (at, name))
    order = sorted(found, key=lambda label: (label not in FAMILIAR, found[label]))
    ranked = [found[label][1] for label in order][:PICKS]
    return ranked or list(specs)[:PICKS]


@st.cache_data(max_entries=64, show_spinner=False)
def line(model: str, spec: str) -> Line:
    """The base classifier's answers at all twists."""
    found: Line = ask(line_of, cache.model(model), TWIST, cloud(spec), math.radians(LINE_REACH), LINE_PLACES)
    return found


@torch.inference_mode()
def answer(model: str, points: torch.Tensor) -> int:
    """What the base classifier says of one cloud."""
    return int(cache.classifier(model)(points[None]).argmax(dim=-1)[0])


@st.cache_data(max_entries=256, show_spinner=False)
def ballots(model: str, spec: str, twist: float, sigma: float, votes: int) -> Ballots:
    """Votes on the object twisted by `twist`, smoothed by random twists of `sigma`; both in degrees."""
    smoothing = ParameterSmoothing(TWIST, (math.radians(sigma),))
    points = TWIST.apply(cloud(spec).points.double(), TWIST.from_edge([twist])).float()
    cast: Ballots = ask(ballots_of, cache.model(model), smoothing, points, votes)
    return cast


@st.cache_data(max_entries=64, show_spinner=False)
def repeated(p: float, votes: int, alpha: float, runs: int) -> Repeated:
    """Experiments with a known truth."""
    return repeat_experiment(p, votes, alpha, runs, seed=0)


@st.cache_data(max_entries=64, show_spinner=False)
def peeking(p: float, votes: int, looks: int, alpha: float) -> PeekingStudy:
    """1,000 people who look `looks` times at `votes` votes in all."""
    return study_peeking(p, max(1, votes // looks), looks, alpha, runs=1000, seed=0)


@st.cache_data(max_entries=256, show_spinner=False)
def cells(spec: str, radius: float, count: int, exact: bool) -> list[LessonCell]:
    """The cells of a uniform grid of tapers with their votes."""
    model = cache.model(NOISE_MODEL)
    grid = taper_cells(cloud(spec), radius, count, exact=exact)
    truth = target(NOISE_MODEL, spec)
    voted: list[LessonCell] = ask(
        cells_of, model, cloud(spec), grid, truth, noise_sigma(), CELL_VOTES, CELL_ALPHA
    )
    return voted


def noise_sigma() -> float:
    """The sigma that the model was trained for."""
    smoothing = cache.model(NOISE_MODEL).smoothing
    assert isinstance(smoothing, CoordinateSmoothing)
    return smoothing.sigma


@st.cache_data(max_entries=64, show_spinner=False)
def turning(model: str, spec: str, axis: tuple[float, float, float], uniform: bool) -> AngleStudy:
    """The share of votes for the true class as the object turns about an axis: uniform turns, or noise."""
    smoothing = GroupSmoothing("so3") if uniform else CoordinateSmoothing(noise_sigma())
    angles, truth = np.linspace(0, math.pi, TURN_PLACES), target(model, spec)
    study: AngleStudy = ask(
        turning_of, cache.model(model), smoothing, cloud(spec), np.array(axis), angles, truth, TURN_VOTES
    )
    return study


@st.cache_data(max_entries=128, show_spinner=False)
def coupled(
    model: str, spec: str, axis: tuple[float, float, float], angle: float, votes: int
) -> tuple[int, int, int]:
    """The top class over all turns, and its votes on the object and on the turned object, by coupled turns."""
    before, after = ask(
        coupled_votes, cache.model(model), cloud(spec), np.array(axis), math.radians(angle), votes
    )
    top = int(np.argmax(before))
    return top, int(before[top]), int(after[top])


@st.cache_data(max_entries=64, show_spinner=False)
def ball(spec: str, radius: float, shown: int) -> tuple[int, NDArray[np.float64]]:
    """About how many first cells the cover of all rotations within `radius` degrees has, and some of their centres."""
    transform, points = GeneralRotation(), cloud(spec).points.double().numpy()
    lattice = Lattice.of(transform, Cover(noise_sigma(), transform.reach(points)), points)
    (reach,) = transform.parse_radius(radius)
    spacing = np.array(lattice.spacing)
    count = round(4 / 3 * math.pi * reach**3 / float(np.prod(spacing)))
    # Every k-th lattice point along each axis: as many as are shown, and the same pattern as all of them.
    wide = spacing * max(1, round((count / shown) ** (1 / 3)))
    sides = [np.arange(-math.floor(reach / width), math.floor(reach / width) + 1) * width for width in wide]
    centres = np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")], axis=1)
    return max(count, 1), centres[np.linalg.norm(centres, axis=1) <= reach]


@st.cache_data(show_spinner=False)
def poles() -> tuple[float, float]:
    """How often uniform rotations, and three uniform Euler angles, point the x axis near a pole."""
    return pole_share("quaternion", 100_000), pole_share("euler", 100_000)


@st.cache_resource(show_spinner=False)
def _plain_network(digest: str) -> Network:
    """The plain network of the lessons' model, as its bounds need it."""
    return network_of(cache.model(NOISE_MODEL).module)


def plain_network() -> Network:
    return _plain_network(cache.model(NOISE_MODEL).digest)


@st.cache_data(max_entries=128, show_spinner=False)
def margins(spec: str, radius: float, count: int) -> MarginForms:
    """The margin of the true class under every taper, and its bounds in equal cells."""
    return margin_forms(plain_network(), cloud(spec).points, radius, count, target(NOISE_MODEL, spec))


@st.cache_data(max_entries=128, show_spinner=False)
def neuron(spec: str, low: float, high: float) -> NeuronForm:
    """Over one of the cells, the neuron that bends most."""
    return bending_neuron(plain_network(), cloud(spec).points, low, high)
