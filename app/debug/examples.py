"""Three prepared cases, one for each verdict: plain runs on the gallery, made for real in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    statistics: Literal["staged", "anytime"] = "staged"
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
            options=Options(budget=Budget(samples=self.samples), statistics=self.statistics),
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
        "bookshelf-1",
        "z-shear",
        0.6,
        None,
        "a bookshelf, sheared",
        "A bookshelf, sheared until it leans like a staircase: the attack proves that the claim is false.",
    ),
    Example(
        "undecided",
        "piano-2",
        "z-taper+z-rotation",
        "taper=0.3,rotation=5",
        2000,
        "a piano and too few votes",
        "A piano and a budget of 2,000 votes: it ended too early. One click casts the votes that are missing.",
        statistics="anytime",
    ),
)
