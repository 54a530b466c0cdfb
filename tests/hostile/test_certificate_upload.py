"""A certificate that a visitor brings is parsed apart: whatever it holds, the server hardly notices."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator

import pytest

from app.session import uploads
from tests.certificate.made import genuine
from tests.hostile.fuzz import check_sentence
from tpc_core.border import CERTIFICATE
from tpc_core.data.sandbox.frames import document_answer
from tpc_core.errors import InvalidCertificate, InvalidFile, TpcError

KINDS = ("cover", "parameter", "group")


@pytest.fixture(scope="module", autouse=True)
def one_process() -> Iterator[None]:
    uploads.certificate_process().start()
    yield
    uploads.certificate_process().stop()


def bomb(field: str, piece: str, count: int = 800_000) -> bytes:
    return f'{{"{field}": [{",".join([piece] * count)}]}}'.encode()


def changed(**fields: object) -> bytes:
    return json.dumps({**genuine("cover").model_dump(mode="json"), **fields}).encode()


HOSTILE = {
    "reasons by the hundred thousand": bomb("reasons", "[]"),
    "ledger by the hundred thousand": bomb("ledger", "{}"),
    "more bytes than any": b" " * (CERTIFICATE.size + 1),
    "more values than any": bomb("reasons", "0", CERTIFICATE.values + 1),
    "nested": b'{"a":' * 50_000,
    "a number past all": changed(alpha=0.001).replace(b'"alpha": 0.001', b'"alpha": 1e999'),
    "NaN": changed(alpha=0.001).replace(b'"alpha": 0.001', b'"alpha": NaN'),
    "a field twice": changed().replace(b'"verdict":', b'"verdict": "certified", "verdict":', 1),
    "ten thousand votes by name": changed(ledger=[]).replace(
        b'"ledger": []',
        b'"extra": {' + b",".join(b'"k%d": 0' % n for n in range(12_000)) + b'}, "ledger": []',
    ),
    "not JSON": b"<html>",
    "empty": b"",
    "a list": b"[1]",
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_a_hostile_certificate_costs_its_owner_a_sentence_and_the_server_nothing(what: str) -> None:
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    with pytest.raises(TpcError) as caught:
        uploads.read_certificate(HOSTILE[what], "evil.json")
    check_sentence(str(caught.value))
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert (after.ru_maxrss - before.ru_maxrss) << 10 < 100 << 20
    assert time.process_time() - started < 1.0  # CPU of this process alone: the work is done elsewhere


@pytest.mark.parametrize("kind", KINDS)
def test_a_genuine_certificate_comes_out_the_same(kind: str) -> None:
    made = genuine(kind)
    assert uploads.read_certificate(made.to_json().encode(), "chair.json") == made


def test_a_process_that_was_taken_over_cannot_send_what_is_no_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Liar:
        def ask(self, content: bytes, shown: str, receive: object) -> bytes:
            return document_answer(bomb("reasons", "[]"))[1]

    monkeypatch.setattr(uploads, "certificate_process", lambda: Liar())
    with pytest.raises((InvalidCertificate, InvalidFile)):
        uploads.read_certificate(b"{}", "evil.json")


def test_the_process_that_reads_certificates_is_confined() -> None:
    assert uploads.certificate_process().confinement
