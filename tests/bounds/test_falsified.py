"""Every kind of form and every step of a bound, falsified in one place, is caught by what the sound one passes.

A row of the table names what is wrong, where the words stand and what they become, and the promise that is broken by
it (`promises.py`): on small random networks and on clouds, by corners, random members and gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import pytest

from tests.bounds.falsify import rewrite
from tests.bounds.promises import (
    PART_SUMS,
    REALS,
    STEPS,
    SUMS,
    Promise,
    backward_margins_hold,
    backward_rounding_holds,
    ball_lines_hold,
    balls_hold,
    boxes_hold_the_region,
    form_of,
    forward_margins_hold,
    holes_are_seen,
    parts_hold,
    searches_cover,
    tiny_boxes_hold,
)
from tpc_core.bounds import affine, backward, ball, margins, segments
from tpc_core.bounds.backward import Descent
from tpc_core.exact import cells as cell_edges
from tpc_core.exact.cells import Cells
from tpc_core.transforms import (
    Ball,
    Box,
    composition,
    forms,
    general_rotation,
    linear,
    noise,
    rotation,
    shear,
    taper,
    twist,
    zyx_rotation,
)
from tpc_core.transforms.forms import InputForm


@dataclass(frozen=True)
class Falsehood:
    """What is wrong, in whose words, and the promise that it breaks."""

    what: str
    owner: ModuleType | type
    function: str
    old: str
    new: str
    breaks: Promise

    def __str__(self) -> str:
        return self.what.replace(" ", "-")


def falsehoods(
    owner: ModuleType | type, function: str, breaks: Promise, rows: list[tuple[str, str, str]]
) -> list[Falsehood]:
    """Rows (what is wrong, the words, what they become) about one function."""
    return [Falsehood(what, owner, function, old, new, breaks) for what, old, new in rows]


FALSE = [
    # Sums and products of forms, of which every transform is written.
    *falsehoods(
        forms.Form,
        "__add__",
        SUMS,
        [
            ("a sum forgets an error", "self.error + other.error", "self.error"),
            ("a sum forgets a generator", "self.generators + other", "0 * self.generators + other"),
        ],
    ),
    *falsehoods(
        forms.Form,
        "__neg__",
        SUMS,
        [
            ("a difference keeps the sign of a generator", "-self.generators", "self.generators"),
        ],
    ),
    *falsehoods(
        forms.Form,
        "__mul__",
        SUMS,
        [
            ("a product forgets what both deviate", " + self.radius * other.radius", ""),
            ("a product forgets an error", "self.centre.abs() * other.error + ", ""),
            (
                "a sign flipped in a product's error",
                "self.centre.abs() * other.error",
                "self.centre * other.error",
            ),
            (
                "a sign flipped in a product's generators",
                "+ other.centre.unsqueeze(1)",
                "- other.centre.unsqueeze(1)",
            ),
        ],
    ),
    *falsehoods(
        forms.Form,
        "radius",
        SUMS,
        [
            (
                "a radius forgets the error",
                "self.generators.abs().sum(dim=1) + self.error",
                "self.generators.abs().sum(dim=1)",
            ),
            (
                "a radius adds generators with their signs",
                "self.generators.abs().sum(dim=1)",
                "self.generators.sum(dim=1).abs()",
            ),
        ],
    ),
    *falsehoods(
        forms,
        "parameter_forms",
        form_of("z-rotation"),
        [
            ("a cell shrunk by a hair", "* UPWARDS + TINY", "* 0.9999"),
        ],
    ),
    *falsehoods(
        InputForm,
        "box",
        form_of("z-rotation"),
        [
            (
                "a box forgets the error",
                "self.generators.abs().sum(dim=1) + self.error",
                "self.generators.abs().sum(dim=1)",
            ),
        ],
    ),
    # Turns.
    *falsehoods(
        forms,
        "turn",
        form_of("z-rotation"),
        [
            ("the sag of a turn has the wrong sign", "here - sagging", "here + sagging"),
            ("the sag of a turn shrunk by a hair", "k.square() / 4", "k.square() / 4.02"),
            ("a turn forgets its third order", " + k**3 / 6", ""),
        ],
    ),
    *falsehoods(
        forms,
        "turn",
        form_of("x-rotation"),
        [
            ("a sign flipped in a turn's slope", "(x, y, cos, -sin, -y)", "(x, y, cos, -sin, y)"),
        ],
    ),
    *falsehoods(
        forms,
        "turn",
        SUMS,
        [
            ("a turn forgets that its point may deviate", "            + apart\n", ""),
            ("a turn forgets the error of its angle", "angle.error + k**3", "k**3"),
            ("a turn forgets the error of its point", "along_u.abs() * u.error\n            + ", ""),
            ("a turn takes an error with its sign", "along_v.abs() * v.error", "along_v * v.error"),
        ],
    ),
    # Transforms.
    *falsehoods(
        rotation.Rotation,
        "enclose",
        form_of("y-rotation"),
        [
            ("a rotation the other way", "turn(u, v, z[0])", "turn(u, v, -z[0])"),
        ],
    ),
    *falsehoods(
        twist.Twist,
        "enclose",
        form_of("x-twist"),
        [
            ("a twist that does not grow with height", "z[0] * h", "z[0]"),
        ],
    ),
    *falsehoods(
        taper.Taper,
        "enclose",
        form_of("z-taper"),
        [
            ("a taper that forgets one side", "v * scale", "v"),
        ],
    ),
    *falsehoods(
        taper.Taper,
        "enclose",
        form_of("y-taper"),
        [
            ("a taper of the wrong sign", "z[0] * h + 1.0", "-z[0] * h + 1.0"),
        ],
    ),
    *falsehoods(
        shear.Shear,
        "enclose",
        form_of("z-shear"),
        [
            ("a shear with one parameter for both sides", "z[1] * h", "z[0] * h"),
        ],
    ),
    *falsehoods(
        linear.Linear,
        "enclose",
        form_of("linear"),
        [
            ("a linear map transposed", "z[3 * i + 1] * y", "z[i + 3] * y"),
        ],
    ),
    *falsehoods(
        zyx_rotation.ZYXRotation,
        "enclose",
        form_of("zyx-rotation"),
        [
            ("turns in another order", "turn(x, y, z[0])", "turn(x, y, z[1])"),
        ],
    ),
    *falsehoods(
        composition.Composition,
        "enclose",
        form_of("z-taper+x-taper"),
        [
            (
                "a composition that forgets to go from the last to the first",
                "reversed(self.parts)",
                "reversed(self.parts[::-1])",
            ),
            ("a composition that reads another's parameters", "stop -= part.dim", "stop -= 0"),
        ],
    ),
    *falsehoods(
        general_rotation.GeneralRotation,
        "enclose",
        form_of("general-rotation"),
        [
            ("any rotation shrunk by a hair", "away.square() / 2", "away.square() / 2.02"),
            ("any rotation forgets its second order", "length * away.square() / 2 + ", ""),
        ],
    ),
    *falsehoods(
        general_rotation.GeneralRotation,
        "enclose",
        form_of("general-rotation+y-taper"),
        [
            ("any rotation forgets that its point may deviate", " + loose * torch.clamp(away, max=2.0)", ""),
        ],
    ),
    *falsehoods(
        general_rotation.GeneralRotation,
        "enclose",
        form_of("general-rotation"),
        [
            ("any rotation forgets how its axis turns", "left_jacobian(w) @ torch", "torch"),
            ("any rotation the other way", "turned.unsqueeze(1), dim=2)", "-turned.unsqueeze(1), dim=2)"),
        ],
    ),
    *falsehoods(
        noise.CoordinateNoise,
        "ball_form",
        tiny_boxes_hold,
        [
            ("a ball shrunk by a hair", "radius) * UPWARDS", "radius) * 0.9999"),
            ("a ball without room for the rounding of a sum", " + 4 * 2.0**-53 * centre.abs()", ""),
        ],
    ),
    # Layers.
    *falsehoods(
        affine,
        "through",
        STEPS,
        [
            (
                "a layer takes its error with the signs of its weights",
                "error, layer.absolute",
                "error, layer.weight",
            ),
            ("a layer takes its bias with the wrong sign", "out[0] += layer.bias", "out[0] -= layer.bias"),
        ],
    ),
    *falsehoods(
        affine.Rows,
        "ends",
        STEPS,
        [
            ("ends without the error", "self.reach() + self.error", "self.reach()"),
        ],
    ),
    *falsehoods(
        affine.Rows,
        "reach",
        STEPS,
        [
            (
                "generators added with their signs",
                "generators.abs().sum(dim=0)",
                "generators.sum(dim=0).abs()",
            ),
        ],
    ),
    *falsehoods(
        affine,
        "relu",
        STEPS,
        [
            (
                "a sign flipped where the lower line of a ReLU is laid",
                "torch.relu(kink - error)",
                "torch.relu(kink + error)",
            ),
            (
                "the upper line of a ReLU lowered by a hair",
                "top = torch.maximum(",
                "top = 0.999 * torch.maximum(",
            ),
            ("a ReLU about another centre", "linear[0] += (top + bottom) / 2", "linear[0] += top"),
            ("the error of a ReLU shrunk by a hair", "((top - bottom) / 2)", "((top - bottom) / 2.001)"),
        ],
    ),
    *falsehoods(
        affine,
        "_max",
        STEPS,
        [
            ("a max forgets another point's error", "    above += error\n", ""),
            ("a max forgets its own error", "above.amax(dim=1) + own", "above.amax(dim=1)"),
            (
                "a max takes a difference of generators with its sign",
                "above += generator.abs_()",
                "above += generator",
            ),
            (
                "a max takes the lowest of the upper ends",
                "most = upper.amax(dim=1)",
                "most = upper.amin(dim=1)",
            ),
            ("a max halves what is above it", "half = excess / 2", "half = excess / 4"),
        ],
    ),
    *falsehoods(
        affine._Single,
        "of",
        STEPS,
        [
            ("float32 taken for real numbers", ".add_(reach, alpha=2 * lost)", ""),
        ],
    ),
    # Margins, forward and backward.
    *falsehoods(
        margins,
        "margin_rows",
        forward_margins_hold,
        [
            (
                "a margin with a bias of the wrong sign",
                "output.bias[label] - output.bias[rivals]\n",
                "output.bias[rivals] - output.bias[label]\n",
            ),
            (
                "a margin takes its error with signs",
                "features.error @ weight.abs()",
                "features.error @ weight",
            ),
        ],
    ),
    *falsehoods(
        Descent,
        "through_relu",
        backward_margins_hold,
        [
            (
                "a backward ReLU exchanges its lines",
                "(helps * ends.below).addcmul_(hurts, ends.above)",
                "(helps * ends.above).addcmul_(hurts, ends.below)",
            ),
            ("a backward ReLU adds what it costs", "self.add(_total(cost),", "self.add(-_total(cost),"),
        ],
    ),
    *falsehoods(
        backward,
        "relu_ends",
        backward_margins_hold,
        [
            ("a rise of half the height", "    rise.add_(size", "    rise.mul_(0.5).add_(size"),
        ],
    ),
    *falsehoods(
        Descent,
        "through_layer",
        backward_margins_hold,
        [
            (
                "a backward layer with a bias of the wrong sign",
                "self.add(_total(self.coefficients @ layer.bias)",
                "self.add(-_total(self.coefficients @ layer.bias)",
            ),
        ],
    ),
    *falsehoods(
        Descent,
        "through_max",
        backward_margins_hold,
        [
            (
                "a backward max forgets the excess",
                "self.add(costs.sum(dim=2)",
                "self.add(0 * costs.sum(dim=2)",
            ),
            (
                "a backward max with a bias of the wrong sign",
                "self.add(kept @ layer.bias",
                "self.add(-kept @ layer.bias",
            ),
        ],
    ),
    *falsehoods(
        Descent,
        "at_forms",
        backward_margins_hold,
        [
            ("a backward bound at the upper end", "self.constant - reach", "self.constant + reach"),
            (
                "a backward bound forgets the input's error",
                "(absolute @ error.unsqueeze(2)).squeeze(2) + lost",
                "lost",
            ),
            (
                "a backward bound adds slopes with their signs",
                "slopes.abs().sum(dim=2)",
                "slopes.sum(dim=2).abs()",
            ),
        ],
    ),
    *falsehoods(
        Descent,
        "at_forms",
        backward_rounding_holds,
        [
            (
                "a backward pass without room for rounding",
                "self.loss + size * (4 * (terms + 32) * UNIT)",
                "torch.zeros_like(self.loss)",
            ),
        ],
    ),
    # Parts.
    *falsehoods(
        segments,
        "_sum",
        PART_SUMS,
        [
            ("parts forget what is shared", "+ shared.error.view(", "+ 0 * shared.error.view("),
            ("parts forget their own error", "own.error.view(cells, count, width) + ", ""),
            (
                "parts lose the form of what is shared",
                "+ shared.linear.view(",
                "+ 0.999 * shared.linear.view(",
            ),
        ],
    ),
    *falsehoods(
        segments,
        "point_margins",
        parts_hold,
        [
            (
                "parts look at their first rival only",
                "margins.ends()[0].min(dim=1)",
                "margins.ends()[0][:, :1].min(dim=1)",
            ),
        ],
    ),
    # Balls.
    *falsehoods(
        ball,
        "_own_rows",
        balls_hold,
        [
            (
                "a ball's points forget one coordinate",
                "torch.diag_embed(error)",
                "torch.diag_embed(error * torch.tensor([1.0, 1.0, 0.0]))",
            ),
        ],
    ),
    *falsehoods(
        ball,
        "_max_ends",
        ball_lines_hold,
        [
            (
                "a max over a ball's points takes the lowest upper end",
                "upper.amax(dim=0, keepdim=True)",
                "upper.amin(dim=0, keepdim=True)",
            ),
        ],
    ),
    *falsehoods(
        ball,
        "pool_lines",
        ball_lines_hold,
        [
            ("a ball's upper line lowered by a hair", "rise.add_(size, alpha=ROUNDING)", "0.99 * rise"),
        ],
    ),
    *falsehoods(
        ball,
        "_through_pool",
        balls_hold,
        [
            (
                "a ball forgets what its max costs",
                "descent.add(hurts @ pool.rise,",
                "descent.add(0 * (hurts @ pool.rise),",
            ),
            (
                "a ball exchanges the lines of its max",
                "helps * share, hurts * pool.slope",
                "hurts * share, helps * pool.slope",
            ),
        ],
    ),
    *falsehoods(
        ball,
        "_sharpened",
        balls_hold,
        [
            (
                "a ball's upper ends with the wrong sign",
                "torch.minimum(upper[0, unsure], -found[1])",
                "torch.minimum(upper[0, unsure], found[1])",
            ),
        ],
    ),
    *falsehoods(
        ball,
        "_margin_start",
        ball_lines_hold,
        [
            (
                "a ball's margin with a bias of the wrong sign",
                "(output.bias[label] - output.bias[rivals])",
                "(output.bias[rivals] - output.bias[label])",
            ),
        ],
    ),
    # Regions and cells.
    *falsehoods(
        Ball,
        "trim",
        boxes_hold_the_region,
        [
            ("a region of a ball trimmed by a hair", "+ 1e-14)", "- 1e-3)"),
            (
                "a ball trimmed with the farthest in place of the nearest",
                "np.clip(0.0, low, high)",
                "np.maximum(np.abs(low), np.abs(high))",
            ),
        ],
    ),
    *falsehoods(
        Box,
        "trim",
        boxes_hold_the_region,
        [
            (
                "a box trimmed by a hair",
                "np.minimum(high, self.half_widths)",
                "np.minimum(high, 0.9999 * self.half_widths)",
            ),
        ],
    ),
    *falsehoods(
        Cells,
        "fractions",
        boxes_hold_the_region,
        [
            ("upper edges one part too low", "(self.indices + 1) * size", "(self.indices + 0.999) * size"),
        ],
    ),
    *falsehoods(
        cell_edges,
        "gaps",
        holes_are_seen,
        [
            ("a cell left out is not missed", "found.append(part)", "pass"),
        ],
    ),
    *falsehoods(
        Cells,
        "halved",
        searches_cover,
        [
            (
                "a search that drops a cell",
                "np.concatenate([indices, upper])",
                "np.concatenate([indices, indices])",
            ),
        ],
    ),
    *falsehoods(
        Cells,
        "meets",
        searches_cover,
        [
            (
                "a search that forgets the cells behind the worst",
                "*self.edges(region))",
                "*self.edges(region)) & (np.arange(len(self)) > 0)",
            ),
        ],
    ),
]

PROMISES = list(dict.fromkeys(false.breaks for false in FALSE if "form_of" not in false.breaks.__qualname__))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_the_sound_bounds_keep_the_promise(promise: Promise) -> None:
    assert promise()


@pytest.mark.parametrize("name", sorted({"z-rotation", "x-twist", "z-taper", "z-shear", "general-rotation"}))
def test_the_sound_forms_keep_the_promise(name: str) -> None:
    assert form_of(name)()


@pytest.mark.parametrize("false", FALSE, ids=str)
def test_a_falsehood_is_caught(false: Falsehood) -> None:
    with pytest.MonkeyPatch.context() as patch:
        rewrite(patch, false.owner, false.function, false.old, false.new)
        assert not false.breaks()


def test_forms_that_take_float64_for_real_numbers_are_caught() -> None:
    """No room at all for rounding: in cells of hardly any width nothing else is left."""
    assert REALS()
    with pytest.MonkeyPatch.context() as patch:
        for name, nothing in (("ROUNDING", 0.0), ("UPWARDS", 1.0), ("TINY", 0.0)):
            patch.setattr(forms, name, nothing)
        assert not REALS()


def test_a_falsehood_about_words_that_are_gone_says_so() -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(AssertionError, match="change this falsehood"):
        rewrite(patch, forms, "turn", "words that are not there", "others")
