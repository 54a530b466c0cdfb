"""Forgeries that a careful person might try: each is refused, with a reason, in bounded time and memory."""

from __future__ import annotations

import copy
import json
import tracemalloc
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.certificate import forge, oracle
from tests.certificate.made import QUESTIONS, changed, genuine, model_of, resealed
from tpc_core.certificate import Certificate
from tpc_core.certify import Options, certify
from tpc_core.covers.lattice import MOST_FIRST_CELLS, Lattice
from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.ledger import default_seed
from tpc_core.question import Question
from tpc_core.smoothing import CoordinateSmoothing, Cover, Threshold
from tpc_core.statistics import log_e
from tpc_core.statistics.e_test import ROUNDING
from tpc_core.transforms import parse_transform
from tpc_core.verify import replay, verify, verify_fresh

Content = dict[str, Any]


def _reseeded(content: Content) -> None:
    """The seed that belongs to the content as it is spelled now."""
    content["ledger"]["seed"] = default_seed(
        content["cloud"]["digest"],
        content["model"]["digest"],
        content["question"]["transform"],
        content["model"]["smoothing"],
    )


# -- another spelling of the same question buys no second seed ---------------------------------------------------


@pytest.mark.parametrize("name", ["z-taper ", " z-taper", "z-taper\t", "z-taper\n"])
def test_a_transform_has_one_spelling(name: str) -> None:
    """A blank would make another hash, and so another seed that nobody seems to have chosen."""

    def lie(content: Content) -> None:
        content["question"]["transform"] = name
        _reseeded(content)

    with pytest.raises(InvalidCertificate):
        verify(changed(genuine("cover"), lie))
    with pytest.raises(InvalidValue):
        Question("toy", "cloud", 3, name, {"taper": 0.5})


@pytest.mark.parametrize("sigma", [[15], [15.0 * (1 + 1e-14)], [15.000000000000004]])
def test_a_smoothing_has_one_spelling(sigma: list[float]) -> None:
    """Digits that no description keeps, or a whole number for a float, would make another hash as well."""

    def lie(content: Content) -> None:
        content["model"]["smoothing"]["sigma"] = sigma
        _reseeded(content)

    with pytest.raises(InvalidCertificate, match="smoothing"):
        verify(changed(genuine("parameter"), lie))


# -- what the file says of the model is what the model is ----------------------------------------------------------


def test_replay_refuses_a_smoothing_that_is_not_the_models_own() -> None:
    """Sigmas chosen per object certify another classifier for each object: the question has to say so."""
    model, cloud, transform, _, options = QUESTIONS["cover"]()
    made = certify(model, cloud, transform, 0.4, replace(options, sigma=(0.3,)))
    assert replay(made, model) == made.samples

    def lie(content: Content) -> None:
        content["question"]["options"]["sigma"] = None

    with pytest.raises(InvalidCertificate, match="smoothing"):
        replay(changed(made, lie), model)
    with pytest.raises(InvalidCertificate, match="smoothing"):
        verify_fresh(changed(made, lie), model, seed=3)


def test_a_second_opinion_takes_another_seed() -> None:
    with pytest.raises(InvalidValue, match="seed"):
        verify_fresh(genuine("seed by hand"), model_of("seed by hand"), seed=11)


# -- attacks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameter", [[], [0.0], [0.0] * 5])
def test_an_attack_by_noise_moves_every_point(parameter: list[float]) -> None:
    """An l2 attack has three numbers for each point; none at all lies in every ball."""

    def lie(content: Content) -> None:
        attack = {"parameter": parameter, "rival": 1, "method": "none", "votes": [[1, 32]] * 4}
        content["ledger"]["refutations"] = [attack]
        content["samples"] += 128
        content["verdict"] = "refuted"
        content["sentence"] = "An attack by l2 (l2 0) turns inside into outside."

    with pytest.raises(InvalidCertificate, match="attack"):
        verify(changed(genuine("l2"), lie))


def test_an_attack_that_proved_nothing_has_its_parameters_too() -> None:
    def lie(content: Content) -> None:
        content["ledger"]["refutations"].append(
            {"parameter": [0.1, 0.2], "rival": 1, "method": "none", "votes": []}
        )

    with pytest.raises(InvalidCertificate, match="attack"):
        verify(changed(genuine("cover refuted"), lie))


