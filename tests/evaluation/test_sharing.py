"""Claims that share votes get the verdicts that they would get alone, and cost less."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tpc_core import certify, load_model, verify
from tpc_core.certificate import Certificate
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.evaluation import InlineEngine, Request, evaluate, prepare
from tpc_core.evaluation.claims import ClaimSpec, ascending
from tpc_core.evaluation.journal import read_journal
from tpc_core.evaluation.objects import evaluate_object
from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.run import Prepared
from tpc_core.evaluation.work import read_object
from tpc_core.ledger import SELECTION
from tpc_core.votes import Voter

Ask = Callable[..., Request]


def evaluated(prepared: Prepared, *, certificates: bool = False) -> list[tuple[ObjectRow, dict[str, str]]]:
    """The first three objects."""
    names = [prepared.dataset.object_id(number) for number in range(3)]
    settings = prepared.settings
    objects = [
        read_object(prepared.dataset, settings, n, name, prepared.labels) for n, name in enumerate(names)
    ]
    voter = Voter(prepared.model, prepared.model.smoothing, seed=0, device=torch.device("cpu"))
    return [evaluate_object(settings, voter, one, certificates=certificates) for one in objects]


def alone(prepared: Prepared, index: int) -> list[Certificate]:
    """Every claim about an object by a call of its own."""
    settings = prepared.settings
    cloud = prepared.dataset[index].cloud(settings.points)
    options = settings.options(settings.object_seed(index))
    model = load_model(settings.model)
    return [certify(model, cloud, c.transform, c.radius, options) for c in settings.claim_specs()]


@pytest.mark.parametrize(
    ("model", "claims"),
    [
        ("tiny-rotation", ("x-rotation:60", "x-rotation:2", "x-rotation:20", "x-rotation:40")),
        ("tiny-group", ("general-rotation:5", "z-rotation:180", "zyx-rotation:30")),
        ("tiny-noise", ("l2:0.02", "l2:0.2", "linf:0.01")),
    ],
)
def test_one_count_decides_every_radius(
    ask: Ask, tmp_path: Path, model: str, claims: tuple[str, ...]
) -> None:
    prepared = prepare(ask(model, *claims), tmp_path / "run")
    seen = set()
    for row, _ in evaluated(prepared):
        separate = alone(prepared, row.index)
        for answer, certificate in zip(row.claims, separate, strict=True):
            failed = answer.status == "implied"
            assert (answer.status if not failed else "undecided") == certificate.verdict
            seen.add(answer.status)
        # Whole blocks are counted, so the cost may exceed the votes by less than one block per batch.
        assert row.evaluations <= max(c.samples for c in separate) + 64
    assert "certified" in seen


def test_covers_go_up_and_stop_at_the_first_failure(ask: Ask, tmp_path: Path) -> None:
    claims = ("z-taper:0.6", "z-taper:0.05", "z-taper+z-rotation:taper=0.6,rotation=2")
    prepared = prepare(ask("tiny-noise", *claims, budget_samples=5_000), tmp_path / "run")
    for row, _ in evaluated(prepared):
        large, small, composed = (answer.status for answer in row.claims)
        separate = [certificate.verdict for certificate in alone(prepared, row.index)]
        assert small == separate[1]
        assert large == (separate[0] if small == "certified" else "implied")
        assert composed == (separate[2] if large == "certified" else "implied")


def test_shapes_fixed_beforehand_have_all_of_alpha_each_and_share_their_votes(
    ask: Ask, tmp_path: Path
) -> None:
    claims = (
        "z-taper+z-rotation:taper=0.05,rotation=1",
        "z-taper+z-rotation:taper=0.1,rotation=1",
        "l2:0.02",
    )
    prepared = prepare(ask("tiny-noise", *claims, budget_samples=5_000), tmp_path / "run")
    for row, made in evaluated(prepared, certificates=True):
        certificates = [Certificate.from_json(text) for text in made.values()]
        assert len(certificates) >= 2
        for certificate in certificates:
            assert verify(certificate).verdict == certificate.verdict
            assert certificate.family == 1
            assert len(certificate.ledger.families) <= 1
        assert row.evaluations < sum(certificate.samples for certificate in certificates)


def test_what_lies_within_what() -> None:
    def within(first: str, second: str) -> bool:
        return ClaimSpec.parse(first).within(ClaimSpec.parse(second))

    assert within("z-taper:0.1", "z-taper:0.2")
    assert not within("z-taper:0.2", "z-taper:0.1")
    assert within("z-taper:0.1", "z-taper+z-rotation:taper=0.1,rotation=1")
    assert within("z-taper+z-rotation:0.1,1", "z-twist+z-taper+z-rotation:10,0.1,1")
    assert not within("z-taper+z-twist:0.1,1", "z-twist+z-taper:10,0.2"), "another order is another attack"
    assert not within("z-taper:0.1", "z-twist:20")


def test_claims_are_asked_upwards() -> None:
    texts = ["z-twist+z-taper+z-rotation:10,0.1,1", "z-taper:0.2", "z-taper+z-rotation:0.1,1", "z-taper:0.1"]
    claims = [ClaimSpec.parse(text) for text in texts]
    order = ascending(claims)
    for earlier, number in enumerate(order):
        assert not any(claims[later].within(claims[number]) for later in order[earlier + 1 :])


def test_accuracy_only_spends_no_votes_on_wrong_predictions(ask: Ask, tmp_path: Path) -> None:
    claims = ("x-rotation:2", "x-rotation:20")
    both = evaluate(ask("tiny-rotation", *claims, budget_samples=640), tmp_path / "both", InlineEngine())
    fast = evaluate(
        ask("tiny-rotation", *claims, budget_samples=640, accuracy_only=True),
        tmp_path / "fast",
        InlineEngine(),
    )
    rows = read_journal(tmp_path / "fast")[1].values()
    wrong = [row for row in rows if not row.right]
    assert wrong
    sizes = {size for size, _ in SELECTION["classification"]}
    for row in wrong:
        assert [claim.status for claim in row.claims] == ["skipped", "skipped"]
        assert row.evaluations in sizes, "nothing but the choice of the class"
    for slow, quick in zip(both.claims, fast.claims, strict=True):
        assert quick.certified_accuracy == slow.certified_accuracy
        assert slow.certified_ratio is not None
        assert quick.certified_ratio is None
        assert slow.certified_ratio.value >= slow.certified_accuracy.value


def test_kept_certificates_verify(ask: Ask, tmp_path: Path) -> None:
    request = ask("tiny-rotation", "x-rotation:5", "x-rotation:10", limit=3)
    evaluate(request, tmp_path / "run", InlineEngine(), certificates=tmp_path / "kept")
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) >= 3
    for path in kept:
        verify(Certificate.load(path))


def test_what_cannot_be_certified_is_refused_before_the_first_vote(ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedRequest, match="z-taper"):
        prepare(ask("tiny-rotation", "x-rotation:5", "z-taper:0.1"), tmp_path / "run")
    with pytest.raises(InvalidValue, match="transform:radius"):
        prepare(ask("tiny-rotation", "x-rotation"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
