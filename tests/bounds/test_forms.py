"""No parameter of a cell leaves its affine form or its box: in float64, and in real numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tpc_core.errors import UnsupportedRequest
from tpc_core.transforms import CoordinateNoise, Transform, all_transforms, parse_transform
from tpc_core.transforms import rotation as rotation_module
from tpc_core.transforms.forms import Form, InputForm, constant, parameter_forms, turn

MIXED = ("z-taper+x-rotation", "z-shear+x-twist", "general-rotation+y-taper", "linear+zyx-rotation")
MOVES = [t for t in all_transforms() if not isinstance(t, CoordinateNoise)] + [
    parse_transform(n) for n in MIXED
]
SIZES = {"taper": 0.9, "twist": 6.0, "shear": 1.0, "linear": 0.5, "zyx": 1.5, "rotation": 3.1}
seeds = st.integers(0, 2**32 - 1)


def sizes(transform: Transform) -> np.ndarray:
    """The largest parameters that are tried, coordinate by coordinate."""
    parts = [parse_transform(name) for name in transform.name.split("+")]
    return np.concatenate(
        [np.full(p.dim, next(size for word, size in SIZES.items() if word in p.name)) for p in parts]
    )


def cells(
    transform: Transform, rng: np.random.Generator, count: int = 4
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cells of all widths, from a hair to a tenth of the range, some of them flat along an axis."""
    largest = sizes(transform)
    middle = rng.uniform(-largest, largest, (count, len(largest))) * rng.choice([0.0, 0.1, 1.0], (count, 1))
    half = (
        largest * 10.0 ** rng.uniform(-9, -1, (count, 1)) * rng.choice([0.0, 0.3, 1.0], (count, len(largest)))
    )
    return torch.from_numpy(middle - half), torch.from_numpy(middle + half)


