"""What every piece of a certificate has in common: strict fields, numbers in their range."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0, le=1 << 40)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Record(BaseModel):
    """A strict, immutable piece of a certificate: an unknown field is an error, not a comment."""

    model_config = ConfigDict(extra="forbid", frozen=True)
