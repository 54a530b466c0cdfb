"""What a network does: label clouds, or label points."""

from __future__ import annotations

from typing import Literal

Task = Literal["classification", "segmentation"]
