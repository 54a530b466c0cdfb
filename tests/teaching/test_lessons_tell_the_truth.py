"""What the lessons show is what the library does: the same votes, the same bounds, the same displacements."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from tpc_core import Cloud, Model, ParameterSmoothing, load_model, load_object, parse_transform
from tpc_core.errors import InvalidValue
from tpc_core.statistics import lower_bound
from tpc_core.teaching import (
    Line,
    answers_along,
    cast_ballots,
    coupled_votes,
    exact_taper_factor,
    guaranteed_share,
    paper_taper_factor,
    pole_share,
    repeat_experiment,
    share_by_angle,
    study_peeking,
    taper_cells,
    taper_gap,
    vote_on_cells,
    worst_set,
)
from tpc_core.transforms import Taper
from tpc_core.votes import Voter

TWIST = parse_transform("z-twist")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def door() -> Cloud:
    return load_object("gallery:door-1", points=64)


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model("pointnet64-noise")


class TestTheLine:
    def test_it_holds_the_answers_of_the_classifier_itself(self, model: Model, door: Cloud) -> None:
        line = answers_along(model.classifier("cpu"), TWIST, door.points, math.radians(120), 17)
        for place, answer in zip(line.places, line.answers, strict=True):
            moved = TWIST.apply(door.points.double(), torch.tensor([place])).float()
            assert int(model.classifier("cpu")(moved[None]).argmax()) == answer

    def test_its_average_is_the_share_that_votes_estimate(self, model: Model, door: Cloud) -> None:
        line = answers_along(model.classifier("cpu"), TWIST, door.points, math.radians(400), 401)
        target, sigma = list(model.classes).index("door"), math.radians(60)
        votes = cast_ballots(model.classifier("cpu"), ParameterSmoothing(TWIST, (sigma,)), door.points, 512)
        share = float(line.share(target, sigma, np.zeros(1))[0])
        assert abs(votes.count(target) / 512 - share) < 4 * math.sqrt(share * (1 - share) / 512) + 0.01

    def test_the_average_of_a_step_is_the_normal_distribution(self) -> None:
        places = np.linspace(-10, 10, 4001)
        line = Line(places, (places < 0.7).astype(np.int64))
        at = np.array([-2.0, 0.0, 1.5])
        assert line.share(1, 1.3, at) == pytest.approx(stats.norm.cdf((0.7 - at) / 1.3), abs=2e-3)

    def test_breaks_come_nearest_first(self) -> None:
        line = Line(np.linspace(-3, 3, 7), np.array([1, 0, 0, 0, 0, 1, 1]))
        assert line.breaks(0).tolist() == [2.0, -3.0, 3.0]

    def test_a_transform_of_two_parameters_is_no_line(self, model: Model, door: Cloud) -> None:
        with pytest.raises(InvalidValue, match="a line has one"):
            answers_along(model.classifier("cpu"), parse_transform("z-shear"), door.points, 1.0, 5)


def test_votes_laid_open_are_the_votes_of_a_voter(model: Model, door: Cloud) -> None:
    smoothing = ParameterSmoothing(TWIST, (1.0,))
    voter = Voter(model, smoothing, seed=3, device=CPU)
    counts = voter.count(door.points, "lesson", 0, 100)
    ballots = cast_ballots(model.classifier("cpu"), smoothing, door.points, 100, seed=3)
    assert len(ballots) == 100
    assert np.bincount(ballots.answers, minlength=len(counts)).tolist() == counts.tolist()


class TestConfidence:
    def test_the_bound_errs_no_more_than_allowed(self) -> None:
        study = repeat_experiment(0.9, 200, 0.1, 20_000, seed=0)
        wrong = int(study.wrong.sum())
        assert stats.binomtest(wrong, 20_000, 0.1, alternative="greater").pvalue > 1e-6
        assert study.error > 0.05  # and it is not idle

    def test_bounds_are_the_librarys(self) -> None:
        study = repeat_experiment(0.8, 50, 0.05, 20, seed=1)
        assert [lower_bound(int(c), 50, 0.05) for c in study.counts] == study.bounds.tolist()

    def test_peeking_exceeds_alpha_and_the_honest_ways_do_not(self) -> None:
        study = study_peeking(0.9, 20, 20, 0.1, runs=2000, seed=0)
        assert (
            stats.binomtest(round(2000 * study.error("peek")), 2000, 0.1, alternative="greater").pvalue < 1e-6
        )
        assert study.error("peek") > 2 * study.alpha
        for honest in ("once", "staged", "anytime"):
            wrong = round(2000 * study.error(honest))
            assert stats.binomtest(wrong, 2000, 0.1, alternative="greater").pvalue > 1e-6

    def test_one_look_is_no_peek(self) -> None:
        study = study_peeking(0.9, 200, 1, 0.1, runs=500, seed=0)
        assert study.error("peek") == study.error("once") == study.error("staged")

    def test_nonsense_is_refused(self) -> None:
        with pytest.raises(InvalidValue):
            study_peeking(1.5, 10, 10, 0.1, 10, 0)
        with pytest.raises(InvalidValue):
            repeat_experiment(0.5, 0, 0.1, 10, 0)


class TestTheWorstCase:
    def test_it_holds_the_mass_before_and_the_guarantee_after(self) -> None:
        for shift in (-0.8, 0.0, 1.1):
            low, high = worst_set(0.9, shift)
            before = stats.norm.cdf(high) - stats.norm.cdf(low)
            after = stats.norm.cdf(high - shift) - stats.norm.cdf(low - shift)
            assert before == pytest.approx(0.9)
            assert after == pytest.approx(float(guaranteed_share(0.9, np.array([shift]))[0]))

    def test_no_measured_share_is_below_the_guarantee(self, model: Model, door: Cloud) -> None:
        line = answers_along(model.classifier("cpu"), TWIST, door.points, math.radians(500), 501)
        target, sigma = list(model.classes).index("door"), math.radians(50)
        at = np.radians(np.linspace(-150, 150, 31))
        share = line.share(target, sigma, at)
        p_a = float(line.share(target, sigma, np.zeros(1))[0])
        assert bool(np.all(share >= guaranteed_share(p_a, at / sigma) - 1e-9))


class TestCells:
    def test_a_taper_moves_the_cloud_by_exactly_the_factor(self, door: Cloud) -> None:
        taper, points = Taper(), door.points.double()
        for a, b in ((0.0, 0.3), (-0.4, 0.1)):
            moved = [taper.apply(points, torch.tensor([v], dtype=torch.float64)) for v in (a, b)]
            assert float((moved[0] - moved[1]).norm()) == pytest.approx(
                (b - a) * exact_taper_factor(door), rel=1e-9
            )
        assert exact_taper_factor(door) < paper_taper_factor(door) == pytest.approx(4.0, rel=1e-3)

    def test_two_tapers_are_not_a_taper(self, door: Cloud) -> None:
        assert taper_gap(door, 0.0, 0.3) == pytest.approx(0.0, abs=1e-12)
        assert taper_gap(door, 0.3, 0.3) > 0.01

    def test_cells_join_without_a_gap_and_reach_their_corners(self, door: Cloud) -> None:
        cells = taper_cells(door, 0.5, 4)
        assert [cell.low for cell in cells[1:]] == [cell.high for cell in cells[:-1]]
        assert (cells[0].low, cells[-1].high) == (-0.5, 0.5)
        taper, points = Taper(), door.points.double()
        for cell in cells:
            tested, corner = (
                taper.apply(points, torch.tensor([v], dtype=torch.float64)) for v in (cell.centre, cell.high)
            )
            assert float((tested - corner).norm()) <= cell.displacement

    def test_more_cells_pass_where_few_fail(self, model: Model) -> None:
        chair = load_object("gallery:chair-1", points=64)
        voter = Voter(model, model.smoothing, seed=0, device=CPU)
        target = list(model.classes).index("chair")
        few, many = (
            vote_on_cells(voter, chair, taper_cells(chair, 0.5, count), target, 0.08, 512, 0.001)
            for count in (2, 6)
        )
        assert not any(cell.passed for cell in few)
        assert all(cell.passed for cell in many)


class TestTurning:
    def test_coupled_votes_agree(self) -> None:
        group, chair = load_model("pointnet64-so3-group"), load_object("gallery:chair-1", points=64)
        before, after = coupled_votes(group, chair, np.array([1.0, 2.0, 0.5]), 1.1, 96)
        assert int(before.sum()) == int(after.sum()) == 96
        assert int(np.abs(before - after).sum()) <= 2  # float32 may tip a draw on the border of two classes

    def test_uniform_turns_keep_the_votes_where_noise_loses_them(self, model: Model) -> None:
        group, plane = load_model("pointnet64-so3-group"), load_object("gallery:airplane-1", points=64)
        axis, angles = np.array([1.0, 1.0, 0.4]), np.radians([0.0, 90.0])
        shares = {}
        for name, loaded in (("noise", model), ("group", group)):
            voter = Voter(loaded, loaded.smoothing, seed=0, device=CPU)
            target = list(loaded.classes).index("airplane")
            shares[name] = share_by_angle(voter, plane, axis, angles, target, 64).shares
        assert abs(shares["group"][0] - shares["group"][1]) < 0.2
        assert shares["noise"][0] - shares["noise"][1] > 0.5

    def test_euler_angles_crowd_the_poles(self) -> None:
        assert pole_share("quaternion", 50_000) == pytest.approx(1 - math.cos(math.radians(30)), abs=0.006)
        assert pole_share("euler", 50_000) == pytest.approx(1 / 3, abs=0.008)
