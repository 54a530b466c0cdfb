"""A training recipe: everything that `tpc train` needs to make one checkpoint again, from one TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tpc_core.border import RECIPE, Items, checked, read_toml
from tpc_core.data.files.content import read_bytes
from tpc_core.models.seeds import seed_name


class _Strict(BaseModel):
    # A misspelt option must be an error: an option that is silently ignored ruins an experiment.
    model_config = ConfigDict(extra="forbid", frozen=True)


class Augment(_Strict):
    """What happens to a training cloud besides the smoothing noise; ranges are symmetric about no change."""

    scale: float = Field(default=0.0, ge=0, lt=1, description="each axis is scaled by a factor in [1-s, 1+s]")
    flip: bool = Field(default=False, description="mirror x and y, each with probability 1/2")
    jitter: float = Field(default=0.0, ge=0, description="sigma of independent noise on every coordinate")
    rotation: float = Field(default=0.0, ge=0, le=180, description="degrees about a random axis")
    yaw: float = Field(default=0.0, ge=0, le=180, description="degrees about z")
    taper: float = Field(default=0.0, ge=0, lt=1, description="z-taper factor")
    twist: float = Field(default=0.0, ge=0, description="degrees of z-twist")
    shift: float = Field(default=0.0, ge=0, description="the cloud is moved by up to this along each axis")
    deform: float = Field(
        default=0.0, ge=0, lt=1, description="four regions are scaled by [1-d, 1+d] and moved by up to d/2"
    )
    drop: float = Field(default=0.0, ge=0, lt=1, description="at most this share of points become copies")
    mix: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of clouds that get a region of another cloud, and its class",
    )


class Consistency(_Strict):
    """Consistency regularisation (Jeong and Shin, NeurIPS 2020): different noises, the same answer."""

    noises: int = Field(default=1, ge=1, le=8, description="noise draws per cloud in a batch; 1 turns it off")
    weight: float = Field(default=0.0, ge=0, description="lambda, of the KL term")
    entropy: float = Field(default=0.0, ge=0, description="eta, of the entropy of the mean prediction")


class Interval(_Strict):
    """Interval training: besides the plain answer, the worst one over a box around every cloud."""

    eps: float = Field(default=0.0, ge=0, description="how far every coordinate may move; 0 turns it off")
    share: float = Field(default=0.5, ge=0, le=1, description="the worst answer's share of the loss")
    ramp: float = Field(default=0.5, gt=0, le=1, description="part of the run over which eps grows")
    part: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="size of the box relative to eps; a smaller one lies where the network answers worst",
    )


class TrainConfig(_Strict):
    """One recipe. The smoothing is the one that certifies; all randomness follows from the seed."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    dataset: str = Field(default="modelnet40", description="a known data set, or one that was added by name")
    points: int = Field(default=64, ge=2, le=4096)
    architecture: str = "pointnet"
    options: dict[str, Any] = Field(default_factory=dict)
    smoothing: dict[str, Any]
    augment: Augment = Augment()
    consistency: Consistency = Consistency()
    interval: Interval = Interval()
    regions: Items[str] = Field(
        default_factory=list,
        description='claims such as "z-taper:0.5": every copy of a cloud is under an attack of one of them',
    )
    attempts: int = Field(
        default=1,
        ge=1,
        le=32,
        description="attacks tried on every copy; the one that the network answers worst is learnt",
    )
    epochs: int = Field(ge=1)
    warmup: int = Field(default=3, ge=0, description="epochs of linear warm-up before the cosine")
    batch: int = Field(default=128, ge=2)
    learning_rate: float = Field(default=2e-3, gt=0)
    weight_decay: float = Field(default=1e-2, ge=0)
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    ema: float = Field(default=0.998, ge=0, lt=1, description="decay of the weight average per step")
    views: int = Field(default=8, ge=1, le=64, description="farthest-point samples per object to choose from")
    hold_out: int = Field(default=10, ge=0, description="one object of train in k is kept aside; 0: none")
    aside: Literal["spread", "last", "groups"] = Field(
        default="spread",
        description="kept aside: every k-th object, the last of every class, or whole groups of near-copies",
    )
    balance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="an object is shown as often as its class size to the power of -b",
    )
    teachers: Items[str] = Field(
        default_factory=list, description="checkpoints whose mean answer to the same clouds is learnt as well"
    )
    teaching: float = Field(default=0.5, ge=0, le=1, description="the teachers' share of the target")
    measure_every: int = Field(
        default=10, ge=1, description="epochs between measurements on the held-aside part"
    )
    votes: int = Field(default=250, ge=1, description="noise draws per object in the last measurement")
    initial: str | None = Field(default=None, description="a checkpoint whose weights to start from")
    seed: int = 0

    def with_seed(self, seed: int) -> TrainConfig:
        """The same recipe under another seed, and a name that says so."""
        return self.model_copy(update={"seed": seed, "name": seed_name(self.name, seed)})

    @field_validator("smoothing")
    @classmethod
    def _has_kind(cls, value: dict[str, Any]) -> dict[str, Any]:
        if "kind" not in value:
            raise ValueError('say which kind: "parameter", "coordinate", "cylinder", "diffusion" or "group"')
        return value

    @model_validator(mode="after")
    def _clouds_have_one_class(self) -> TrainConfig:
        if self.dataset == "shapenetpart" and (self.augment.mix or self.balance):
            raise ValueError("mix and balance need one class per cloud; parts have one per point")
        return self

    @model_validator(mode="after")
    def _attempts_are_attacks(self) -> TrainConfig:
        if self.attempts > 1 and (not self.regions or self.augment.mix):
            raise ValueError("attempts are attacks: they need regions, and clouds of one class (no mix)")
        if self.attempts > 1 and self.dataset == "shapenetpart":
            raise ValueError("attempts need one class per cloud; parts have one per point")
        return self

    @model_validator(mode="after")
    def _boxes_are_around_one_cloud(self) -> TrainConfig:
        if self.interval.eps and (self.augment.mix or self.consistency.noises > 1 or self.teachers):
            raise ValueError("interval training takes one noise per cloud, and neither mix nor teachers")
        return self


def load_config(path: str | Path) -> TrainConfig:
    """Read a recipe, or raise InvalidFile with one line that says what is wrong in it."""
    path = Path(path)
    return parse_config(read_toml(read_bytes(path, RECIPE.size), RECIPE, str(path)), str(path))


def parse_config(values: dict[str, Any], source: str) -> TrainConfig:
    """A recipe from a table of values; `source` is named in the error."""
    return checked(TrainConfig, values, RECIPE, source)
