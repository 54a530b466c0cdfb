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


class Frame(BaseModel):
    """How a brought network wants to see a cloud, and where its answer stands. It is part of what the network is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    layout: Literal["points-first", "channels-first"] = "points-first"
    """(B, N, 3) or (B, 3, N)."""
    up: Literal["z", "y"] = "z"
    """Clouds here are z-up; they are turned for a network that was trained on y-up ones."""
    scale: Literal["ball", "cube", "half-cube"] = "ball"
    """The unit ball, as clouds are here; or each cloud is fitted into [-1, 1]^3 or [-1/2, 1/2]^3 first."""
    answer: int | str | None = None
    """Which item of a tuple, or which key of a dict, holds the logits; None where the answer is a tensor."""
    batch: int | None = Field(default=None, ge=1, le=4096)
    """The one batch size that a fixed program takes; None for any."""
    points: int | None = Field(default=None, ge=1, le=4096)
    """The one size of cloud that it takes; None for any."""


class Brought(BaseModel):
    """Where a model came from that was not trained here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(description="what was given to --from")
    format: Literal["factory", "pt2", "torchscript", "onnx", "weights", "memory"]
    frame: Frame = Frame()
    folder: str | None = Field(default=None, description="of a factory: where its package lies")
    code: str | None = Field(
        default=None, description="of a factory: the sha256 of the source of its network"
    )
    answers: str | None = Field(
        default=None, description="of a factory: the sha256 of its classes for a few clouds"
    )
    notes: Items[str] = Field(default_factory=list, description="what was recognised, in sentences")
    trained: bool = Field(default=False, description="whether `tpc train --from` made these weights")


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
    sha256: str = Field(description="of the file with the weights")
    held_aside: dict[str, float] | None = Field(
        default=None,
        description="percent on the held-aside part of train, by few Monte-Carlo votes: for tuning",
    )
    clean_accuracy: Measurement | None = None
    certified_accuracy: Items[Measurement] | None = None
    brought: Brought | None = None

    @property
    def noise_trained(self) -> bool:
        """Whether it was trained under its smoothing; a network that was not has a poor p_A as a rule."""
        return self.brought is None or self.brought.trained

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
