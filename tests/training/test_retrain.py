"""A model can be trained further for the attack that broke it: watched, stopped, and kept as a new model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.test_own_data import meshes
from tpc_core.cli import main
from tpc_core.errors import TpcError
from tpc_core.models import load_card, load_model
from tpc_core.training import load_config, train
from tpc_core.training.config import TrainConfig
from tpc_core.training.retrain import Retraining, clouds_shown, retraining_recipe

PATIENCE = 600.0
NOISE = {"kind": "coordinate", "sigma": 0.05}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    monkeypatch.setenv("TPC_TRAININGS", str(tmp_path / "trainings"))
    assert main(["data", "add", "mine", str(meshes(tmp_path / "objects", per_class=3))]) == 0
    return tmp_path


@pytest.fixture
def first(home: Path) -> str:
    """A small network of the user's own, trained once."""
    recipe = TrainConfig(
        name="small",
        dataset="mine",
        points=16,
        smoothing=NOISE,
        epochs=1,
        batch=4,
        warmup=0,
        views=1,
        hold_out=0,
    )
    train(recipe, runs=home / "runs", checkpoints=home / "models", progress=False)
    return "small"


def test_the_recipe_is_that_of_the_model_under_the_noise_and_attacks_of_the_run() -> None:
    card = load_card("pointnet64-noise")
    recipe = retraining_recipe(card, {"kind": "coordinate", "sigma": 0.1}, "z-taper:0.4")
    before = load_config(Path("configs/pointnet64-noise.toml"))
    assert (recipe.initial, recipe.smoothing["sigma"]) == ("pointnet64-noise", 0.1)
    assert recipe.regions == ["z-taper:0.4"]
    assert (recipe.architecture, recipe.dataset, recipe.augment) == (
        before.architecture,
        before.dataset,
        before.augment,
    )
    assert recipe.name == "pointnet64-noise-retrained"


def test_the_new_model_lies_beside_the_old_one_and_differs_from_it(first: str) -> None:
    recipe = retraining_recipe(load_card(first), NOISE, "z-taper:0.4", epochs=2)
    ended: list[Retraining] = []
    training = Retraining(recipe, ended.append)
    assert training.join(PATIENCE)
    assert (training.state, training.message, training.part) == ("done", "", 1.0)
    assert ended == [training]
    assert load_model("small-retrained").digest != load_model(first).digest
    assert load_card("small-retrained").recipe["regions"] == ["z-taper:0.4"]
    again = retraining_recipe(load_card("small-retrained"), NOISE)
    assert (again.name, again.initial) == ("small-retrained-2", "small-retrained")


def test_a_training_that_is_stopped_leaves_no_model(first: str, home: Path) -> None:
    recipe = retraining_recipe(load_card(first), NOISE, epochs=1_000_000)
    training = Retraining(recipe)
    training.cancel()
    assert training.join(PATIENCE)
    assert training.state == "cancelled"
    assert not (home / "models" / "small-retrained.json").exists()


def test_a_failure_is_one_sentence(first: str) -> None:
    recipe = retraining_recipe(load_card(first), NOISE).model_copy(update={"dataset": "gone"})
    with pytest.raises(TpcError):
        clouds_shown(recipe)
    training = Retraining(recipe)
    assert training.join(PATIENCE)
    assert training.state == "failed"
    assert "gone" in training.message
