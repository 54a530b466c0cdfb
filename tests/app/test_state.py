"""The pose remembers: a drag is one step, undo and redo are inverse, and nothing leaves its range."""

from __future__ import annotations

import pytest
import torch

from app.session.pose import (
    Pose,
    Poser,
    has_axis,
    kinds,
    kinds_and_axis,
    moved,
    order_in_words,
    parsed,
    preset_values,
    transform_name,
    within,
)
from tpc_core import TpcError, all_transforms, parse_transform


def test_a_drag_is_one_step_of_history() -> None:
    poser = Poser()
    for angle in (1.0, 2.0, 3.0, 4.0):
        poser.drag([angle])
    assert poser.moving
    poser.rest()
    assert not poser.moving
    assert poser.past == [Pose("z-rotation", (0.0,))]
    poser.undo()
    assert poser.pose.values == (0.0,)
    poser.redo()
    assert poser.pose.values == (4.0,)


def test_a_drag_that_ends_where_it_began_is_no_step() -> None:
    poser = Poser()
    poser.drag([5.0])
    poser.drag([0.0])
    poser.rest()
    assert poser.past == []


def test_a_button_in_the_middle_of_a_drag_loses_no_step() -> None:
    poser = Poser()
    poser.drag([5.0])
    poser.reset()
    poser.undo()
    assert poser.pose.values == (5.0,)
    poser.undo()
    assert poser.pose.values == (0.0,)


def test_sliders_follow_only_what_they_did_not_do_themselves() -> None:
    poser = Poser()
    poser.drag([5.0])
    poser.rest()
    assert poser.epoch == 0
    poser.reset()
    assert poser.epoch == 1
    poser.undo()
    assert (poser.epoch, poser.pose.values) == (2, (5.0,))


def test_a_new_step_ends_the_future() -> None:
    poser = Poser()
    poser.drag([5.0])
    poser.undo()
    poser.drag([7.0])
    poser.redo()
    assert poser.pose.values == (7.0,)


def test_values_from_a_browser_are_kept_in_range() -> None:
    parameters = parse_transform("z-taper").parameters
    assert within(parameters, [99.0]) == (parameters[0].high,)
    poser = Poser(Pose.identity("z-taper"))
    poser.drag([-99.0])
    assert poser.pose.values == (parameters[0].low,)


@pytest.mark.parametrize("name", [transform.name for transform in all_transforms()])
def test_names_fall_apart_into_kinds_and_an_axis_and_back(name: str) -> None:
    chosen, axis = kinds_and_axis(name)
    assert transform_name(chosen, axis) == name
    assert set(chosen) <= set(kinds())


def test_kinds_hold_every_transform_of_the_library() -> None:
    assert {"rotation", "general-rotation", "zyx-rotation", "shear", "twist", "taper", "linear", "l2"} <= set(
        kinds()
    )
    assert has_axis("taper")
    assert not has_axis("linear")


def test_the_last_part_of_a_composition_acts_first() -> None:
    assert order_in_words(parse_transform("z-twist+z-rotation")) == "first z-rotation, then z-twist"
    assert order_in_words(parse_transform("z-twist")) == ""


def test_what_cannot_be_composed_is_an_error_and_not_a_crash() -> None:
    assert isinstance(parsed("l2+z-twist"), TpcError)


@pytest.mark.parametrize("name", [transform.name for transform in all_transforms()])
def test_the_identity_moves_nothing_and_presets_move_something(name: str, cloud) -> None:
    transform = parse_transform(name)
    still = moved(transform, Pose.identity(name).values, cloud.points)
    torch.testing.assert_close(still, cloud.points, atol=1e-6, rtol=0)
    for radius in transform.paper_radii:
        assert (
            moved(transform, preset_values(transform, radius), cloud.points) - cloud.points
        ).abs().max() > 1e-4


def test_noise_keeps_its_direction_while_its_size_moves(cloud) -> None:
    noise = parse_transform("l2")
    one = moved(noise, [1.0], cloud.points) - cloud.points
    half = moved(noise, [0.5], cloud.points) - cloud.points
    torch.testing.assert_close(half, one / 2, atol=1e-6, rtol=0)
    assert float(one.norm()) == pytest.approx(1.0, abs=1e-4)
