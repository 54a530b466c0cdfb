"""Values that a person, a link or a script may type: each is taken, or refused in one line with exit code 2."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.session.pose import Poser, parsed, within
from tests.hostile.fuzz import check_sentence
from tpc_core.certify import Budget, Options
from tpc_core.cli import main
from tpc_core.cli.options import parse_sigma
from tpc_core.data import load_shape
from tpc_core.errors import TpcError
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.smoothing import smoothing_from_json
from tpc_core.transforms import all_transforms, parse_transform

QUICK = settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(max_size=60) | st.sampled_from(
    [
        "nan",
        "inf",
        "-inf",
        "1e999",
        "-0",
        "0",
        "1_0",
        "\u0661",
        "=",
        ",",
        "a=1,a=2",
        "+",
        "z-taper+",
        "\0",
        "\n",
        "--help",
    ]
)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(2**70), 2**70)


def refused_or_taken(call: object, *values: object, **named: object) -> object:
    """The answer, or None where the value was refused in one sentence."""
    try:
        return call(*values, **named)  # type: ignore[operator]
    except TpcError as error:
        check_sentence(str(error))
        return None


@QUICK
@given(TEXT)
def test_names_of_transforms_claims_sigmas_and_objects(text: str) -> None:
    for read in (parse_transform, ClaimSpec.parse, parse_sigma, load_shape):
        refused_or_taken(read, text)


@QUICK
@given(
    st.sampled_from(all_transforms()),
    TEXT | NUMBERS | st.lists(NUMBERS, max_size=4) | st.dictionaries(TEXT, NUMBERS, max_size=3),
)
def test_a_radius_is_in_range_or_refused(transform: object, radius: object) -> None:
    radii = refused_or_taken(transform.parse_radius, radius)  # type: ignore[attr-defined]
    if radii is not None:
        for parameter, value in zip(transform.radii, radii, strict=True):  # type: ignore[attr-defined,call-overload]
            assert 0 < value <= parameter.to_internal(parameter.largest_radius)


@QUICK
@given(NUMBERS, NUMBERS, NUMBERS, TEXT)
def test_options_and_budgets_are_sound_or_refused(alpha: float, seed: int, samples: float, word: str) -> None:
    options = refused_or_taken(Options, alpha=alpha, seed=int(seed) if math.isfinite(seed) else 0)
    if options is not None:
        assert 0 < options.alpha < 1  # type: ignore[attr-defined]
    refused_or_taken(Options, protocol=word)
    budget = refused_or_taken(Budget, samples=samples, seconds=samples)
    if budget is not None:
        assert budget.samples > 0  # type: ignore[attr-defined]


JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


@QUICK
@given(st.fixed_dictionaries({"kind": st.sampled_from(["group", "coordinate", "parameter"]) | JSON},
                             optional={"sigma": JSON, "group": JSON, "transform": JSON}))  # fmt: skip
def test_a_smoothing_is_known_or_refused(description: dict[str, object]) -> None:
    refused_or_taken(smoothing_from_json, description)


@QUICK
@given(
    st.sampled_from(all_transforms()),
    st.lists(NUMBERS.filter(lambda v: abs(v) < 1e300 or v != v), min_size=9, max_size=9),
)
def test_a_slider_value_from_a_browser_is_put_into_its_range(transform: object, values: list[float]) -> None:
    parameters = transform.parameters  # type: ignore[attr-defined]
    for parameter, value in zip(parameters, within(parameters, values[: len(parameters)]), strict=True):
        assert parameter.low <= value <= parameter.high


@QUICK
@given(TEXT)
def test_a_pose_from_an_address_is_a_transform_or_an_error(name: str) -> None:
    assert parsed(name) is not None
    refused_or_taken(Poser().choose, name)


COMMANDS = st.sampled_from(
    [
        lambda v: ["certify", v, "-t", "z-taper", "-r", "0.1", "--budget-samples", "1"],
        lambda v: ["certify", "gallery:chair-1", "-t", v, "-r", "0.1"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", f"--radius={v}", "--budget-samples=1"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--alpha={v}", "--budget-samples=1"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--sigma={v}", "--budget-samples=1"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--points={v}", "--budget-samples=1"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--model={v}"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--resume={v}"],
        lambda v: ["attack", "gallery:chair-1", "-t", "z-taper", f"--radius={v}", "--tries=1", "--method=random"],
        lambda v: ["verify", v],
        lambda v: ["verify", "README.md", f"--fresh={v}"],
        lambda v: ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.1", f"--seed={v}", "--budget-samples=1"],
        lambda v: ["data", "show", v],
        lambda v: ["data", "fetch", v],
        lambda v: ["report", v],
        lambda v: ["train", v],
        lambda v: ["evaluate", f"--model={v}", "--claim=z-taper:0.1", "--out=/dev/null/x"],
        lambda v: ["evaluate", "--model=pointnet64-noise", f"--claim={v}", "--out=/dev/null/x"],
        lambda v: ["evaluate", f"--plan={v}", "--out=/dev/null/x"],
        lambda v: ["redteam", "--out=/dev/null/x", f"--transform={v}"],
        lambda v: ["redteam", "--out=/dev/null/x", f"--data={v}"],
        lambda v: [v],
    ]
)  # fmt: skip


@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(COMMANDS, TEXT)
def test_the_command_line_never_shows_a_stack(
    capsys: pytest.CaptureFixture[str], command: object, value: str
) -> None:
    capsys.readouterr()
    code = main(command(value))  # type: ignore[operator]
    said = capsys.readouterr().err
    assert code in (0, 1, 2)
    if code == 2 and said:
        assert said.startswith("error: ")
        assert said.count("\n") == 1
