"""Random and careful edits of genuine certificates of every kind: none is accepted that its votes do not carry.

    python -m tests.certificate.forge --edits 10000

A plain edit changes any place of the JSON. A careful one knows what it changes (radius, level, votes, cells, shapes,
attacks, noise) and then says everything again that follows, by the program's own rules. Whatever `verify` accepts is
shown to the oracle, and where votes were touched, some are replayed.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.certificate import oracle
from tests.certificate.made import QUESTIONS, genuine, model_of, resealed
from tests.certificate.test_tampering import _mutated
from tpc_core.certificate import Certificate
from tpc_core.errors import TpcError
from tpc_core.ledger import default_seed
from tpc_core.proofs import Claim, proof_of
from tpc_core.proofs.judgement import judge
from tpc_core.smoothing import smoothing_from_json
from tpc_core.verify import replay, verify

Content = dict[str, Any]
Edit = Callable[[Content, random.Random], None]
SLOW = ("linear",)
"""Kinds whose needed p_A takes seconds for a new radius: their radius and sigma stay."""

_REPLAYED = 0.05


def _radius(content: Content, rng: random.Random) -> None:
    factor = rng.choice([1 + 1e-9, 1.001, 1.01, 1.1, 1.5, 3.0, 10.0, 0.999, 0.5, 1e-6, rng.uniform(0.2, 2)])
    names = list(content["question"]["radius"])
    for name in names if rng.random() < 0.7 else [rng.choice(names)]:
        content["question"]["radius"][name] *= factor
        if rng.random() < 0.9:
            content["radius"][name] *= factor


def _alpha(content: Content, rng: random.Random) -> None:
    content["question"]["options"]["alpha"] = rng.choice(
        [0.5, 0.3, 0.1, 0.01, 1e-3 * (1 - 1e-9), 1e-4, 1e-8, 1e-15, 10 ** rng.uniform(-15, -0.31)]
    )


def _option(content: Content, rng: random.Random) -> None:
    name = rng.choice(
        ["protocol", "sigma", "largest", "resolution", "patience", "complete", "seed", "budget"]
    )
    content["question"]["options"][name] = rng.choice(
        {
            "protocol": ["paper", "adaptive"],
            "sigma": [None, [0.2], [15.0], [0.3], [1e9], [1e-9], [0.2, 0.2]],
            "largest": [True, False],
            "resolution": [None, 1, 2, 3, 4096],
            "patience": [1, 10**12],
            "complete": [True, False],
            "seed": [None, 5, content["ledger"]["seed"]],
            "budget": [{"samples": 32, "seconds": None, "cells": None}, {"samples": None, "seconds": 1e-9, "cells": 1}],
        }[name]
    )  # fmt: skip


def _place(content: Content, rng: random.Random) -> str:
    return rng.choice(list(content["ledger"]["places"]) or ["select"])


def _some_blocks(content: Content, rng: random.Random) -> list[Any]:
    attacks = content["ledger"]["refutations"]
    if attacks and rng.random() < 0.4:
        return list(rng.choice(attacks)["votes"])
    return content["ledger"]["places"].setdefault(_place(content, rng), [])  # type: ignore[no-any-return]


def _votes(content: Content, rng: random.Random) -> None:
    """Blocks repeated, dropped, reordered, or with votes moved from one class to another."""
    blocks = _some_blocks(content, rng)
    classes = len(content["model"]["classes"])
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not blocks:
            blocks.append([0, 32])
        at = rng.randrange(len(blocks))
        how = rng.randrange(6)
        if how == 0:
            blocks.insert(at, copy.deepcopy(blocks[at]))
        elif how == 1:
            del blocks[at]
        elif how == 2:
            rng.shuffle(blocks)
        elif how == 3:
            del blocks[at:]
        elif how == 4:
            blocks.extend(copy.deepcopy(blocks) * rng.randrange(3))
        elif not blocks[at] or not isinstance(blocks[at][0], list):
            first = rng.randrange(classes)
            votes = rng.randrange(1, 32)
            last = first + 1 >= classes or rng.random() < 0.3
            blocks[at] = [first, 32] if last else [first, votes, first + 1, 32 - votes]
        else:
            blocks[at][rng.randrange(len(blocks[at]))] = [rng.randrange(classes), 32]


def _cells(content: Content, rng: random.Random) -> None:
    """Places renamed, dropped, copied, added, moved to another family."""
    places = content["ledger"]["places"]
    place = _place(content, rng)
    blocks = places.get(place, [])
    others = ["whole", "select", "cell|1|0:", "cell|1|-0:", "cell|1|+0:", "cell|01|0:", "cell|1|\u0660:", "cell|1|0:0",
              "cell|1|0,0:", "cell|1|0,0,0:", "cell|2|0:", "cell|2|0,0:", "grid|2|0.2|0", "rival|1", "refutation|1",
              f"{place}0", f"{place}1", place[:-1], place.replace("|1|", "|2|"),
              place.replace("0", "1", 1)]  # fmt: skip
    how = rng.randrange(5)
    if how in (0, 1) and place in places:
        del places[place]
    if how in (1, 2, 3):
        places[rng.choice(others)] = copy.deepcopy(blocks)
    if how == 4:
        places[rng.choice(others)] = [[0, 32]] * rng.randrange(4)


def _families(content: Content, rng: random.Random) -> None:
    families = content["ledger"]["families"]
    how = rng.randrange(6)
    if how == 0:
        content["family"] = rng.randrange(1, 5)
    elif how == 1:
        families.insert(rng.randrange(len(families) + 1), [1.0, rng.random() or 0.5])
    elif how == 2:
        families.reverse()
    elif how == 3 and families:
        families.pop(rng.randrange(len(families)))
    elif how == 4 and any(families):
        rng.choice([shape for shape in families if shape])[-1] *= 1 + rng.choice(
            [1e-16, 1e-12, 1e-9, 1e-8, 1e-3, -0.5]
        )
    else:
        families.append([1.0] * rng.randrange(4))


def _attacks(content: Content, rng: random.Random) -> None:
    attacks = content["ledger"]["refutations"]
    if not attacks or rng.random() < 0.2:
        z = [rng.uniform(-1, 1) for _ in range(rng.choice([1, 2, 3, 3 * content["cloud"]["count"]]))]
        votes = [[rng.randrange(2), 32]] * rng.randrange(1, 6)
        attacks.append({"parameter": z, "rival": rng.randrange(3), "method": "forged", "votes": votes})
        return
    attack = rng.choice(attacks)
    how = rng.randrange(5)
    if how == 0:
        attack["parameter"] = [v * rng.choice([0.5, 2, -1, 1 + 1e-11]) for v in attack["parameter"]]
    elif how == 1:
        attack["rival"] = rng.randrange(3)
    elif how == 2:
        attacks.insert(0, copy.deepcopy(attack))
    elif how == 3:
        attacks.remove(attack)
    else:
        attack["parameter"].append(0.0)


def _noise(content: Content, rng: random.Random) -> None:
    smoothing = content["model"]["smoothing"]
    if "sigma" in smoothing:
        factor = rng.choice([2.0, 1.01, 0.5, 1 + 1e-12, 1e6])
        sigma = smoothing["sigma"]
        smoothing["sigma"] = [s * factor for s in sigma] if isinstance(sigma, list) else sigma * factor
    if rng.random() < 0.2:
        smoothing["kind"] = rng.choice(["coordinate", "parameter", "group", "diffusion", "cylinder"])


def _transform(content: Content, rng: random.Random) -> None:
    names = ["z-taper", "x-taper", "z-rotation", "x-rotation", "l2", "linf", "z-shear", "general-rotation",
             "zyx-rotation", "z-taper+z-rotation", "z-rotation+z-taper", "z-twist+z-rotation", "z-taper "]  # fmt: skip
    content["question"]["transform"] = rng.choice(names)
    if rng.random() < 0.5:
        value = rng.choice(list(content["question"]["radius"].values()))
        name = rng.choice(["taper", "rotation", "angle", "l2", "linf", "shear", "twist"])
        content["question"]["radius"] = {name: value}
        content["radius"] = {name: value}


def _verdict(content: Content, rng: random.Random) -> None:
    content["verdict"] = rng.choice(["certified", "refuted", "undecided"])
    content["stopped"] = rng.choice(
        ["settled", "hopeless", "budget", "cancelled", "too-many-cells", "cut-off"]
    )


EDITS: tuple[Edit, ...] = (
    _radius, _radius, _alpha, _option, _votes, _votes, _cells, _cells, _families, _attacks, _noise, _transform,
    _verdict,
)  # fmt: skip


def _said_again(content: Content, rng: random.Random) -> None:
    """Everything that follows from votes and question, by the program's own rules; the seed, too."""
    if rng.random() < 0.7 and content["ledger"]["own_seed"] is True:
        content["ledger"]["seed"] = default_seed(
            content["cloud"]["digest"], content["model"]["digest"], content["question"]["transform"],
            content["model"]["smoothing"],
        )  # fmt: skip
    certificate = Certificate.model_validate(content)
    ledger, question, model = certificate.votes(), certificate.question, certificate.model
    options = question.options
    claim = Claim(
        certificate.cloud.cloud(), question.family, smoothing_from_json(model.smoothing), question.radii, options.alpha,
        model.task, options.protocol, options.resolution, certificate.family,
    )  # fmt: skip
    target = ledger.target
    content["prediction"] = None if target is None else model.classes[target]
    content["samples"] = ledger.samples
    said = judge(
        proof_of(claim), ledger, asked=question.radius, largest=options.largest, stopped=certificate.stopped,
        classes=model.classes,
    )  # fmt: skip
    if content["verdict"] == said.verdict or rng.random() < 0.8:
        content.update(verdict=said.verdict, radius=said.radius, sentence=said.sentence)
        if rng.random() < 0.1:
            content["radius"] = {name: value * 1.001 for name, value in said.radius.items()}


