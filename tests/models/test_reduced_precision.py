"""Reduced precision is another classifier: it has another name and digest, and comes by that name only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch

from tests.models.test_fast_path_agrees import NETWORKS, settled
from tpc_core import Budget, Options, certify, load_model, load_object, replay
from tpc_core.errors import TpcError
from tpc_core.models import load_by_digest, load_card
from tpc_core.models.precision import REDUCED, split_precision, with_precision
from tpc_core.models.reduced import Reduced

NAME = "pointnet64-noise"


def test_the_name_says_which_classifier_it_is() -> None:
    full = load_model(NAME)
    described = json.dumps([full.card.architecture, full.card.options, full.card.sha256], sort_keys=True)
    assert full.digest == hashlib.sha256(described.encode()).hexdigest(), "old certificates name this digest"
    digests = {full.digest}
    for precision in REDUCED:
        variant = load_model(f"{NAME}@{precision}")
        assert variant.name == f"{NAME}@{precision}"
        digests.add(variant.digest)
        assert (
            variant.card.held_aside is variant.card.clean_accuracy is variant.card.certified_accuracy is None
        )
        assert load_card(variant.name) == variant.card
    assert len(digests) == 1 + len(REDUCED)
    assert full.card.held_aside is not None, "nothing was measured, so nothing could be kept by mistake"


def test_votes_differ_from_those_of_float32_now_and_then_only() -> None:
    points = 0.3 * torch.randn(256, 64, 3, generator=torch.Generator().manual_seed(0))
    full = load_model(NAME).classifier()(points)
    for precision, tolerance in (("bfloat16", 0.1), ("float16", 0.02)):
        logits = load_model(f"{NAME}@{precision}").classifier()(points)
        assert logits.dtype == torch.float32
        error = float((logits - full).abs().max() / full.abs().max())
        assert 1e-5 < error < tolerance, "equal logits would mean that nothing was reduced"
        assert float((logits.argmax(1) == full.argmax(1)).float().mean()) > 0.9


@pytest.mark.parametrize(("architecture", "options"), NETWORKS)
def test_every_architecture_has_the_variant(architecture: str, options: dict[str, object]) -> None:
    module = settled(architecture, options)
    points = 0.4 * torch.randn(3, 32, 3)
    with torch.no_grad():
        expected = module(points)
    logits = Reduced(module, "bfloat16")(points)
    assert logits.shape == expected.shape
    assert bool(torch.isfinite(logits).all())


def test_a_certificate_of_the_variant_is_replayed_with_the_variant_only() -> None:
    variant = load_model(f"{NAME}@bfloat16")
    cloud = load_object("gallery:airplane-1", points=16)
    certificate = certify(variant, cloud, "l2", 0.02, Options(budget=Budget(samples=96)))
    assert certificate.model.name == variant.name
    assert replay(certificate, load_model(certificate.model.name)) >= 64
    with pytest.raises(TpcError, match=f"{NAME}@bfloat16.* not with this {NAME} "):
        replay(certificate, load_model(NAME))


def test_names_are_read_as_they_are_written(tmp_path: Path) -> None:
    for checkpoint in (NAME, "some@folder/own.safetensors", "own.safetensors"):
        assert split_precision(checkpoint) == (checkpoint, "float32")
        assert split_precision(with_precision(checkpoint, "float16")) == (checkpoint, "float16")
    with pytest.raises(TpcError, match="int8"):
        load_model(f"{NAME}@int8")


@pytest.mark.parametrize("name", ["pointnet64-noise", "pointnet64-noise@bfloat16"])
def test_a_checkpoint_and_its_variants_are_found_by_what_they_are(name: str) -> None:
    assert load_by_digest(load_model(name).digest, "x").name == name
    with pytest.raises(TpcError, match="no checkpoint here"):
        load_by_digest("0" * 64, "x")
