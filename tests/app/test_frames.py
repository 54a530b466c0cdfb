"""A frame is what a slider changes: what the model says, and what the picture cannot know by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.figures.arrays import unpacked
from app.pages.explore.frames import PLOTLY, STAGE, Setting, changes, frame, scene, stage_parts, view_of
from app.session.pose import moved
from tpc_core import load_shape, parse_transform


@pytest.fixture
def setting(sure) -> Setting:
    return Setting(load_shape("gallery:chair-1"), 512, 32, sure, sure.classifier())


def test_the_stage_is_sent_no_points_while_a_slider_moves(setting: Setting) -> None:
    parts = changes(setting, parse_transform("z-rotation"), [30.0])
    assert parts[STAGE] == {}
    assert set(parts) == {STAGE, "votes", "draws"}


def test_noise_has_no_shader_so_its_points_are_sent(setting: Setting) -> None:
    noise = parse_transform("l2")
    parts = changes(setting, noise, [0.5])
    served = unpacked(parts[STAGE]["served"]).reshape(-1, 3)
    np.testing.assert_allclose(served, moved(noise, [0.5], setting.shape.cloud(512).points), atol=1e-6)


def test_plotly_is_not_sent_the_original_again(setting: Setting) -> None:
    drawn = replace(setting, plotly=True)
    ghost, surface, body = changes(drawn, parse_transform("z-rotation"), [30.0])[PLOTLY]["data"]
    assert ghost is None
    assert surface["type"] == "mesh3d"
    assert len(unpacked(body["x"])) == 512


def test_the_same_object_is_the_same_scene_and_another_size_is_not(setting: Setting) -> None:
    assert scene(setting) == scene(replace(setting, colouring="critical", ghost=False))
    assert scene(setting)["digest"] != scene(replace(setting, count=256))["digest"]
    assert len(unpacked(scene(setting)["points"])) == 3 * 512


def test_every_point_that_the_model_sees_is_in_the_picture(setting: Setting) -> None:
    assert len(unpacked(scene(replace(setting, count=16))["points"])) == 3 * 32


def test_only_points_that_the_model_is_shown_can_be_critical() -> None:
    from tpc_core import load_model

    model = load_model("pointnet64-noise")
    setting = Setting(load_shape("gallery:chair-1"), 512, 64, model, model.classifier(), colouring="critical")
    weights = unpacked(stage_parts(setting, parse_transform("z-twist"), [20.0])["weights"])
    assert len(weights) == 512
    assert weights[:64].sum() > 0
    assert weights[64:].sum() == 0


def test_the_votes_are_about_the_moved_cloud(setting: Setting) -> None:
    rule = replace(setting.model, height=0.5)
    tall = replace(setting, model=rule, classifier=rule.classifier())
    still = frame(tall, parse_transform("z-taper"), [0.0], moving=False)
    assert still.votes is not None
    assert still.votes["base"]["says"] == "b"  # a chair is taller than 0.5 ...
    flat = frame(tall, parse_transform("linear"), [0.0] * 8 + [-0.9], moving=False)
    assert flat.votes is not None
    assert flat.votes["base"]["says"] == "a"  # ... until it is pressed flat


def test_a_resting_slider_has_a_closer_look(setting: Setting) -> None:
    counts = [
        int(frame(setting, parse_transform("z-twist"), [5.0], moving=moving).ballot.votes.sum())  # type: ignore[union-attr]
        for moving in (True, False)
    ]
    assert counts[0] < counts[1]


def test_a_mesh_moves_with_the_transform_and_noise_moves_points_only(setting: Setting) -> None:
    view = view_of(setting, parse_transform("z-rotation"), [90.0])
    assert view.mesh is not None
    assert view.original_mesh is not None
    assert setting.mesh is not None
    assert len(view.mesh.faces) > 5 * len(setting.mesh.faces)  # small enough to bend
    np.testing.assert_allclose(view.mesh.vertices[:, 0], -view.original_mesh.vertices[:, 1], atol=1e-6)
    assert view_of(setting, parse_transform("l2"), [0.5]).mesh is None
    assert view_of(replace(setting, surface=False), parse_transform("z-rotation"), [90.0]).mesh is None


def test_without_a_model_there_is_still_a_picture(setting: Setting) -> None:
    bare = replace(setting, model=None, classifier=None)
    assert set(changes(bare, parse_transform("z-shear"), [0.1, 0.0])) == {STAGE}
