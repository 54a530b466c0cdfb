"""A certificate that was changed is rejected, even by a forger who seals it anew."""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS, SMALL, changed, genuine
from tests.classifiers import broken_at
from tpc_core.certificate import Certificate
from tpc_core.certificate.verify import verify
from tpc_core.certify import Options, certify
from tpc_core.errors import InvalidCertificate, TpcError

Content = dict[str, Any]


def _set(*path: str | int, to: Any) -> Callable[[Content], None]:
    """Set the field at `path` to a value, or to what a function makes of the old one."""

    def change(content: Content) -> None:
        place: Any = content
        for piece in path[:-1]:
            place = place[piece]
        place[path[-1]] = to(place[path[-1]]) if callable(to) else to

    return change


def _all(*changes: Callable[[Content], object]) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for one in changes:
            one(content)

    return change


def _larger_root(factor: float) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for name in content["claim"]["radius"]:
            content["claim"]["radius"][name] *= factor
            content["evidence"]["root_radius"][name] *= factor

    return change


def _every_vote(content: Content) -> None:
    """All votes of the last reading for y_A, the recorded bound left as it was."""
    content["evidence"]["readings"][-1]["n_a"] = content["evidence"]["readings"][-1]["n"]


def _other_points(content: Content) -> None:
    points = np.frombuffer(base64.b64decode(content["cloud"]["points"]), dtype="<f4") * 0.5
    content["cloud"]["points"] = base64.b64encode(points.astype("<f4").tobytes()).decode()


def _smaller_cloud(content: Content) -> None:
    """Shrunk points with a matching digest: displacements are smaller, so the recorded cells cannot be right."""
    import hashlib

    raw = (
        (np.frombuffer(base64.b64decode(content["cloud"]["points"]), dtype="<f4") * 0.5)
        .astype("<f4")
        .tobytes()
    )
    content["cloud"].update(points=base64.b64encode(raw).decode(), digest=hashlib.sha256(raw).hexdigest())


def _drop_a_passed_cell(content: Content) -> None:
    cells = content["evidence"]["cells"]
    cells.remove(next(cell for cell in cells if cell["state"] == "passed"))


def _drop_a_refined_cell(content: Content) -> None:
    cells = content["evidence"]["cells"]
    cells.remove(next(cell for cell in cells if cell["state"] == "refined"))


