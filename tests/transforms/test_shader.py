"""Transforms for a shader; that they are the same maps is seen in a browser (tests/app/browser/test_stage.py)."""

from __future__ import annotations

import pytest

from tpc_core.transforms import CoordinateNoise, all_transforms, parse_transform, shader


@pytest.mark.parametrize("transform", all_transforms(), ids=str)
def test_every_transform_but_noise_has_lines_for_a_shader(transform) -> None:
    lines = shader(transform)
    assert (lines is None) == isinstance(transform, CoordinateNoise)
    if lines is not None:
        assert f"uniform float tpcPose[{transform.dim}]" in lines
        assert "vec3 tpcMove(vec3 p)" in lines


def test_the_last_part_of_a_composition_acts_first_on_its_own_numbers() -> None:
    lines = shader(parse_transform("z-twist+z-shear+general-rotation"))
    assert lines is not None
    body = lines[lines.index("vec3 tpcMove") :]
    assert body.index("tpcPart2") < body.index("tpcPart1") < body.index("tpcPart0")
    assert "z[2] = tpcPose[5]" in body[: body.index("tpcPart2")]
    assert "z[0] = tpcPose[1]" in body[body.index("tpcPart2") : body.index("tpcPart1")]
