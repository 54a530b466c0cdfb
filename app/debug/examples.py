"""Three prepared cases, one for each verdict: plain runs on the gallery, made for real in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from app import cache
from app.jobs import Request
from tpc_core import Budget, Options, gallery, parse_transform
from tpc_core.transforms import RadiusInput


@dataclass(frozen=True)
class Example:
    """A question whose answer is worth a look."""

    verdict: str
    name: str
    transform: str
    radius: RadiusInput
    samples: int | None
    title: str
    story: str
    model: str = "pointnet64-noise"

    def request(self) -> Request:
        """The run that answers it."""
        title = next((entry.title for entry in gallery() if entry.name == self.name), self.name)
        transform = parse_transform(self.transform)
        model = cache.model(self.model)
        return Request(
            title=f"{title}, {transform.name}",
            spec=f"gallery:{self.name}",
            model=model,
            cloud=cache.shape(f"gallery:{self.name}").cloud(model.num_points or 64),
            transform=transform,
            radius=self.radius,
            options=Options(budget=Budget(samples=self.samples), complete=True),
        )


EXAMPLES = (
    Example(
        "certified",
        "airplane-1",
        "z-taper+z-rotation",
        "taper=0.2,rotation=10",
        None,
        "an airliner, tapered and turned",
        "An airliner, tapered and turned: every cell passes. See how much each had to spare.",
    ),
    Example(
        "refuted",
        "desk-1",
        "z-taper",
        0.95,
        None,
        "a desk, tapered",
        "A desk, tapered until its drawers are gone: the model says table, and the attack proves it.",
    ),
    Example(
        "undecided",
        "chair-1",
        "z-taper+z-rotation",
        "taper=0.3,rotation=20",
        1500,
        "a chair and too few votes",
        "A chair and a budget of 1,500 votes: it ended too early. One click casts the votes that are missing.",
    ),
)