def _flip(old: str, new: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        next(cell for cell in content["evidence"]["cells"] if cell["state"] == old)["state"] = new

    return change


def _attack_outside(content: Content) -> None:
    content["attack"]["parameter"] = [1.01 * content["claim"]["radius"]["taper"]]


def _cell(**values: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        cell = content["evidence"]["cells"][0]
        for name, value in values.items():
            cell[name] = value(cell[name]) if callable(value) else value

    return change


UP = 1.05
TAMPERINGS: list[tuple[str, str, Callable[[Content], object]]] = [
    # One probability.
    ("parameter", "the radius up", _set("claim", "radius", "rotation", to=lambda r: 1.5 * r)),
    ("parameter", "the radius zero", _set("claim", "radius", "rotation", to=0.0)),
    ("parameter", "the radius negative", _set("claim", "radius", "rotation", to=-5.0)),
    ("parameter", "another name of the radius", _set("claim", "radius", to={"angle": 20.0})),
    ("parameter", "another transform", _set("claim", "transform", to="x-rotation")),
    ("parameter", "a transform that is not smoothed", _set("claim", "transform", to="z-shear")),
    ("parameter", "sigma up", _set("model", "smoothing", "sigma", to=[40.0])),
    ("parameter", "alpha up", _set("alpha", to=0.01)),
    ("parameter", "alpha down", _set("alpha", to=1e-6)),
    ("parameter undecided", "counts up", _every_vote),
    ("parameter", "counts past the votes", _set("evidence", "readings", 0, "n_a", to=10_000)),
    ("parameter", "a stage that was not planned", _set("evidence", "readings", 0, "n", to=129)),
    ("parameter", "the bound up", _set("evidence", "lower_bound", to=lambda p: min(1.0, p + 1e-6))),
    ("parameter", "needed down", _set("evidence", "needed", to=lambda p: p - 1e-6)),
    ("parameter", "another rule", _set("evidence", "rule", to="l2")),
    ("parameter", "shares above one", _set("statistics", "shares", to=lambda s: [1.0] * len(s))),
    ("parameter", "a share too few", _set("statistics", "shares", to=lambda s: s[1:])),
    ("parameter", "a share of zero", _set("statistics", "shares", 0, to=0.0)),
    ("parameter", "sizes that fall", _set("statistics", "sizes", to=lambda s: s[::-1])),
    ("parameter", "anytime for staged", _set("statistics", "kind", to="anytime")),
    ("parameter", "no class", _set("prediction", to=None)),
    ("parameter", "a class that lost", _all(_set("prediction", "index", to=1), _set("prediction", "name", to="outside"))),  # noqa: E501
    ("parameter", "a class of another index", _set("prediction", "index", to=1)),
    ("parameter", "a class past the last", _set("prediction", "index", to=7)),
    ("parameter", "more choosing votes than samples", _set("prediction", "samples", to=lambda n: n - 1)),
    ("parameter", "the points", _other_points),
    ("parameter", "the number of points", _set("cloud", "count", to=3)),
    ("parameter", "undecided though proven", _set("verdict", to="undecided")),
    ("parameter", "refuted though proven", _set("verdict", to="refuted")),
    ("parameter", "the sentence", _set("sentence", to="Every z-rotation within 180 keeps the class inside.")),
    ("parameter undecided", "certified though not proven", _set("verdict", to="certified")),
    ("parameter anytime", "staged for anytime", _set("statistics", "kind", to="staged")),
    ("parameter largest", "the radius up", _set("claim", "radius", "twist", to=lambda r: UP * r)),
    ("parameter largest", "the bound up", _set("evidence", "lower_bound", to=0.9999)),
    ("l2", "the radius up", _set("claim", "radius", "l2", to=lambda r: 3 * r)),
    ("l2", "l-infinity of the same size", _all(_set("claim", "transform", to="linf"), _set("claim", "radius", to={"linf": 0.2}))),  # noqa: E501
    ("linf", "the radius up", _set("claim", "radius", "linf", to=lambda r: 3 * r)),
    ("linear", "the radius up", _set("claim", "radius", "frobenius", to=lambda r: 1.5 * r)),
    ("linear", "the radius past one", _set("claim", "radius", "frobenius", to=1.5)),
    # Groups.
    ("group", "votes that do not add up", _set("evidence", "stages", 0, "a", to=lambda n: n + 1)),
    ("group", "a class that does not exist", _set("evidence", "stages", 0, to={"z": 128})),
    ("group", "votes that vanish", _set("evidence", "stages", 1, to={"b": 512})),
    ("group", "alpha down", _set("alpha", to=1e-30)),
    ("group", "a transform outside the group", _set("claim", "transform", to="z-taper")),
    ("group anytime", "a smaller group", _all(_set("model", "smoothing", "group", to="x-rotation"))),
    ("group", "undecided votes", _all(
        _set("evidence", "stages", to=[{"a": 64, "b": 64}]), _set("prediction", "votes", to={"a": 128}))),
    ("group", "the p-value", _set("evidence", "p_value", to=1e-30)),
    ("group", "two classes of one name", _all(
        _set("model", "classes", to=["x", "x", "a"]),
        _set("prediction", to={"index": 1, "name": "x", "votes": {"x": 128}, "samples": 128}),
        _set("evidence", "stages", to=[{"a": 128}]))),
    # Trees.
    ("tree of rotations", "the radius up", _set("claim", "radius", "angle", to=lambda r: UP * r)),
    ("tree of rotations", "the region and the root up", _larger_root(UP)),
    ("tree of rotations", "a passed cell removed", _drop_a_passed_cell),
    ("tree of rotations", "all cells removed", _set("evidence", "cells", to=[])),
    ("tree of rotations", "a cell twice", _set("evidence", "cells", to=lambda cells: [*cells, cells[-1]])),
    ("tree of rotations", "a stranger", _set("evidence", "cells", to=lambda cells: [*cells, {**cells[-1], "path": cells[-1]["path"] + "0"}])),  # noqa: E501
    ("tree of rotations", "passed as refined", _flip("passed", "refined")),
    ("tree of rotations", "passed as failed", _flip("passed", "failed")),
    ("tree of rotations", "a smaller reach", _cell(reach=lambda r: 0.9 * r)),
    ("tree of rotations", "a smaller box", _cell(low=lambda low: [0.9 * v for v in low])),
    ("tree of rotations", "a box of another dimension", _cell(low=[0.0], high=[1.0])),
    ("tree of rotations", "a larger bound", _cell(lower_bound=0.9999)),
    ("tree of rotations", "path shares above one", _set("evidence", "path_shares", to=lambda s: [1.0] * len(s))),
    ("tree of rotations", "no path shares", _set("evidence", "path_shares", to=[])),
    ("tree of rotations", "fewer ranks", _set("evidence", "path_shares", to=[1.0])),
    ("tree of rotations", "another start", _set("evidence", "start", to=0.01)),
    ("tree of rotations", "sigma up", _set("model", "smoothing", "sigma", to=0.3)),
    ("tree of rotations", "a cloud that moves less", _smaller_cloud),
    ("tree of rotations", "another transform", _set("claim", "transform", to="zyx-rotation")),
    ("tree of rotations", "alpha down", _set("alpha", to=1e-9)),
    ("tree of rotations", "parameter smoothing", _set("model", "smoothing", to={"kind": "parameter", "transform": "z-rotation", "sigma": [15.0]})),  # noqa: E501
    ("tree undecided", "certified though not proven", _set("verdict", to="certified")),
    ("tree undecided", "a refined cell removed", _drop_a_refined_cell),
    ("tree undecided", "refined as passed", _all(_set("verdict", to="certified"), _flip("refined", "passed"))),
    ("tree largest", "the radius up", _set("claim", "radius", "taper", to=lambda r: UP * r)),
    ("tree largest", "the factor up", _all(
        _set("evidence", "factor", to=lambda f: UP * f), _set("claim", "radius", "taper", to=lambda r: UP * r))),
    ("tree largest", "a factor above one", _set("evidence", "factor", to=1.5)),
    ("tree largest", "a negative factor", _set("evidence", "factor", to=-0.5)),
    ("tree largest", "a given radius", _set("claim", "largest", to=False)),
    ("tree refuted", "no attack", _set("attack", to=None)),
    ("tree refuted", "an attack outside the region", _attack_outside),
    ("tree refuted", "an attack of another dimension", _set("attack", "parameter", to=[0.1, 0.1])),
    ("tree refuted", "a smaller region", _set("claim", "radius", "taper", to=0.1)),
    ("tree refuted", "a winner that lost", _set("attack", "winner", to="inside")),
    ("tree refuted", "votes that do not add up", _set("attack", "samples", to=lambda n: n + 1)),
    ("tree refuted", "votes that prove nothing", _all(
        _set("attack", "votes", to={"inside": 128, "outside": 128}), _set("attack", "samples", to=256))),
    ("tree refuted", "a winner that no class is called", _all(
        _set("attack", "winner", to="nobody"), _set("attack", "votes", to={"nobody": 256}), _set("attack", "samples", to=256))),  # noqa: E501
    ("tree refuted", "certified though refuted", _set("verdict", to="certified")),
    ("tree", "an attack beside a proof", lambda content: content.update(attack=genuine("tree refuted").model_dump(mode="json")["attack"])),  # noqa: E501
    # The paper's grid.
    ("grid", "a cell removed", _drop_a_passed_cell),
    ("grid", "another resolution", _set("evidence", "resolution", to=1)),
    ("grid", "a resolution beyond any grid", _set("evidence", "resolution", to=99_999)),
    ("grid", "the radius up", _set("claim", "radius", "taper", to=lambda r: UP * r)),
    ("grid", "fewer votes", _cell(readings=[{"n": 1000, "n_a": 1000}])),
    ("grid", "a larger bound", _cell(lower_bound=1.0)),
    # Points.
    ("points", "a point certified", _set("evidence", "certified", -1, to=True)),
    ("points", "a point jointly certified", _set("evidence", "jointly_certified", -1, to=True)),
    ("points", "needed down", _set("evidence", "needed", to=0.5)),
    ("points", "the radius up", _set("claim", "radius", "rotation", to=60.0)),
    ("points", "a point removed", _set("evidence", "n_a", to=lambda n: n[1:])),
    ("points", "more votes than were cast", _set("evidence", "n_a", 0, to=10_000)),
    ("points", "a part that does not exist", _set("evidence", "predictions", 0, to=17)),
    ("points", "no votes, yet certified", _all(_set("evidence", "n", to=0), _set("evidence", "certified", to=[True] * 5))),  # noqa: E501
    ("points", "a sample size of another plan", _all(
        _set("statistics", "sizes", to=[100_000]),)),
    ("points of a group", "a rival without votes", _all(
        _set("evidence", "n_a", to=[300] * 5), _set("evidence", "runner_up", to=[0] * 5),
        _set("evidence", "certified", to=[True] * 5), _set("evidence", "jointly_certified", to=[True] * 5),
        _set("evidence", "lower_bounds", to=[0.25] * 5), _set("verdict", to="certified"))),
    ("points", "another bound", _set("evidence", "lower_bounds", 0, to=0.9999999)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "what", "change"), TAMPERINGS, ids=[f"{k}: {w}" for k, w, _ in TAMPERINGS])
def test_a_changed_certificate_is_rejected_with_a_reason(
    kind: str, what: str, change: Callable[[Content], object]
) -> None:
    with pytest.raises(TpcError) as caught:
        verify(changed(genuine(kind), change))
    assert isinstance(caught.value, InvalidCertificate)
    assert len(str(caught.value)) > 15


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_a_change_without_a_new_seal_is_rejected(kind: str) -> None:
    touched = genuine(kind).model_copy(update={"seed": 77})
    with pytest.raises(InvalidCertificate, match="checksum"):
        verify(touched)


def test_a_root_past_the_domain_does_not_stretch_the_claim() -> None:
    """Angles stop at 180 degrees: a tree "of 100 radians" covers pi, and a factor of it is a factor of pi."""
    found = certify(
        broken_at(SMALL, "z-rotation", [1.2], 0.6), SMALL, "z-rotation", 180, Options(largest=True)
    )
    assert found.verdict == "certified"

    def lie(content: Content) -> None:
        content["evidence"]["root_radius"]["rotation"] = 100.0
        content["claim"]["radius"]["rotation"] = math.degrees(100 * content["evidence"]["factor"] * 0.999)

    with pytest.raises(InvalidCertificate):
        verify(changed(found, lie))


def _mutate(value: Any, rng: random.Random) -> Any:
    """A plain-random neighbour of a JSON value."""
    junk: list[Any] = [
        None, True, False, 0, 1, -1, 2**31, 2**53, 1e-320, 1e300, -1e300, 0.5, "", "z-taper", "x" * 50, [], {},
        [1], [[]], {"kind": []}, "certified", "NaN",
    ]  # fmt: skip
    if isinstance(value, bool) or rng.random() < 0.35:
        return rng.choice(junk)
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value * 2, -value, float(value), str(value)])
    if isinstance(value, float):
        return rng.choice([value * 1.1, value / 3, -value, value * 1e-300, 0.0, str(value)])
    if isinstance(value, str):
        return rng.choice([value[:-1], value + "0", value[::-1], value.upper()])
    if isinstance(value, list):
        if not value:
            return [0]
        at = rng.randrange(len(value))
        return rng.choice([value[:at] + value[at + 1 :], [*value, value[at]], value[::-1]])
    if isinstance(value, dict):
        if not value:
            return {"x": 1}
        name = rng.choice(list(value))
        return rng.choice([{k: v for k, v in value.items() if k != name}, {**value, "x": 1}])
    return rng.choice(junk)