# -- options -----------------------------------------------------------------------------------------------------------


def test_parts_are_not_certified_by_the_papers_protocol() -> None:
    def lie(content: Content) -> None:
        content["question"]["options"]["protocol"] = "paper"

    with pytest.raises(InvalidCertificate, match="protocol"):
        verify(changed(genuine("points of a group"), lie))


@pytest.mark.parametrize("resolution", [0, -5, 10**30])
def test_a_resolution_is_a_small_positive_number_even_where_no_grid_is_made(resolution: int) -> None:
    def lie(content: Content) -> None:
        content["question"]["options"]["resolution"] = resolution

    with pytest.raises(InvalidCertificate, match="resolution"):
        changed(genuine("cover"), lie)


# -- bounded time and memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [100, 300, 600, 900, 980, 5_000, 100_000])
@pytest.mark.parametrize("place", ["votes", "smoothing"])
def test_a_nested_file_is_refused_with_a_reason(depth: int, place: str) -> None:
    content = json.loads(genuine("cover").to_json())
    if place == "votes":
        content["ledger"]["places"]["select"] = ["HERE"]
    else:
        content["model"]["smoothing"]["sigma"] = "HERE"
    with pytest.raises(InvalidCertificate):
        verify(Certificate.from_json(json.dumps(content).replace('"HERE"', "[" * depth + "]" * depth)))


@pytest.mark.parametrize("what", ["blocks", "places", "points"])
def test_a_small_file_does_not_fill_the_memory(what: str) -> None:
    """A table of blocks times classes is checked for its size before it is made."""
    content = copy.deepcopy(json.loads(genuine("points" if what == "points" else "cover").to_json()))
    content["model"]["classes"] += [str(number) for number in range(9_000)]
    places = content["ledger"]["places"]
    if what == "blocks":
        places["cell|1|0:"] = [[0, 32]] * 60_000
    elif what == "places":
        places |= {f"cell|1|{number}:": [] for number in range(40_000)}
    else:
        content["cloud"]["count"] = 900_000
    forged = resealed(content)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidCertificate):
            verify(forged)
        assert tracemalloc.get_traced_memory()[1] < 400 << 20
    finally:
        tracemalloc.stop()


def test_many_cells_of_a_grid_are_looked_up_at_once() -> None:
    """Each recorded cell is found in a table that is made once, not once for each of them."""
    from tpc_core.verify import case_of

    case = case_of(genuine("grid"))
    assert case.proof.cells_by_place is case.proof.cells_by_place  # type: ignore[attr-defined]


# -- covers of next to no noise ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [1e-16, 1e-18, 1e-19, 1e-30, 1e-300])
@pytest.mark.parametrize("name", ["z-taper", "z-taper+z-rotation", "general-rotation"])
def test_cells_that_shrink_to_nothing_cover_nothing(name: str, sigma: float) -> None:
    """Where first cells have no width, a region has too many of them, never one that stands for all."""
    transform = parse_transform(name)
    points = genuine("cover").cloud.cloud().points.double().numpy()
    rule = CoordinateSmoothing(sigma).rule(transform, points)
    assert isinstance(rule, Cover)
    lattice = Lattice.of(transform, rule, points)
    region = transform.region((0.1,) * len(transform.radii))
    assert lattice.count_first_cells(region) > MOST_FIRST_CELLS
    with pytest.raises(InvalidValue, match="cells"):
        lattice.first_cells(region)


# -- the test itself --------------------------------------------------------------------------------------------------


def _exact_log_e(k: int, n: int, distance: float) -> mpmath.mpf:
    """ln E_n(q) at q = Phi(distance), by quadrature with 50 digits."""
    with mpmath.workdps(50):
        b = mpmath.mpf("0.3")
        q, rest = mpmath.ncdf(mpmath.mpf(distance)), mpmath.ncdf(-mpmath.mpf(distance))
        m = n - k

        def logarithm(u: mpmath.mpf) -> mpmath.mpf:
            return k * mpmath.log1p(-u) + (m + b - 1) * mpmath.log(u)

        mode = min(rest, (m + b - 1) / (n + b - 1))
        width = mpmath.sqrt(mode * (1 - mode) / n)
        near = [mode + step * width * 3 / 2 for step in range(-10, 11)]
        near += [rest - width * 2**step / 20 for step in range(8)]
        knots = sorted({mpmath.mpf(0), rest, *(u for u in near if 0 < u < rest)})
        top = max(logarithm(u) for u in knots[1:])
        area = mpmath.quad(lambda u: mpmath.exp(logarithm(u) - top) if u > 0 else mpmath.mpf(0), knots)
        prior = b * mpmath.log(rest) - mpmath.log(b)
        return top + mpmath.log(area) - prior - k * mpmath.log(q) - m * mpmath.log(rest)


