"""Three prepared cases, one for each verdict: plain runs on the gallery, made for real in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from app.server import cache
from app.server.jobs import Request
from tpc_core import Budget, Options, Question, gallery
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
        model, spec = cache.model(self.model), f"gallery:{self.name}"
        cloud = cache.shape(spec).cloud(model.num_points or 64)
        options = Options(budget=Budget(samples=self.samples))
        question = Question.of(model.name, spec, len(cloud), self.transform, self.radius, options)
        return Request(f"{title}, {question.transform}", question, model, cloud)


EXAMPLES = (
    Example(
        "certified",
        "airplane-1",
        "z-taper+z-rotation",
        "taper=0.2,rotation=10",
        None,
        "an airliner, tapered and turned",
        "An airliner, tapered and turned. Every cell passed: see by how much.",
    ),
    Example(
        "refuted",
        "bookshelf-1",
        "z-shear",
        0.6,
        None,
        "a bookshelf, sheared",
        "A bookshelf, sheared until it leans to one side. The attack proves that the claim is false.",
    ),
    Example(
        "undecided",
        "piano-2",
        "z-taper+z-rotation",
        "taper=0.3,rotation=5",
        2000,
        "a piano and too few votes",
        "A piano, with a budget of 2,000 votes: too few. One click finishes the whole run.",
    ),
)
