"""Checkpoints promise to be what their cards say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tpc_core.data import gallery, load_object
from tpc_core.errors import InvalidFile, InvalidValue, UnknownName
from tpc_core.models import Model, ModelCard, build, list_models, load_card, load_model
from tpc_core.models.store import encode_weights
from tpc_core.smoothing import TorchNoise
from tpc_core.training.config import parse_config
from tpc_core.training.export import export

SUMMARIES = Path(__file__).resolve().parents[2] / "results" / "paper" / "summaries"
SIXTY_FOUR = [
    card for card in list_models() if (card.task, card.num_points) == ("classification", 64) and not card.box
]
"""Interval-trained networks give up some of the plain accuracy for what they can prove."""
MEASURED = [card for card in list_models() if card.clean_accuracy is not None]
VOTES = 24
RECIPE = {"name": "tiny", "epochs": 1, "smoothing": {"kind": "coordinate", "sigma": 0.1}}


@pytest.fixture(scope="module")
def gallery_clouds() -> Tensor:
    return torch.stack([load_object(f"gallery:{entry.name}", points=64).points for entry in gallery()])


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    module = build("pointnet", classes=3)
    return export(module.state_dict(), parse_config(RECIPE, "test"), ["a", "b", "c"], 10, None, tmp_path)


def test_weights_come_back_rounded_to_float16_as_float32(tmp_path: Path) -> None:
    module = build("pointnet", classes=3)
    weights = export(module.state_dict(), parse_config(RECIPE, "test"), ["a", "b", "c"], 10, None, tmp_path)
    loaded = load_model(str(weights)).module.state_dict()
    for name, tensor in module.state_dict().items():
        expected = tensor.half().float() if tensor.is_floating_point() else tensor
        assert torch.equal(loaded[name], expected)
    assert weights.stat().st_size < 4_000_000


def test_a_changed_file_is_refused(exported: Path) -> None:
    data = bytearray(exported.read_bytes())
    data[-1] ^= 1
    exported.write_bytes(bytes(data))
    with pytest.raises(InvalidFile, match="sha256"):
        load_model(str(exported))


def test_a_card_with_a_wrong_field_is_refused(exported: Path) -> None:
    card = exported.with_suffix(".json")
    values = json.loads(card.read_text())
    card.write_text(json.dumps({**values, "colour": "red"}))
    with pytest.raises(InvalidFile, match="colour"):
        load_model(str(exported))


def test_weights_of_another_architecture_do_not_fit(exported: Path) -> None:
    card = exported.with_suffix(".json")
    card.write_text(json.dumps({**json.loads(card.read_text()), "architecture": "dgcnn"}))
    with pytest.raises(InvalidFile, match="do not fit"):
        load_model(str(exported))


def test_unknown_names_list_what_there_is() -> None:
    with pytest.raises(UnknownName, match="unknown model 'nonsense'"):
        load_model("nonsense")
    with pytest.raises(UnknownName, match="choose one of: pointnet"):
        build("resnet", classes=3)
    with pytest.raises(InvalidValue, match="does not take"):
        build("pointnet", classes=3, depth=4)
    with pytest.raises(UnknownName, match="canonical pose"):
        build("pointnet", classes=3, canonical="upside-down")


def test_weights_too_large_for_float16_are_refused() -> None:
    with pytest.raises(InvalidFile, match="float16"):
        encode_weights({"w": torch.tensor([1e6])})


@pytest.mark.parametrize("card", list_models(), ids=lambda card: card.name)
def test_every_shipped_checkpoint_loads_and_answers(card: ModelCard) -> None:
    model = load_model(card.name)
    assert load_card(card.name) == model.card
    points = 0.5 * torch.randn(2, min(model.num_points or 64, 64), 3)
    with torch.no_grad():
        torch.testing.assert_close(model.classifier()(points), model.module(points), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("card", SIXTY_FOUR, ids=lambda card: card.name)
def test_every_gallery_object_is_recognised(card: ModelCard, gallery_clouds: Tensor) -> None:
    model = load_model(card.name)
    noise = TorchNoise(torch.Generator().manual_seed(0))
    classify, votes = model.classifier(), torch.zeros(len(gallery_clouds), len(model.classes))
    for _ in range(VOTES):
        votes += F.one_hot(classify(model.smoothing.perturb(gallery_clouds, noise)).argmax(1), votes.shape[1])
    found = [model.classes[int(row.argmax())] for row in votes]
    assert found == [entry.category for entry in gallery()]


@pytest.mark.parametrize("card", MEASURED, ids=lambda card: card.name)
def test_a_card_says_what_was_measured_with_these_very_weights(card: ModelCard) -> None:
    summary = json.loads((SUMMARIES / f"{_quoted(card)}.json").read_text(encoding="utf-8"))
    assert summary["settings"]["model_digest"] == load_model(card.name).digest
    assert summary["settings"]["split"] == "test"
    assert card.clean_accuracy is not None
    assert card.clean_accuracy.value == summary["clean_accuracy"]["value"]
    assert card.certified_accuracy is not None
    assert {f"{m.transform}:{m.radius}": m.value for m in card.certified_accuracy} == {
        row["claim"]: row["certified_accuracy"]["value"] for row in summary["claims"]
    }
    for measurement in (card.clean_accuracy, *card.certified_accuracy):
        assert measurement.objects == summary["objects"]
        assert measurement.command.startswith(summary["command"])


def test_no_figure_is_kept_of_weights_that_are_gone() -> None:
    """A summary is of a checkpoint that is here; a card quotes the one of the proofs that it was trained for."""
    measured = {
        path.stem: json.loads(path.read_text())["settings"]["model"] for path in SUMMARIES.glob("*.json")
    }
    assert set(measured.values()) <= {card.name for card in list_models()}
    smoothed = {name for name, model in measured.items() if name == model}
    assert smoothed == {card.name for card in MEASURED if not card.is_for_certainty}
    assert all(name.startswith(f"{model}-certain") for name, model in measured.items() if name != model)


def _quoted(card: ModelCard) -> str:
    """The summary whose figures a card has."""
    return f"{card.name}-certain" if card.is_for_certainty else card.name


def test_the_digest_covers_the_architecture_as_well_as_the_weights() -> None:
    model = load_model(list_models()[0].name)
    posed = Model(model.card.model_copy(update={"options": {"canonical": "whitened"}}), model.module)
    assert posed.card.sha256 == model.card.sha256
    assert posed.digest != model.digest
