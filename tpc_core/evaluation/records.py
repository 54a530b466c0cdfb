"""What is written down of one object: one line of the journal."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["certified", "refuted", "undecided", "implied", "skipped"]
"""A verdict; or "implied" (a claim inside this one failed), or "skipped" (wrong class, accuracy only)."""

Natural = Annotated[int, Field(ge=0)]


class Row(BaseModel):
    """A strict, immutable piece of a journal line."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PartCounts(Row):
    """Part segmentation: how many points of the object pass.

    `joint` counts hold together with probability 1 - alpha (alpha / N a point), the others point by point.
    """

    certified: Natural
    certified_right: Natural
    joint: Natural
    joint_right: Natural
    joint_iou: Annotated[float, Field(ge=0, le=1)]


class ClaimRow(Row):
    """The verdict on one claim, in the order of the settings' claims."""

    status: Status
    samples: Natural
    """Votes that the certificate rests on; several claims may rest on the same votes. Cells, of a certain proof."""
    parts: PartCounts | None = None


class ObjectRow(Row):
    """One finished object."""

    index: Natural
    id: str
    label: str | None = None
    cloud: str
    """The first 16 digits of the cloud's sha256."""
    base: str | None = None
    """What the base classifier says of the untouched cloud."""
    prediction: str | None = None
    """What is certified: y_A of the smoothed classifier, or what the plain network says."""
    right_points: Natural | None = None
    """Part segmentation: points whose smoothed prediction is right."""
    base_right_points: Natural | None = None
    claims: list[ClaimRow]
    evaluations: Natural
    """Forward passes in all; votes shared between claims count once. Cells, of certain proofs."""
    seconds: Annotated[float, Field(ge=0)]

    @property
    def right(self) -> bool:
        """Whether the classifier that is certified is right."""
        return self.prediction is not None and self.prediction == self.label