def _mutated(content: Any, rng: random.Random, skip: tuple[str, ...] = ()) -> Any:
    """The content with one place changed, chosen by a random walk from the top."""
    if isinstance(content, dict) and content and rng.random() < 0.9:
        name = rng.choice([key for key in content if key not in skip] or list(content))
        return {**content, name: _mutated(content[name], rng, skip)}
    if isinstance(content, list) and content and rng.random() < 0.8:
        at = rng.randrange(len(content))
        return [*content[:at], _mutated(content[at], rng, skip), *content[at + 1 :]]
    return _mutate(content, rng)


@pytest.mark.parametrize("kind", [kind for kind in QUESTIONS if kind not in ("linear", "parameter largest")])
def test_random_changes_raise_nothing_but_typed_errors(kind: str) -> None:
    """Whatever happens to the JSON, reading and verifying it either succeeds or says what is wrong."""
    rng = random.Random(kind)
    original = genuine(kind).model_dump(mode="json")
    for _ in range(150):
        content = _mutated(original, rng, skip=("resolution",))
        if rng.random() < 0.3:
            content = _mutated(content, rng, skip=("resolution",))
        try:
            verify(Certificate.from_json(json.dumps(content)).sealed())
        except TpcError as error:
            assert str(error)  # noqa: PT017


def test_huge_grids_are_refused_before_they_are_built() -> None:
    """A file that names a grid of billions of cells must not fill the memory of whoever checks it."""
    from tpc_core.covers.paper import paper_grid
    from tpc_core.transforms import parse_transform

    points = SMALL.points.double().numpy()
    with pytest.raises(TpcError, match=r"cells|practical|grid"), _limited_memory():
        paper_grid(parse_transform("z-twist+z-taper+z-rotation"), (3.0, 0.5, 3.0), points, 0.1, 2_000)


def _limited_memory() -> Any:
    """A watch that stops the test when it starts to build something huge."""
    import contextlib
    import signal

    @contextlib.contextmanager
    def watch() -> Any:
        def give_up(*_: object) -> None:
            raise AssertionError("the grid was being built")

        previous = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, 2.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    return watch()
