"""Models on the Hugging Face hub: a card in its format, `push_model` and `from_pretrained`."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from tpc_core.border import CARD, checked, read_json
from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue, MissingDependency, TpcError, UnsupportedRequest
from tpc_core.models.architectures import ARCHITECTURES
from tpc_core.models.brought.bring import framed
from tpc_core.models.card import Measurement, ModelCard
from tpc_core.models.store import MAX_WEIGHTS_BYTES, Model, built, load_model, weights_path
from tpc_core.smoothing import smoothing_from_json
from tpc_core.version import VERSION

WEIGHTS, CARD_FILE, README = "model.safetensors", "tpc-card.json", "README.md"


def hub_readme(card: ModelCard) -> str:
    """The card in the hub's format: a YAML head that machines read, and a page for people."""
    rows: list[dict[str, Any]] = []
    if card.clean_accuracy is not None:
        rows.append(_result(card, "clean accuracy", card.clean_accuracy))
    for measured in card.certified_accuracy or []:
        rows.append(_result(card, f"certified accuracy, {measured.transform} {measured.radius}", measured))
    head: dict[str, Any] = {
        "library_name": "tpc-explorer",
        "license": "mit" if card.brought is None else "other",
        "pipeline_tag": "other",
        "tags": ["point-cloud", "certified-robustness", "randomized-smoothing", card.architecture],
        "model-index": [{"name": card.name, "results": rows}] if rows else [],
    }
    # JSON is YAML, quotes included: no name in a card can break out of it.
    lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in head.items() if value), "---", ""]
    smoothing = smoothing_from_json(card.smoothing).describe()
    lines += [
        f"# {card.name}",
        "",
        f"A {card.architecture} for {card.task} of point clouds with {len(card.classes)} classes, "
        f"{card.parameters:,} parameters, for clouds of {card.num_points or 'any number of'} points, z-up and in the "
        f"unit ball. It votes under {smoothing}.",
        "",
        f"Trained on: {card.data}." if card.noise_trained else "It was not trained under this smoothing.",
        "",
        "```python",
        "from tpc_core.models.hub import from_pretrained",
        "",
        'model = from_pretrained("OWNER/NAME")',
        "```",
        "",
        f"Classes: {', '.join(card.classes)}.",
    ]
    if rows:
        lines += ["", "| measured | percent | objects | command |", "|---|---|---|---|"]
        every = [*([card.clean_accuracy] if card.clean_accuracy else []), *(card.certified_accuracy or [])]
        for item, row in zip(every, rows, strict=True):
            name = row["metrics"][0]["name"]
            lines.append(f"| {name} | {item.value:.1f} | {item.objects} | `{item.command}` |")
    return "\n".join(lines) + f"\n\nWritten by TPC Explorer {VERSION}; weights sha256 {card.sha256}.\n"


def push_model(name: str, repository: str, *, private: bool = True) -> str:
    """Upload a model with its card to the hub; the address of what was made there. The hub's own login is used."""
    files = hub_files(name)
    hub = _hub()
    try:
        api = hub.HfApi()
        api.create_repo(repository, private=private, exist_ok=True)
        operations = [
            hub.CommitOperationAdd(path_in_repo=place, path_or_fileobj=content)
            for place, content in files.items()
        ]
        done = api.create_commit(repository, operations, commit_message=f"{name}, by TPC Explorer {VERSION}")
    except TpcError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidValue(f"the hub did not take {name}: {reason}") from error
    return str(done.commit_url)


def hub_files(name: str) -> dict[str, bytes]:
    """What is uploaded: weights, our card and the hub's."""
    model = load_model(name)
    card = model.card
    if card.architecture not in ARCHITECTURES:
        raise UnsupportedRequest(
            f"{name} is a network of its author's own code, which a card cannot bring along; export it as ONNX instead"
        )
    weights = read_bytes(weights_path(name), MAX_WEIGHTS_BYTES)
    text = f"{json.dumps(card.model_dump(), indent=1)}\n"
    return {WEIGHTS: weights, CARD_FILE: text.encode(), README: hub_readme(card).encode()}


def from_pretrained(repository: str, *, revision: str | None = None) -> Model:
    """A model from the hub, or from a folder with the same files. Its card describes the network; no code is run."""
    folder = Path(repository)
    if not folder.is_dir():
        hub = _hub()
        try:
            folder = Path(
                hub.snapshot_download(repository, revision=revision, allow_patterns=[WEIGHTS, CARD_FILE])
            )
        except Exception as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InvalidValue(f"the hub has no model {repository} for us: {reason}") from error
    path = folder / CARD_FILE
    card = checked(ModelCard, read_json(read_bytes(path, CARD.size), CARD, str(path)), CARD, str(path))
    if card.architecture not in ARCHITECTURES:
        raise InvalidFile(f"{repository} describes no network that is known here: {card.architecture}")
    if card.brought is not None and card.brought.format != "weights":
        raise InvalidFile(f"{repository} is a {card.brought.format} model, which cannot come from elsewhere")
    data = read_bytes(folder / WEIGHTS, MAX_WEIGHTS_BYTES)
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise InvalidFile(f"the weights of {repository} are not those that its card describes")
    network = built(card, data, repository).requires_grad_(False)
    if card.brought is None:
        return Model(card, network)
    return Model(card, framed(network, card.brought.frame))


def _result(card: ModelCard, name: str, measured: Measurement) -> dict[str, Any]:
    return {
        "task": {"type": "point-cloud-classification"},
        "dataset": {"name": card.dataset, "type": card.dataset},
        "metrics": [{"type": "accuracy", "name": name, "value": round(measured.value, 2)}],
    }


def _hub() -> Any:
    try:
        return import_module("huggingface_hub")
    except ImportError as error:
        raise MissingDependency("the hub needs its package: pip install huggingface_hub") from error
