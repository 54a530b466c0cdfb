"""Networks of other seeds: what they are called, and that their spread is beside the one that the plan names."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from tests.evaluation.conftest import CLASSES, save_model
from tpc_core.cli.report import report as report_command
from tpc_core.evaluation import Figures, InlineEngine, Request, evaluate
from tpc_core.evaluation.report import load_runs
from tpc_core.evaluation.seeds import seed_rows
from tpc_core.models import build
from tpc_core.models.seeds import recipe_of, seed_name
from tpc_core.models.store import encode_weights

Ask = Callable[..., Request]
GROUP = {"kind": "group", "group": "so3"}


@pytest.fixture
def trained(ask: Ask, tmp_path: Path) -> Callable[..., Figures]:
    """Evaluate a network of another seed: random weights do."""

    def run(seed: int, **changes: object) -> Figures:
        torch.manual_seed(seed)
        data = encode_weights(build("pointnet", classes=len(CLASSES)).state_dict())
        name = seed_name("tiny-group", seed)
        model = save_model(tmp_path, name, data, GROUP)
        request = ask("tiny-group", "z-rotation:180", limit=12, **changes)
        folder = tmp_path / "seeds" / f"{name}-{len(changes)}"
        return evaluate(request.model_copy(update={"model": model}), folder, InlineEngine())

    return run


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("pointnet64-z-shear", ("pointnet64-z-shear", None)),
        ("pointnet64-z-shear-seed-12", ("pointnet64-z-shear", 12)),
        ("somewhere/else/a-seed-3.safetensors", ("a", 3)),
        ("a-seed-", ("a-seed-", None)),
    ],
)
def test_a_name_says_recipe_and_seed(model: str, parts: tuple[str, int | None]) -> None:
    assert recipe_of(model) == parts
    recipe, seed = parts
    assert seed is None or recipe_of(seed_name(recipe, seed)) == parts


def test_the_report_has_the_spread_of_the_seeds(
    ask: Ask, tmp_path: Path, trained: Callable[..., Figures]
) -> None:
    own = evaluate(
        ask("tiny-group", "z-rotation:180", limit=12), tmp_path / "own" / "tiny-group", InlineEngine()
    )
    shares = [figures.claims[0].certified_accuracy.value for figures in (own, trained(1), trained(2))]
    assert len(set(shares)) > 1, "three equal figures would show nothing"
    flags = [str(tmp_path / "own"), "--seeds", str(tmp_path / "seeds"), "--out", str(tmp_path / "report")]
    assert CliRunner().invoke(report_command, flags, catch_exceptions=False).exit_code == 0
    text = (tmp_path / "report" / "report.md").read_text()
    said = ", ".join(f"{share:.1f}" for share in shares)
    spread = f"{statistics.mean(shares):.1f} | {statistics.stdev(shares):.2f}"
    (line,) = [line for line in text.splitlines() if spread in line]
    assert line == f"| tiny-group | z-rotation:180 | 12 | {said} | {spread} |"
    assert text.count("| tiny-group-seed-1 |") == 1, "it has a line of costs, and answers no row of the paper"


def test_what_was_asked_otherwise_is_no_sister(
    ask: Ask, tmp_path: Path, trained: Callable[..., Figures]
) -> None:
    own = evaluate(
        ask("tiny-group", "z-rotation:180", limit=12), tmp_path / "own" / "tiny-group", InlineEngine()
    )
    more = trained(1, budget_samples=900)
    assert own.settings.budget_samples != more.settings.budget_samples
    assert list(seed_rows([own], [more])) == []
    assert load_runs([tmp_path / "own"]).seeds == []
