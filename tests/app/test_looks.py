"""A look at a cloud, the points that decide, and the process that renders stills."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.figures.cameras import plotly_camera
from app.figures.cloud import CloudView
from app.figures.theme import LIGHT
from app.pages.explore.ballot import look, votes_that_fit
from app.server.stills import CannotRender, Renderer, Still, camera_of, obstacle
from app.widgets.stills import still_of
from tpc_core import CoordinateSmoothing
from tpc_core.models import build
from tpc_core.models.critical import critical_counts


def test_a_look_counts_every_vote_and_shows_the_first_draws(sure, cloud) -> None:
    seen = look(sure.classifier(), sure.smoothing, cloud.points, votes=64, shown=5)
    assert seen.votes.tolist() == [64, 0, 0]
    assert seen.draws.shape == (5, 32, 3)
    assert seen.answers == [0] * 5
    assert seen.base.sum() == pytest.approx(1.0)


def test_the_same_look_twice_shows_the_same_noise(sure, cloud) -> None:
    one, two = (look(sure.classifier(), CoordinateSmoothing(0.1), cloud.points) for _ in range(2))
    np.testing.assert_array_equal(one.draws, two.draws)


def test_a_moving_slider_asks_for_fewer_votes() -> None:
    for points in (64, 1024):
        assert votes_that_fit(points, moving=True) < votes_that_fit(points, moving=False)


def test_critical_points_are_all_that_the_network_sees(cloud) -> None:
    torch.manual_seed(0)
    module = build("pointnet", classes=4).eval()
    counts = critical_counts(module, cloud.points)
    assert counts is not None
    assert counts.sum() == 1024
    kept = cloud.points[torch.from_numpy(counts > 0)]
    assert 0 < len(kept) <= len(cloud)
    torch.testing.assert_close(module(kept[None]), module(cloud.points[None]), atol=1e-4, rtol=1e-4)


def test_a_network_without_a_max_pool_has_no_critical_points(cloud) -> None:
    assert critical_counts(torch.nn.Flatten(), cloud.points) is None


def test_a_still_is_a_picture() -> None:
    if reason := obstacle():
        pytest.skip(reason)
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 3))
    renderer = Renderer(timeout=90)
    try:
        picture = renderer.render(Still(points, np.full((50, 3), 0.5), (1.0, -1.0, 0.5), aspect=2.0))
    except CannotRender as error:
        pytest.skip(str(error))
    finally:
        renderer.close()
    assert picture.startswith(b"\x89PNG")


def test_a_worker_that_dies_is_a_sentence_and_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "app.server.stills.obstacle", lambda: None
    )  # as where all that it needs seems to be there
    monkeypatch.setattr("app.server.stills.sys.executable", "/bin/false")
    with pytest.raises(CannotRender, match="apt-get install"):
        Renderer().render(Still(np.zeros((2, 3)), np.zeros((2, 3)), (1.0, 1.0, 1.0)))


@pytest.mark.parametrize("camera", [None, {}, {"eye": {"x": "far"}}, {"eye": {"x": 0, "y": 0, "z": 0}}])
def test_a_camera_that_makes_no_sense_is_the_first_view(camera) -> None:
    seen = camera_of(camera)
    assert np.linalg.norm(np.subtract(seen.eye, seen.centre)) > 0.5


def test_a_still_is_framed_like_the_stage_and_like_plotly() -> None:
    stage = {"eye": {"x": 2.0, "y": 0.0, "z": 0.5}, "center": {"x": 0.1, "y": 0.0, "z": 0.0}}
    seen = camera_of(stage | {"field": 32, "aspect": 1.5})
    assert (seen.eye, seen.centre, seen.field, seen.aspect) == ((2.0, 0.0, 0.5), (0.1, 0.0, 0.0), 32.0, 1.5)
    plotly = plotly_camera(stage | {"field": 32})
    assert plotly is not None
    same = camera_of(plotly)
    # Plotly's field is wider, so the camera stands nearer: what it looks at has the same size in both.
    far = [
        np.linalg.norm(np.subtract(c.eye, c.centre)) * np.tan(np.radians(c.field) / 2) for c in (seen, same)
    ]
    assert far[0] == pytest.approx(far[1])
    assert same.centre == pytest.approx(seen.centre)


@pytest.mark.parametrize("camera", [None, {"eye": 1}, {"eye": {"x": float("nan"), "y": 0, "z": 0}}])
def test_plotly_starts_at_its_own_view_where_the_stage_told_none(camera) -> None:
    assert plotly_camera(camera) is None


@pytest.mark.parametrize("colouring", ["height", "displacement", "parts", "critical"])
def test_a_still_has_the_colours_of_the_picture(colouring) -> None:
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 3))
    view = CloudView(points, points * [1, 1, 1.5], parts=np.arange(40) % 2, critical=np.arange(40) % 3)
    colours = still_of(view, None, LIGHT, colouring).colours
    assert colours.shape == (40, 3)
    assert 0 <= colours.min() <= colours.max() <= 1
    distinct = len(np.unique(colours.round(6), axis=0))
    assert distinct == {"parts": 2, "critical": 3}.get(colouring, distinct)
    assert distinct > 20 or colouring in ("parts", "critical")