def edited(original: Content, rng: random.Random, *, slow: bool) -> Content:
    """The certificate after one to three edits, half of the time said again."""
    content = copy.deepcopy(original)
    if rng.random() < 0.3:
        skip = ("resolution", "radius", "smoothing", "sigma") if slow else ("resolution",)
        return _mutated(content, rng, skip=skip)  # type: ignore[no-any-return]
    choices = [e for e in EDITS if not (slow and e in (_radius, _noise))]
    for _ in range(rng.choice([1, 1, 2, 3])):
        rng.choice(choices)(content, rng)
    if rng.random() < 0.75:
        # A forger's own tools may fail; the file is tried all the same.
        with contextlib.suppress(
            TpcError, ValueError, LookupError, TypeError, AssertionError, ArithmeticError
        ):
            _said_again(content, rng)
    return content


def attempt(kind: str, content: Content, rng: random.Random) -> str:
    """What became of one edit; NotCarried where it was accepted wrongly."""
    try:
        certificate = resealed(content)
        verify(certificate)
    except TpcError:
        return "refused"
    oracle.check(certificate.model_dump(mode="json"), np.random.default_rng(rng.randrange(1 << 32)))
    original = genuine(kind)
    if certificate.ledger == original.ledger or certificate.samples > 20_000 or rng.random() > _REPLAYED:
        return "accepted: " + certificate.verdict
    try:
        replay(certificate, model_of(kind))
    except TpcError:
        return "accepted, refused by replay"
    return "accepted and replayed: " + certificate.verdict


def run(kind: str, edits: int, seconds: float, seed: int) -> Counter[str]:
    """Up to so many edits of one kind, within so many seconds."""
    original = json.loads(genuine(kind).to_json())
    oracle.check(original, np.random.default_rng(0))
    outcome: Counter[str] = Counter()
    ends = time.monotonic() + seconds
    for number in range(edits):
        if time.monotonic() > ends:
            break
        rng = random.Random(f"{kind}|{seed}|{number}")
        content = edited(original, rng, slow=kind in SLOW)
        try:
            outcome[attempt(kind, content, rng)] += 1
        except Exception as error:
            raise AssertionError(f"{kind}, seed {seed}, edit {number}: {error}") from error
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=10_000, help="edits of each kind")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time for each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(QUESTIONS), help="which kinds; all by default")
    given = parser.parse_args()
    for kind in given.kinds:
        outcome = run(kind, given.edits, given.seconds, given.seed)
        print(f"{kind}: {sum(outcome.values()):,} edits: {dict(sorted(outcome.items()))}", flush=True)


if __name__ == "__main__":
    main()
