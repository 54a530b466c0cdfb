"""Certified accuracy with certainty: about the plain network, counted in cells, beside the smoothed figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tpc_core import Certificate, load_model, replay, verify
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.evaluation import InlineEngine, Request, evaluate
from tpc_core.evaluation.journal import read_journal
from tpc_core.evaluation.plan import has_checkpoint, load_plan
from tpc_core.evaluation.report import Runs, report_blocks
from tpc_core.exact import network_of
from tpc_core.shipped import shipped

Ask = Callable[..., Request]
CLAIMS = ["z-taper:0.05", "z-taper:0.3"]


def test_certain_figures_are_of_the_plain_network(ask: Ask, tmp_path: Path) -> None:
    request = ask("tiny-noise", *CLAIMS, proof="certain", budget_cells=300, limit=6)
    figures = evaluate(request, tmp_path / "run", InlineEngine(), certificates=tmp_path / "kept")
    assert figures.clean_accuracy == figures.base_accuracy
    assert figures.settings.smoothing == {}
    assert figures.settings.budget_samples is None
    rows = read_journal(tmp_path / "run")[1]
    assert all(row.prediction == row.base for row in rows.values())
    kept = [Certificate.load(path) for path in sorted((tmp_path / "kept").rglob("*.json"))]
    assert kept
    model = load_model(figures.settings.model)
    for certificate in kept:
        assert certificate.alpha == 0.0
        assert verify(certificate).verdict == certificate.verdict
        replay(certificate, model)
    cells = sum(certificate.certain.bounded for certificate in kept if certificate.certain is not None)
    assert cells == sum(row.evaluations for row in rows.values())


def test_the_command_of_a_certain_run_says_so(ask: Ask, tmp_path: Path) -> None:
    figures = evaluate(ask("tiny-noise", CLAIMS[0], proof="certain", limit=2), tmp_path, InlineEngine())
    assert "--proof certain --budget-cells 20000" in figures.settings.command()
    assert "--alpha" not in figures.settings.command()
    text = "\n".join(str(block) for block in report_blocks(Runs([figures], [])))
    assert "certain" in text
    assert "the plain network" in text


def test_a_budget_of_cells_belongs_to_certain_runs(ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="--proof certain"):
        evaluate(ask("tiny-noise", *CLAIMS, budget_cells=10), tmp_path, InlineEngine())
    with pytest.raises(UnsupportedRequest, match="casts no votes"):
        evaluate(ask("tiny-noise", *CLAIMS, proof="certain", protocol="paper"), tmp_path, InlineEngine())


def test_the_shipped_plan_asks_for_certainty_of_networks_that_can_be_bounded() -> None:
    for request in load_plan(shipped("configs", "evaluation", "certain.toml")):
        assert request.proof == "certain"
        if has_checkpoint(request):
            network_of(load_model(request.model).module)
