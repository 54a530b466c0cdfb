"""The object on the first screen, and what the model says of it at every half degree of twist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from app.server import cache
from app.session.pose import moved
from tpc_core import parse_transform

OBJECT, TRANSFORM, MODEL = "gallery:car-2", "z-twist", "pointnet64-noise"
LAST, STEP = 180.0, 0.5
"""Degrees of the last answer, and between two; the slider and the animation stop at these angles only."""
BEYOND = 25.0
"""Degrees that the animation goes on after the first wrong answer."""


@dataclass(frozen=True)
class Answers:
    """The model's answer to the object at angles 0, STEP, ...: the class and its confidence."""

    truth: str
    classes: list[str]
    confidences: list[float]

    @property
    def first_wrong(self) -> int | None:
        """The place of the first answer that is wrong."""
        return next((place for place, name in enumerate(self.classes) if name != self.truth), None)

    @property
    def farthest(self) -> float:
        """Where the animation turns back: a little after the first wrong answer, else at the end."""
        return LAST if self.first_wrong is None else min(LAST, STEP * self.first_wrong + BEYOND)


@st.cache_data(show_spinner=False)
def answers() -> Answers:
    """Ask the model at every angle, in one batch."""
    shape, model = cache.shape(OBJECT), cache.model(MODEL)
    transform = parse_transform(TRANSFORM)
    points = shape.cloud(model.num_points or 64).points
    angles = np.arange(0.0, LAST + STEP / 2, STEP)
    with torch.inference_mode():
        poses = torch.stack([moved(transform, [float(angle)], points) for angle in angles])
        best = torch.softmax(cache.classifier(MODEL)(poses), dim=-1).max(dim=-1)
    classes = [model.classes[place].replace("_", " ") for place in best.indices.tolist()]
    return Answers((shape.label or "").replace("_", " "), classes, best.values.tolist())
