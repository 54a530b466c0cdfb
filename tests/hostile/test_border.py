"""The border promises: a document is refused at its first mistake, for the price of its own size."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.fuzz import check_sentence
from tests.hostile.targets import _card
from tpc_core.border import CARD, Kind, checked, gathering_lists, read_json, read_toml
from tpc_core.certificate import Certificate
from tpc_core.errors import InvalidCertificate, InvalidFile, TpcError
from tpc_core.evaluation.plan import load_plan
from tpc_core.evaluation.settings import Request
from tpc_core.models.card import ModelCard, read_card
from tpc_core.training.config import TrainConfig, load_config

ROOT = Path(__file__).resolve().parents[2]
SMALL = Kind("a small one", size=10_000, values=50, keys=5, depth=4)
ITEMS = 800_000


def refused(read: Callable[[], object], match: str) -> None:
    """One sentence, and not a hundred megabytes for it."""
    tracemalloc.start()
    try:
        with pytest.raises(TpcError, match=match) as caught:
            read()
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    check_sentence(str(caught.value))


def card(**changed: Any) -> bytes:
    return json.dumps({**json.loads(_card()), **changed}).encode()


HOSTILE_CARDS = {
    "a class list of lists": card(classes=[[]] * ITEMS),
    "measurements by the hundred thousand": card(certified_accuracy=[{}] * ITEMS),
    "a table of unknown fields": card(**{f"k{number}": 0 for number in range(100_000)}),
    "nested smoothing": card(smoothing={}).replace(
        b'"smoothing": {}', b'"smoothing": ' + b"[" * 9000 + b"]" * 9000
    ),
}


@pytest.mark.parametrize("what", sorted(HOSTILE_CARDS))
def test_a_hostile_card_costs_no_more_than_its_own_size(what: str, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(HOSTILE_CARDS[what])
    refused(lambda: read_card(tmp_path / "card.json"), "card")


def test_a_wrong_list_is_one_error_and_not_one_for_each_item() -> None:
    # Within every limit, and still thousands of wrong items: the check ends at the first.
    values = {**json.loads(_card()), "classes": [[]] * 15_000}
    refused(lambda: checked(ModelCard, values, CARD, "card.json"), r"classes\.0")


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (load_plan, '[[evaluate]]\nmodel = "a"\nclaims = [' + "[]," * 400_000 + "]\n"),
        (load_plan, "[[evaluate]]\n" * 100_000),
        (load_config, 'name = "a"\nteachers = [' + "[]," * 400_000 + "]\n"),
        (load_config, "\n".join(f"k{number} = 0" for number in range(1_500))),
    ],
    ids=["claims", "evaluations", "teachers", "options"],
)
def test_a_hostile_plan_or_recipe_is_refused_early(
    reader: Callable[[Path], object], text: str, tmp_path: Path
) -> None:
    (tmp_path / "file.toml").write_text(text)
    refused(lambda: reader(tmp_path / "file.toml"), r"file\.toml")


@pytest.mark.parametrize("model", [Certificate, ModelCard, TrainConfig, Request])
def test_no_list_of_a_record_gathers_errors(model: type[Any]) -> None:
    assert gathering_lists(model) == []


def test_the_look_at_lists_finds_what_it_looks_for() -> None:
    from pydantic import BaseModel

    from tpc_core.border import Items

    class Inner(BaseModel):
        many: list[int]

    class Outer(BaseModel):
        good: Items[int]
        inner: Items[Inner]

    assert len(gathering_lists(Outer)) == 1


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"a": 1, "a": 2}', "twice"),
        ('{"b": {"a": 1, "a": 1}}', "twice"),
        ('{"a": NaN}', "finite"),
        ('{"a": -Infinity}', "finite"),
        ('{"a": 1e999}', "finite"),
        ('{"a": ["\\ud800"]}', "half of a character"),
        ('{"\\uDFFF": 1}', "half of a character"),
        ("[[[[[1]]]]]", "deeper"),
        ("[" * 100_000 + "]" * 100_000, "bytes|values"),
        ("[" * 40 + "]" * 40, "deeper"),
        ("[" + "0," * 60 + "0]", "50 values"),
        (json.dumps(dict.fromkeys("abcdef", 0)), "5 entries"),
        ("[" + "9" * 5000 + "]", "digits"),
        (" " * 20_000, "bytes"),
        ("{", "small one"),
        ("", "small one"),
        ("{} {}", "small one"),
    ],
)
def test_strict_json(text: str, match: str) -> None:
    for content in (text, text.encode()):
        with pytest.raises(InvalidFile, match=match) as caught:
            read_json(content, SMALL, "file.json")
        check_sentence(str(caught.value))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x80abc", '{"a": "é"}'.encode("latin-1")])
def test_what_is_not_utf8_is_refused(content: bytes) -> None:
    for read in (read_json, read_toml):
        with pytest.raises(InvalidFile):
            read(content, SMALL, "file")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a = " + "[" * 5 + "]" * 5, "deeper"),
        ("a = " + "[" * 3000, "deep"),
        ("a = [" + "0," * 60 + "]", "50 values"),
        ("a = 1\na = 2", "small one"),
        ("\n".join(f"k{n} = 0" for n in range(6)), "5 entries"),
    ],
)
def test_strict_toml(text: str, match: str) -> None:
    with pytest.raises(InvalidFile, match=match):
        read_toml(text, SMALL, "file.toml")


def test_a_good_document_comes_out_as_json_and_toml_have_it() -> None:
    text = '{"a": [1, 2.5, "x", null, true], "b": {"c": -1e-3}}'
    assert read_json(text, SMALL, "file.json") == json.loads(text)
    assert read_toml('a = [1, 2]\n[b]\nc = "x"\n', SMALL, "file.toml") == {"a": [1, 2], "b": {"c": "x"}}


def test_a_kind_brings_the_error_of_its_room() -> None:
    kind = Kind("a certificate", size=100, values=10, error=InvalidCertificate)
    with pytest.raises(InvalidCertificate, match="is not a certificate"):
        read_json("[", kind, "file.json")


def test_the_limits_leave_room_for_everything_that_is_shipped() -> None:
    """Four times the largest of each kind still fits."""
    cards = [path.read_bytes() for path in (ROOT / "checkpoints").glob("*.json")]
    assert cards
    assert 4 * max(map(len, cards)) < CARD.size
    for path in (ROOT / "checkpoints").glob("*.json"):
        assert read_card(path).name
    for path in (ROOT / "configs").glob("*.toml"):
        assert load_config(path).name
    assert load_plan(ROOT / "configs" / "evaluation" / "paper.toml")
