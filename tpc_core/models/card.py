"""The card of a checkpoint: what it is, how it was made, and what was measured with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile

LARGEST_CARD = 4 << 20


class Measurement(BaseModel):
    """A measured figure and the command that anyone can run to measure it again."""

    model_config = ConfigDict(extra="forbid")

    value: float = Field(ge=0, le=100, description="percent")
    objects: int = Field(ge=1)
    command: str
    transform: str | None = None
    radius: str | None = None


class ModelCard(BaseModel):
    """Everything about a checkpoint that is not a weight; stored as NAME.json beside NAME.safetensors."""

    model_config = ConfigDict(extra="forbid")

    name: str
    architecture: str
    options: dict[str, Any] = Field(default_factory=dict)
    task: Literal["classification", "segmentation"] = "classification"
    classes: list[str]
    num_points: int | None = None
    smoothing: dict[str, Any]
    sigma: list[float] | None = None
    dataset: str
    data: str = Field(description="which objects it was trained on")
    seed: int
    recipe: dict[str, Any] = Field(description="the training config, in full")
    parameters: int
    precision: Literal["float16", "float32"] = "float16"
    sha256: str = Field(description="of the safetensors file")
    held_aside: dict[str, float] | None = Field(
        default=None,
        description="percent on the held-aside part of train, by few Monte-Carlo votes: for tuning",
    )
    clean_accuracy: Measurement | None = None
    certified_accuracy: list[Measurement] | None = None


def read_card(path: Path) -> ModelCard:
    """Read a card, or raise InvalidFile with one line that says what is wrong in it."""
    try:
        return ModelCard.model_validate_json(read_bytes(path, LARGEST_CARD))
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"]) or "the file"
        raise InvalidFile(f"{path}: {where}: {detail['msg']}") from error
