"""The card of a checkpoint: what it is, how it was made, and what was measured with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tpc_core.border import CARD, Items, checked, read_json
from tpc_core.data.files.content import read_bytes


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
    classes: Items[str]
    num_points: int | None = None
    smoothing: dict[str, Any]
    sigma: Items[float] | None = None
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
    certified_accuracy: Items[Measurement] | None = None

    @property
    def box(self) -> float:
        """How far every coordinate may move in the boxes that interval training was about; 0 without it."""
        return float(self.recipe.get("interval", {}).get("eps", 0.0))

    @property
    def regions(self) -> tuple[str, ...]:
        """The transforms under whose attacks the plain network was trained, by name."""
        return tuple(str(claim).partition(":")[0] for claim in self.recipe.get("regions", ()))

    @property
    def is_for_certainty(self) -> bool:
        """Whether it was trained for certain answers about the plain network, and not for votes."""
        return bool(self.box or self.regions)


def read_card(path: Path) -> ModelCard:
    """Read a card, or raise InvalidFile with one line that says what is wrong in it."""
    return checked(ModelCard, read_json(read_bytes(path, CARD.size), CARD, str(path)), CARD, str(path))
