"""A certificate that was changed is rejected, even by a forger who seals it anew."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS, SMALL, changed, genuine
from tpc_core.certificate import Certificate
from tpc_core.certificate.sentence import certified_sentence, radius_words
from tpc_core.certify import certify
from tpc_core.errors import InvalidCertificate, TpcError
from tpc_core.transforms import parse_transform
from tpc_core.verify import replay, verify

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


def _radius(factor: float) -> Callable[[Content], None]:
    """Another radius, said alike in question, claim and sentence, as a careful forger would."""

    def change(content: Content) -> None:
        for place in (content["radius"], content["question"]["radius"]):
            for name in place:
                place[name] *= factor
        _say_again(content)

    return change


def _say(**radius: float) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["radius"] = dict(radius)
        content["question"]["radius"] = dict(radius)
        _say_again(content)

    return change


def _say_again(content: Content) -> None:
    """The sentence that fits the radius."""
    transform = parse_transform(content["question"]["transform"])
    within = radius_words(transform.radii, content["radius"])
    alpha, name = content["question"]["options"]["alpha"], content["prediction"]
    content["sentence"] = certified_sentence(transform, within, alpha, name)


def _option(name: str, to: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["question"]["options"][name] = to
        if name == "alpha":
            _say_again(content)

    return change


def _certified(content: Content) -> None:
    content["verdict"] = "certified"
    _say_again(content)


def _blocks(place: str, to: Callable[[list[Any]], list[Any]]) -> Callable[[Content], None]:
    """Change the votes of a place, or of the first cell, and count all votes again."""

    def change(content: Content) -> None:
        places = content["ledger"]["places"]
        name = next(p for p in places if p.startswith(place))
        places[name] = to(places[name])
        _count_again(content)

    return change


def _count_again(content: Content) -> None:
    votes = sum(len(blocks) for blocks in content["ledger"]["places"].values())
    votes += sum(len(attack["votes"]) for attack in content["ledger"]["refutations"])
    content["samples"] = 32 * votes


def _drop(place: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        places = content["ledger"]["places"]
        del places[next(p for p in places if p.startswith(place))]
        _count_again(content)

    return change


def _leaf(content: Content) -> str:
    """A cell that nothing below it stands for."""
    cells = [place for place in content["ledger"]["places"] if place.startswith("cell|")]
    return next(p for p in cells if p.endswith(":") and not any(o != p and o.startswith(p) for o in cells))


def _drop_leaf(content: Content) -> None:
    del content["ledger"]["places"][_leaf(content)]
    _count_again(content)


def _move_leaf(to: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        places = content["ledger"]["places"]
        places[to] = places.pop(_leaf(content))

    return change


def _rename(old: str, new: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        places = content["ledger"]["places"]
        name = next(p for p in places if p.startswith(old))
        places[name.replace(old, new, 1)] = places.pop(name)

    return change


def _new_place(name: str) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["ledger"]["places"][name] = [[0, 32]]
        _count_again(content)

    return change


def _every_vote(content: Content) -> None:
    """All votes for the first class, and certified; the votes are forged, so only a replay could tell."""
    for blocks in content["ledger"]["places"].values():
        blocks[:] = [[0, 32]] * len(blocks)


def _other_points(content: Content) -> None:
    points = np.frombuffer(base64.b64decode(content["cloud"]["points"]), dtype="<f4") * 0.5
    content["cloud"]["points"] = base64.b64encode(points.astype("<f4").tobytes()).decode()


def _smaller_cloud(content: Content) -> None:
    """Shrunk points with a matching digest: they move less, but the seed belongs to the true cloud."""
    raw = (
        (np.frombuffer(base64.b64decode(content["cloud"]["points"]), dtype="<f4") * 0.5)
        .astype("<f4")
        .tobytes()
    )
    content["cloud"].update(points=base64.b64encode(raw).decode(), digest=hashlib.sha256(raw).hexdigest())


def _attack(**values: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["ledger"]["refutations"][0].update(values)
        _count_again(content)

    return change


UP = 1.05
TAMPERINGS: list[tuple[str, str, Callable[[Content], object]]] = [
    # The five holes of the first version, and their kin.
    ("zyx", "a radius of 179 degrees", _say(angle=179.0)),
    ("zyx", "a radius of 170 degrees", _say(angle=170.0)),
    ("zyx", "a radius of 180 degrees", _say(angle=180.0)),
    ("zyx", "a radius of 365 degrees", _say(angle=365.0)),
    ("zyx", "a radius of 3605 degrees", _say(angle=3605.0)),
    ("zyx", "a radius of 90 degrees", _say(angle=90.0)),
    ("parameter", "no votes for the choice of the class", _blocks("select", lambda b: [])),
    ("parameter", "no choice of the class", _drop("select")),
    ("parameter", "a longer choice of the class", _blocks("select", lambda b: [*b, b[0]])),
    ("parameter", "a level chosen afterwards", _option("alpha", 0.5 + 1e-9)),
    # What is said.
    ("parameter", "the radius up", _radius(1.5)),
    ("parameter", "the radius zero", _radius(0.0)),
    ("parameter", "the radius negative", _radius(-1.0)),
    ("parameter", "the claim up, the question as it was", _set("radius", "rotation", to=lambda r: 1.5 * r)),
    ("parameter", "another name of the radius", _set("question", "radius", to={"angle": 20.0})),
    ("parameter", "another transform", _set("question", "transform", to="x-rotation")),
    ("parameter", "a transform that is not smoothed", _set("question", "transform", to="z-shear")),
    ("parameter", "sigma up", _set("model", "smoothing", "sigma", to=[40.0])),
    ("parameter", "sigma of the question", _option("sigma", [40.0])),
    ("parameter", "alpha down", _option("alpha", 1e-14)),
    ("parameter", "the sentence", _set("sentence", to="Every z-rotation within 180 keeps the class inside.")),
    ("parameter", "a sentence of 100 %", _set("sentence", to=lambda s: s.replace("99.9", "100"))),
    ("parameter", "no class", _set("prediction", to=None)),
    ("parameter", "a class that lost", _set("prediction", to="outside")),
    ("parameter", "undecided though proven", _set("verdict", to="undecided")),
    ("parameter", "refuted though proven", _set("verdict", to="refuted")),
    ("parameter", "the number of votes", _set("samples", to=lambda n: n + 32)),
    ("parameter", "the points", _other_points),
    ("parameter", "the number of points", _set("cloud", "count", to=3)),
    ("parameter", "two classes of one name", _set("model", "classes", to=["inside", "inside"])),
    ("parameter", "another model in the question", _set("question", "model", to="pointnet")),
    ("parameter", "another number of points in the question", _set("question", "points", to=1024)),
    ("parameter", "a family that is not there", _set("family", to=2)),
    ("parameter", "a shape of region where there is one only", _set("ledger", "families", to=[[1.0]])),
    ("parameter undecided", "certified though not proven", _certified),
    # The votes.
    ("parameter", "a block of 31 votes", _blocks("whole", lambda b: [[0, 31], *b[1:]])),
    ("parameter", "a block of 64 votes", _blocks("whole", lambda b: [[0, 64], *b[1:]])),
    ("parameter", "a class past the last", _blocks("whole", lambda b: [[7, 32], *b[1:]])),
    ("parameter", "a class below the first", _blocks("whole", lambda b: [[-1, 32], *b[1:]])),
    ("parameter", "negative votes", _blocks("whole", lambda b: [[0, 33, 1, -1], *b[1:]])),
    ("parameter", "a class twice", _blocks("whole", lambda b: [[0, 16, 0, 16], *b[1:]])),
    ("parameter", "votes that are no whole numbers", _blocks("whole", lambda b: [[0, 32.0], *b[1:]])),
    ("parameter", "true as a number", _blocks("whole", lambda b: [[0, 31, True, 1], *b[1:]])),
    ("parameter", "fewer votes", _blocks("whole", lambda b: b[:1])),
    ("parameter", "a place that is not there", _new_place("nowhere")),
    ("parameter", "a cell where there are none", _new_place("cell|1|0:")),
    ("parameter", "another seed", _set("ledger", "seed", to=5)),
    ("parameter", "a seed by hand that is not said", _option("seed", 5)),
    ("seed by hand", "a seed by hand called its own", _set("ledger", "own_seed", to=True)),
    ("seed by hand", "another seed by hand", _set("ledger", "seed", to=12)),
    ("parameter", "another generator", _set("ledger", "generator", to="mersenne")),
    ("parameter largest", "the radius up", _set("radius", "twist", to=lambda r: UP * r)),
    ("l2", "the radius up", _radius(3.0)),
    ("l2", "l-infinity of the same size", _all(_set("question", "transform", to="linf"), _say(linf=0.2))),
    ("linf", "the radius up", _radius(3.0)),
    ("linear", "the radius up", _radius(1.5)),
    ("linear", "the radius past one", _say(frobenius=1.5)),
    # Groups.
    ("group", "undecided votes", _blocks("whole", lambda b: [[0, 16, 1, 16]] * len(b))),
    ("group", "a transform outside the group", _set("question", "transform", to="z-taper")),
    ("group of a circle", "a smaller group", _set("model", "smoothing", "group", to="x-rotation")),
    ("group", "alpha down", _option("alpha", 1e-14)),
    # Covers.
    ("cover of rotations", "the radius up", _radius(UP)),
    ("cover of rotations", "a cell removed", _drop_leaf),
    ("cover of rotations", "all cells removed", lambda c: [c["ledger"].update(
        places={"select": c["ledger"]["places"]["select"]}), _count_again(c)]),
    ("cover of rotations", "a cell under another name", _move_leaf("cell|1|0,0,1000:")),
    ("cover of rotations", "a cell of another family", _move_leaf("cell|2|0,0,0:")),
    ("cover of rotations", "a name that is not canonical", _rename("cell|1|0,0,0:", "cell|1|00,0,0:")),
    ("cover of rotations", "a name of another dimension", _rename("cell|1|0,0,0:", "cell|1|0,0:")),
    ("cover of rotations", "halves that are no halves", _rename("cell|1|0,0,0:", "cell|1|0,0,0:2")),
    ("cover of rotations", "sigma up", _set("model", "smoothing", "sigma", to=0.3)),
    ("cover of rotations", "a cloud that moves less", _smaller_cloud),
    ("cover of rotations", "another transform", _set("question", "transform", to="zyx-rotation")),
    ("cover of rotations", "alpha down", _option("alpha", 1e-14)),
    ("cover of rotations", "the paper's protocol", _option("protocol", "paper")),
    ("cover undecided", "certified though not proven", _certified),
    ("cover largest", "the radius up", _set("radius", "taper", to=lambda r: UP * r)),
    ("cover largest", "a given radius", _option("largest", False)),
    ("cover of two", "another shape", _all(_set("radius", "taper", to=0.1), _set("question", "radius", "taper", to=0.1), _say_again)),  # noqa: E501
    ("cover of two", "no shape", _set("ledger", "families", to=[])),
    ("cover of two", "a shape twice", _set("ledger", "families", to=lambda f: [*f, *f])),
    ("cover of two", "a shape past one", _set("ledger", "families", to=[[1.0, 2.0]])),
    ("cover refuted", "no attack", lambda c: [c["ledger"].update(refutations=[]), _count_again(c)]),
    ("cover refuted", "an attack outside the region", _attack(parameter=[0.85])),
    ("cover refuted", "an attack of another dimension", _attack(parameter=[0.1, 0.1])),
    ("cover refuted", "a rival that lost", _attack(rival=0)),
    ("cover refuted", "a rival that is not there", _attack(rival=9)),
    ("cover refuted", "votes that prove nothing", _attack(votes=[[0, 16, 1, 16]] * 4)),
    ("cover refuted", "one block of votes at a tiny level", _all(_attack(votes=[[0, 8, 1, 24]]))),
    ("cover refuted", "certified though refuted", _certified),
    # The paper's protocol.
    ("grid", "a cell removed", _drop("grid|2")),
    ("grid", "another resolution", _option("resolution", 1)),
    ("grid", "a resolution beyond any grid", _option("resolution", 99_999)),
    ("grid", "the radius up", _radius(UP)),
    ("grid", "fewer votes", _blocks("grid", lambda b: b[:100])),
    ("grid", "more votes", _blocks("grid", lambda b: [*b, b[0]])),
    ("paper's sample", "more votes", _blocks("whole", lambda b: [*b, b[0]])),
    ("paper's sample", "fewer votes", _blocks("whole", lambda b: b[:-1])),
    # Points.
    ("points", "the radius up", _all(_set("radius", "rotation", to=60.0), _set("question", "radius", "rotation", to=60.0))),  # noqa: E501
    ("points", "a point too few", _blocks("whole", lambda b: [block[1:] for block in b])),
    ("points", "a part that does not exist", _blocks("whole", lambda b: [[[7, 32], *b[0][1:]], *b[1:]])),
    ("points", "certified though not proven", _set("verdict", to="certified")),
    ("points", "the largest radius", _option("largest", True)),
    ("points of a group", "a sentence of more points", _set("sentence", to=lambda s: s + " All of them.")),
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
    touched = genuine(kind).model_copy(update={"device": "cuda"})
    with pytest.raises(InvalidCertificate, match="checksum"):
        verify(touched)


def test_a_class_is_not_changed_by_going_on() -> None:
    """The votes of an airplane do not go on as those of a chair: the choice is read off its own votes."""
    made = genuine("parameter")

    def lie(content: Content) -> None:
        content["prediction"] = "outside"
        content["sentence"] = content["sentence"].replace("inside", "outside")

    forged = changed(made, lie)
    with pytest.raises(InvalidCertificate, match="choose"):
        verify(forged)
    model, cloud, transform, radius, options = QUESTIONS["parameter"]()
    more = certify(model, cloud, transform, radius, options, resume=forged)
    assert more.prediction == "inside"


def test_all_votes_forged_pass_nothing_but_a_plain_check() -> None:
    """Votes are the one thing that a file alone cannot prove: a replay catches them, and says so."""
    made = genuine("parameter undecided")

    def lie(content: Content) -> None:
        _every_vote(content)
        _certified(content)

    forged = changed(made, lie)
    try:
        verify(forged)
    except InvalidCertificate:
        return
    with pytest.raises(InvalidCertificate, match="come out"):
        replay(forged, QUESTIONS["parameter undecided"]()[0])


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
