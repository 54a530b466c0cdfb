"""A plan: several evaluations in one TOML file, such as all the tables of the paper."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tpc_core.border import PLAN, checked, read_toml
from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.settings import Request
from tpc_core.models.store import weights_path


def load_plan(path: Path, overrides: dict[str, Any] | None = None) -> list[Request]:
    """The evaluations of a plan: `[defaults]`, then one `[[evaluate]]` per model.

    `overrides` (what was typed on the command line) win over the file.
    """
    content = read_toml(read_bytes(path, PLAN.size), PLAN, str(path))
    unknown = set(content) - {"defaults", "evaluate"}
    entries = content.get("evaluate")
    if unknown or not isinstance(entries, list) or not entries:
        raise InvalidFile(f"{path}: a plan holds [defaults] and one or more [[evaluate]], nothing else")
    defaults = content.get("defaults", {})
    if not isinstance(defaults, dict) or not all(isinstance(entry, dict) for entry in entries):
        raise InvalidFile(f"{path}: [defaults] and every [[evaluate]] are tables of settings")
    requests = [_request(path, defaults, entry, overrides or {}) for entry in entries]
    twice = [model for model, count in Counter(request.model for request in requests).items() if count > 1]
    if twice:
        raise InvalidFile(f"{path}: {twice[0]} has two [[evaluate]] entries; put all its claims into one")
    return requests


def _request(
    path: Path, defaults: dict[str, Any], entry: dict[str, Any], overrides: dict[str, Any]
) -> Request:
    name = f"{path}: {entry.get('model', 'an entry')}"
    return checked(Request, {**defaults, **entry, **overrides}, PLAN, name)


def has_checkpoint(request: Request) -> bool:
    """Whether the weights and the card are there; a plan may run ahead of the training."""
    weights = weights_path(request.model)
    return weights.exists() and weights.with_suffix(".json").exists()
