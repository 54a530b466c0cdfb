"""A frame is what a slider changes: the picture, the votes and the draws, and nothing that stayed as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.figures.arrays import unpacked
from app.figures.cloud import MeshView
from app.frames import Setting, frame
from tpc_core import load_shape, parse_transform


@pytest.fixture
def setting(sure) -> Setting:
    return Setting(load_shape("gallery:chair-1"), 512, 32, sure, sure.classifier())


def test_the_original_is_not_sent_again(setting: Setting) -> None:
    parts = frame(setting, parse_transform("z-rotation"), [30.0], moving=True).changes(setting)
    ghost, body = parts["cloud"]["data"]
    assert ghost is None
    assert len(unpacked(body["x"])) == 512
    assert set(parts) == {"cloud", "votes", "draws"}
    bare = replace(setting, ghost=False)
    (only,) = frame(bare, parse_transform("z-rotation"), [30.0], moving=True).changes(bare)["cloud"]["data"]
    assert only is not None


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
    surface = setting.shape.mesh_around(512)
    assert surface is not None
    meshed = replace(setting, surface=MeshView(np.asarray(surface.vertices), np.asarray(surface.faces)))
    turned = frame(meshed, parse_transform("z-rotation"), [90.0], moving=True).view.mesh
    assert turned is not None
    np.testing.assert_allclose(turned.vertices[:, 0], -np.asarray(surface.vertices)[:, 1], atol=1e-6)
    assert frame(meshed, parse_transform("l2"), [0.5], moving=True).view.mesh is None


def test_without_a_model_there_is_still_a_picture(setting: Setting) -> None:
    bare = replace(setting, model=None, classifier=None)
    assert set(frame(bare, parse_transform("z-shear"), [0.1, 0.0], moving=True).changes(bare)) == {"cloud"}