@pytest.mark.parametrize("n", [32, 1_024, 100_000, 10_000_000])
@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0, 2.5, 4.0])
def test_the_evidence_is_never_overstated_however_many_votes_there_are(distance: float, n: int) -> None:
    """Against 50 digits, at a count where a test of level .001 is about to be passed."""
    threshold = Threshold.at(distance)
    low, high = int(n * threshold.q), n - 1
    while high - low > 1:
        middle = (low + high) // 2
        passed = float(log_e(middle, n, threshold.q, threshold.complement)) >= 7
        low, high = (low, middle) if passed else (middle, high)
    for k in (low, high):
        said = float(log_e(k, n, threshold.q, threshold.complement))
        assert said <= float(_exact_log_e(k, n, distance)) + ROUNDING


def test_the_votes_of_a_paper_grid_do_not_go_on_with_another_grid() -> None:
    """Its radius and its resolution are fixed beforehand: another grid would be a second chance at full level."""
    model, cloud, transform, radius, options = QUESTIONS["grid"]()
    for other, changed_options in (
        (radius * (1 + 1e-9), options),
        (radius, replace(options, resolution=3)),
        (radius / 2, options),
    ):
        with pytest.raises(InvalidValue, match="grid"):
            certify(model, cloud, transform, other, changed_options, resume=genuine("grid"))
    assert certify(model, cloud, transform, radius, options, resume=genuine("grid")).verdict == "certified"


def test_options_of_the_default_kind_are_still_accepted() -> None:
    assert Options(resolution=4096).resolution == 4096


# -- the oracle behind `python -m tests.certificate.forge` --------------------------------------------------------


KINDS = list(QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_edits_that_are_accepted_are_carried_by_their_votes(kind: str) -> None:
    assert sum(forge.run(kind, edits=25, seconds=5.0, seed=99).values()) > 0


SURE = [kind for kind in KINDS if genuine(kind).verdict == "certified"]


@pytest.mark.parametrize("kind", [kind for kind in SURE if "group" not in kind and kind != "linear"])
def test_the_oracle_refuses_a_larger_radius(kind: str) -> None:
    content = json.loads(genuine(kind).to_json())
    for name, parameter in zip(
        content["radius"], parse_transform(content["question"]["transform"]).radii, strict=True
    ):
        content["radius"][name] = content["question"]["radius"][name] = parameter.largest_radius
    with pytest.raises(oracle.NotCarried):
        oracle.check(content, np.random.default_rng(0))


@pytest.mark.parametrize("kind", SURE)
def test_the_oracle_refuses_votes_that_prove_nothing(kind: str) -> None:
    content = json.loads(genuine(kind).to_json())
    for place, blocks in content["ledger"]["places"].items():
        if place != "select":
            half = [0, 16, 1, 16]
            blocks[:] = [[half] * len(b) if isinstance(b[0], list) else half for b in blocks]
    with pytest.raises(oracle.NotCarried):
        oracle.check(content, np.random.default_rng(0))


def test_the_oracle_refuses_a_cover_with_a_hole() -> None:
    content = json.loads(genuine("cover").to_json())
    places = [place for place in content["ledger"]["places"] if place.startswith("cell|")]
    del content["ledger"]["places"][max(places, key=len)]
    with pytest.raises(oracle.NotCarried):
        oracle.check(content, np.random.default_rng(0), places=400)


def test_the_oracle_refuses_an_attack_that_is_not_proven() -> None:
    content = json.loads(genuine("cover refuted").to_json())
    content["ledger"]["refutations"][0]["votes"] = [[0, 16, 1, 16]]
    with pytest.raises(oracle.NotCarried):
        oracle.check(content, np.random.default_rng(0))