def places(low: torch.Tensor, high: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Parameters of every cell: corners, points of edges and faces, random ones; (T, M, d)."""
    count, dim = low.shape
    shares = rng.uniform(0, 1, (120, count, dim))
    edges = np.where(rng.random(shares.shape) < 0.7, rng.integers(0, 2, shares.shape), shares)
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=dim)))[:64]
    every = np.concatenate([shares, edges, np.repeat(corners[:, None], count, axis=1)])
    z = low + torch.from_numpy(every) * (high - low)
    return torch.minimum(torch.maximum(z, low), high)


def cloud(rng: np.random.Generator, points: int = 6) -> torch.Tensor:
    """A cloud in the unit ball, as float32 numbers, with points on the axes and at the origin."""
    p = rng.normal(size=(points, 3)) * rng.choice([1e-3, 0.4, 1.0], size=(points, 3))
    p[0], p[1] = 0.0, [0.0, 0.0, 1.0]
    return torch.from_numpy(p / max(1.0, np.linalg.norm(p, axis=1).max())).float()


def escape(
    form: InputForm, low: torch.Tensor, high: torch.Tensor, z: torch.Tensor, moved: torch.Tensor
) -> float:
    """By how much the clouds (T, M, N, 3) at z leave the form, in units of 1e-16; not at all where <= 0."""
    half = torch.where(high > low, (high - low) / 2, torch.ones_like(low))
    eps = ((z - (low + high) / 2) / half).clamp(-1, 1)
    first = form.centre + torch.einsum("tmd,mdnk->tmnk", eps, form.generators)
    return float(((moved - first).abs() - form.error).max()) / 1e-16


@pytest.mark.parametrize("transform", MOVES, ids=str)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_no_parameter_of_a_cell_leaves_its_form_or_its_box(transform: Transform, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = cloud(rng)
    low, high = cells(transform, rng)
    form = transform.form(points, low, high)
    z = places(low, high, rng)
    moved = transform.apply(points.double(), z)
    assert escape(form, low, high, z, moved) <= 0
    lower, upper = form.box
    assert bool(((moved >= lower) & (moved <= upper)).all())


@pytest.mark.parametrize("name", ["z-rotation", "x-twist", "y-taper", "general-rotation", "zyx-rotation"])
def test_forms_grow_like_the_square_of_the_cell(name: str) -> None:
    """Halving a cell takes the error down fourfold (to nothing for a taper): that is what makes the search pay."""
    transform = parse_transform(name)
    points = cloud(np.random.default_rng(5))
    middle = torch.full((1, transform.dim), 0.3, dtype=torch.float64)
    errors = [
        float(transform.form(points, middle - half, middle + half).error.max()) for half in (1e-3, 5e-4)
    ]
    assert errors[1] < 1e-12 if name == "y-taper" else errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def _real_turn(x: mpmath.mpf, y: mpmath.mpf, angle: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    c, s = mpmath.cos(angle), mpmath.sin(angle)
    return c * x - s * y, s * x + c * y


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_forms_hold_the_real_numbers_not_only_what_float64_makes_of_them(seed: int) -> None:
    """Twist, taper and rotation at once, at 50 digits, in cells so small that rounding is all that there is."""
    rng = np.random.default_rng(seed)
    transform = parse_transform("z-twist+z-taper+z-rotation")
    points = cloud(rng)
    low, high = cells(transform, rng, count=1)
    form = transform.form(points, low, high)
    with mpmath.workdps(50):
        for z in places(low, high, rng)[::40, 0]:
            twist, taper, angle = (mpmath.mpf(float(v)) for v in z)
            eps = [
                (mpmath.mpf(float(v)) - (mpmath.mpf(float(a)) + mpmath.mpf(float(b))) / 2)
                * (2 / (mpmath.mpf(float(b)) - mpmath.mpf(float(a))) if b > a else 0)
                for v, a, b in zip(z, low[0], high[0], strict=True)
            ]
            for n, point in enumerate(points):
                x, y, h = (mpmath.mpf(float(v)) for v in point)
                x, y = _real_turn(x, y, angle)
                x, y = x * (1 + taper * h), y * (1 + taper * h)
                x, y = _real_turn(x, y, twist * h)
                for k, value in enumerate((x, y, h)):
                    first = mpmath.mpf(float(form.centre[0, n, k])) + sum(
                        e * mpmath.mpf(float(g))
                        for e, g in zip(eps, form.generators[0, :, n, k], strict=True)
                    )
                    assert abs(value - first) <= mpmath.mpf(float(form.error[0, n, k]))


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_sums_products_and_turns_hold_their_members(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def some() -> Form:
        return Form(
            torch.from_numpy(rng.normal(size=(3, 5))),
            torch.from_numpy(rng.normal(size=(3, 2, 5)) * 10.0 ** rng.uniform(-6, 0)),
            torch.from_numpy(rng.uniform(0, 10.0 ** rng.uniform(-9, 0), size=(3, 5))),
        )

    a, b, angle = some(), some(), some()
    eps = torch.from_numpy(np.where(rng.random((400, 3, 2)) < 0.5, rng.choice([-1, 1], (400, 3, 2)), 0.3))

    def member(form: Form) -> torch.Tensor:
        rest = torch.from_numpy(rng.choice([-1.0, 0.0, 1.0], (400, *form.error.shape))) * form.error
        return form.centre + torch.einsum("tmd,mdn->tmn", eps, form.generators) + rest

    x, y, t = member(a), member(b), member(angle)
    u, v = turn(a, b, angle)
    pairs = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a * b + 1.0, x * y + 1)]
    pairs += [(u, t.cos() * x - t.sin() * y), (v, t.sin() * x + t.cos() * y)]
    for form, value in pairs:
        first = form.centre + torch.einsum("tmd,mdn->tmn", eps, form.generators)
        assert bool(((value - first).abs() <= form.error + 1e-13 * (1 + value.abs())).all())


def test_a_form_of_nothing_free_is_the_point() -> None:
    low = torch.tensor([[0.25]], dtype=torch.float64)
    (z,) = parameter_forms(low, low)
    assert float(z.radius) < 1e-299
    assert float((constant(torch.ones(3), 1) * z).radius.max()) < 1e-13


def test_the_noise_ball_holds_every_move_of_its_points_and_l2_is_refused() -> None:
    rng = np.random.default_rng(1)
    points = cloud(rng)
    form = CoordinateNoise("linf").ball_form(points, 0.01)
    z = torch.from_numpy(rng.choice([-0.01, 0.003, 0.01], (300, 18)))
    moved = CoordinateNoise("linf").apply(points.double(), z)
    lower, upper = form.box
    assert bool(((moved >= lower) & (moved <= upper)).all())
    assert float((upper - lower).max()) < 0.02 * (1 + 1e-12) + 1e-14
    with pytest.raises(UnsupportedRequest, match="linf"):
        CoordinateNoise("l2").ball_form(points, 0.01)


def test_a_rotation_of_a_point_at_distance_one_errs_by_a_quarter_of_the_squared_angle() -> None:
    """The enclosure is not merely safe: along x the cosine's own sag, halved by centring, and nothing else."""
    k = math.radians(1)
    point = torch.tensor([[1.0, 0.0, 0.0]])
    half = torch.tensor([[k]], dtype=torch.float64)
    form = parse_transform("z-rotation").form(point, -half, half)
    assert float(form.error[0, 0, 0]) == pytest.approx(k**2 / 4, rel=1e-3)
    assert float(form.error[0, 0, 1]) == pytest.approx(k**3 / 6, rel=1e-3)


# Falsified enclosures, each caught by what the sound one passes.


def flipped_sag(u: Form, v: Form, angle: Form) -> tuple[Form, Form]:
    """The sign of the second-order term flipped: the centre moves outwards where it must move inwards."""
    x, y = turn(u, v, angle)
    sag = angle.radius.square() / 2
    return Form(x.centre * (1 + sag), x.generators, x.error), Form(
        y.centre * (1 + sag), y.generators, y.error
    )


def shrunk_by_a_hair(u: Form, v: Form, angle: Form) -> tuple[Form, Form]:
    """Every error a thousandth too small."""
    x, y = turn(u, v, angle)
    return Form(x.centre, x.generators, 0.999 * x.error), Form(y.centre, y.generators, 0.999 * y.error)


def flipped_generator(u: Form, v: Form, angle: Form) -> tuple[Form, Form]:
    """One generator points the wrong way."""
    x, y = turn(u, v, angle)
    return Form(x.centre, -x.generators, x.error), y


def no_room_for_rounding(u: Form, v: Form, angle: Form) -> tuple[Form, Form]:
    """No error at all, as if float64 were real numbers; seen in cells of no width."""
    x, y = turn(u, v, angle)
    return Form(x.centre, x.generators, 0 * x.error), Form(y.centre, y.generators, 0 * y.error)


@pytest.mark.parametrize(
    ("false", "half"),
    [(flipped_sag, 0.01), (shrunk_by_a_hair, 0.01), (flipped_generator, 0.01), (no_room_for_rounding, 1e-6)],
)
def test_a_falsified_enclosure_is_caught(
    false: Callable[[Form, Form, Form], tuple[Form, Form]], half: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotation = parse_transform("z-rotation")
    points = torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 1.0, 0.5]])
    low = torch.tensor([[0.0], [0.5]], dtype=torch.float64) - half
    high = low + 2 * half
    z = places(low, high, np.random.default_rng(0))
    moved = rotation.apply(points.double(), z)
    assert escape(rotation.form(points, low, high), low, high, z, moved) <= 0
    monkeypatch.setattr(rotation_module, "turn", false)
    assert escape(rotation.form(points, low, high), low, high, z, moved) > 0
