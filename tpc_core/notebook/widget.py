"""The Explorer in a notebook: the stage of the explorer, a slider for each parameter, the votes and the verdict."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import torch
import traitlets

from tpc_core.certify import certify
from tpc_core.certify.plain_inputs import Sigma, as_cloud, as_model
from tpc_core.cloud import Cloud
from tpc_core.errors import TpcError, UnsupportedRequest
from tpc_core.ledger import look_stream
from tpc_core.question import Budget, Options
from tpc_core.shipped import shipped
from tpc_core.transforms import CoordinateNoise, Transform, parse_transform, shader
from tpc_core.votes import Voter

_HERE = Path(__file__).parent
VOTES = 64
"""Votes that one look at a pose takes: they show, and prove nothing."""


def _module() -> str:
    """The stage with three.js, and what joins it to the sliders, in one ES module."""
    bundle = shipped("app", "components", "stage", "stage.bundle.js").read_text(encoding="utf-8")
    return bundle + "\n" + (_HERE / "widget.js").read_text(encoding="utf-8")


def _style() -> str:
    stage = shipped("app", "components", "stage", "stage.css").read_text(encoding="utf-8")
    return stage + "\n" + (_HERE / "widget.css").read_text(encoding="utf-8")


class Explorer(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Move a cloud by a transform, watch the votes, and certify a radius, in Jupyter or VS Code.

    `model` is a Model, a torch module or a function; `cloud` a Cloud or an array. `sigma` belongs to a plain network.
    """

    _esm = _module()
    _css = _style()
    scene: Any = traitlets.Dict().tag(sync=True)
    sliders: Any = traitlets.List().tag(sync=True)
    values: Any = traitlets.List().tag(sync=True)
    answer: Any = traitlets.Dict().tag(sync=True)
    radius: Any = traitlets.Unicode("").tag(sync=True)
    asked: Any = traitlets.Int(0).tag(sync=True)
    verdict: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        model: Any,
        cloud: Any,
        transform: str | Transform = "z-twist",
        radius: str | float = "",
        *,
        sigma: Sigma | None = None,
        samples: int = 20_000,
    ) -> None:
        self.family = parse_transform(transform) if isinstance(transform, str) else transform
        if isinstance(self.family, CoordinateNoise):
            raise UnsupportedRequest(
                f"{self.family.name} moves every point on its own, which no slider can show"
            )
        self.cloud: Cloud = as_cloud(cloud)
        self.options = Options(budget=Budget(samples=samples))
        self.base, self.options = as_model(model, self.cloud, self.family, self.options, sigma)
        smoothing = self.base.smoothing
        if self.options.sigma is not None:
            smoothing = smoothing.with_sigmas(self.options.sigma)
        self._voter = Voter(self.base, smoothing, seed=0, device=torch.device("cpu"))
        self.certificate: Any = None
        self._busy = threading.Lock()
        parameters = self.family.parameters
        super().__init__(
            scene=_scene(self.cloud, self.family),
            sliders=[
                {
                    "name": p.name,
                    "unit": "°" if p.unit == "deg" else "",
                    "end": min(180.0, p.largest_radius) if p.unit == "deg" else min(0.9, p.largest_radius),
                }
                for p in parameters
            ],
            values=[0.0] * len(parameters),
            radius=str(radius),
        )
        self._look()
        self.observe(lambda change: self._look(), names="values")
        self.observe(lambda change: self._certify(), names="asked")

    def _look(self) -> None:
        """A few votes at the pose of the sliders."""
        try:
            z = [p.to_internal(float(v)) for p, v in zip(self.family.parameters, self.values, strict=True)]
            moved = self.family.apply(
                self.cloud.points.double(), torch.tensor(z, dtype=torch.float64)
            ).float()
            counts = self._voter.count(moved, look_stream("notebook"), 0, VOTES)
        except (TpcError, ValueError) as error:
            self.answer = {"error": str(error)}
            return
        most = [int(place) for place in np.argsort(-counts, kind="stable")[:3] if counts[place]]
        names = list(self.base.classes)
        self.answer = {
            "classes": [names[place] for place in most],
            "votes": [int(counts[place]) for place in most],
            "of": VOTES,
        }

    def _certify(self) -> None:
        """The verdict for the radius in the box; `certificate` holds it."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            self.certificate = certify(self.base, self.cloud, self.family, self.radius, self.options)
            self.verdict = {"word": self.certificate.verdict, "sentence": self.certificate.sentence}
        except (TpcError, ValueError) as error:
            self.verdict = {"word": "error", "sentence": str(error)}
        finally:
            self._busy.release()


def _scene(cloud: Cloud, family: Transform) -> dict[str, Any]:
    """What the stage needs: the points, and the transform as a shader."""
    points = np.ascontiguousarray(cloud.array, dtype="<f4")
    return {
        "digest": cloud.digest[:24],
        "points": {"dtype": "f4", "bdata": base64.b64encode(points.tobytes()).decode("ascii")},
        "title": cloud.name,
        "transform": {
            "name": family.name,
            "shader": shader(family),
            "units": [p.to_internal(1.0) for p in family.parameters],
            "labels": [p.name for p in family.parameters],
            "marks": ["°" if p.unit == "deg" else "" for p in family.parameters],
        },
    }
