"""The question: which model, which object, which transform, how far, and how sure.

One type for the command line, Python, links and certificates; each can be turned into any other.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import ConfigDict, Field

from tpc_core.covers.paper import LARGEST_RESOLUTION
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.statistics import check_alpha
from tpc_core.transforms import Composition, RadiusInput, Transform, parse_transform

Protocol = Literal["adaptive", "paper"]
Proof = Literal["smoothed", "certain", "auto"]
PROOFS: tuple[Proof, ...] = ("smoothed", "certain", "auto")
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-15, 0.5


@dataclass(frozen=True)
class Budget:
    """The most that a ledger may hold, and the longest that a run may take; None means no limit."""

    samples: int | None = None
    seconds: float | None = None
    cells: int | None = 200_000
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        for name, limit in (("samples", self.samples), ("seconds", self.seconds), ("cells", self.cells)):
            if limit is not None and not 0 < limit < 1 << 53:
                raise InvalidValue(f"a budget of {limit} {name} allows nothing; give a positive number")


@dataclass(frozen=True)
class Options:
    """Everything about a run but what is asked."""

    alpha: float = 0.001
    proof: Proof = "smoothed"
    """smoothed: by votes, about the smoothed model, wrong with probability alpha. certain: by bounds, about the plain
    network, without any probability. auto: certain where that settles it in seconds, else smoothed."""
    protocol: Protocol = "adaptive"
    sigma: Annotated[tuple[float, ...], Field(fail_fast=True, max_length=8)] | None = None
    """Sigmas to use instead of the model's own, in edge units."""
    largest: bool = False
    """Look for the largest certified radius; the radius given, if any, is where the search ends."""
    budget: Budget = field(default_factory=Budget)
    seed: int | None = None
    """None takes the hash of cloud, model and transform; a seed set by hand is said in the certificate."""
    device: str = "auto"
    resolution: int | None = None
    """M of the paper's grid; None takes the smallest that can certify."""
    patience: int = 300_000
    """Give a region up when one cell of it alone would need more votes than this, by the most hopeful reading."""
    complete: bool = False
    """Go on after a cell failed, to fill the whole map."""
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if not SMALLEST_ALPHA <= self.alpha <= LARGEST_ALPHA:
            raise InvalidValue(
                f"alpha is the probability of a wrong certificate; choose one from {SMALLEST_ALPHA:g} to "
                f"{LARGEST_ALPHA:g}, not {self.alpha:g}"
            )
        if self.protocol not in ("adaptive", "paper"):
            raise InvalidValue(f"protocol must be adaptive or paper, not {self.protocol!r}")
        if self.seed is not None and not 0 <= self.seed < 1 << 63:
            raise InvalidValue(f"a seed is a whole number from 0 to 2^63 - 1, not {self.seed}")
        if self.protocol == "paper" and self.largest:
            raise UnsupportedRequest("the paper's protocol has one fixed radius; use adaptive")
        if self.resolution is not None and not 1 <= self.resolution <= LARGEST_RESOLUTION:
            raise InvalidValue(
                f"the resolution M of the paper's grid lies in [1, {LARGEST_RESOLUTION}], not {self.resolution}"
            )
        if self.proof not in PROOFS:
            raise InvalidValue(f"proof must be smoothed, certain or auto, not {self.proof!r}")
        if self.proof == "certain":
            self._check_certain()
        if self.patience < 1:
            raise InvalidValue(f"patience is a number of votes, at least 1, not {self.patience}")
        if self.sigma is not None and not all(math.isfinite(s) and s > 0 for s in self.sigma):
            raise InvalidValue(f"every sigma must be a positive, finite number, not {list(self.sigma)}")

    def _check_certain(self) -> None:
        """Nothing that only votes have may be set: it would be ignored."""
        votes_only = {
            "alpha": self.alpha != 0.001,
            "sigma": self.sigma is not None,
            "seed": self.seed is not None,
            "the paper's protocol": self.protocol != "adaptive" or self.resolution is not None,
            "a budget of votes": self.budget.samples is not None,
            "complete": self.complete,
        }
        for name, given in votes_only.items():
            if given:
                raise UnsupportedRequest(f"a certain proof casts no votes; {name} means nothing to it")


DEFAULTS = Options()
_QUERY = ("alpha", "proof", "protocol", "largest", "seed", "complete", "resolution")


@dataclass(frozen=True)
class Question:
    """No attack of `transform` within `radius` changes what the model says of the object: is it so?"""

    model: str
    object: str
    """How the command line calls the object: gallery:chair-1, modelnet40:test/17, or a file's name."""
    points: int
    transform: str
    radius: dict[str, float]
    """In edge units, by the names of the transform's radii; where the largest is sought, the end of the search."""
    options: Options = DEFAULTS
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        if self.family.name != self.transform:  # a blank more would make another seed
            raise InvalidValue(f"the transform is called {self.family.name}, not {self.transform!r}")
        self.radii  # noqa: B018  (checks the radius)

    @staticmethod
    def of(
        model: str,
        name: str,
        points: int,
        transform: str | Transform,
        radius: RadiusInput | None = None,
        options: Options = DEFAULTS,
    ) -> Question:
        """The question in a person's words; without a radius it asks for the largest one."""
        family = parse_transform(transform) if isinstance(transform, str) else transform
        return Question(model, name, points, family.name, asked_radius(family, radius, options), options)

    @property
    def family(self) -> Transform:
        """The transform itself."""
        return parse_transform(self.transform)

    @property
    def radii(self) -> tuple[float, ...]:
        """The radii in internal units, each within the transform's range."""
        return self.family.parse_radius(self.radius)

    def with_radius(self, radius: Mapping[str, float], *, largest: bool = False) -> Question:
        """The same question about another radius."""
        options = dataclasses.replace(self.options, largest=largest)
        return dataclasses.replace(self, radius=dict(radius), options=options)

    # -- elsewhere -----------------------------------------------------------------------------------------------

    def radius_text(self) -> str:
        """The radius as the command line, a link and Python read it."""
        values = [f"{name}={value:.12g}" for name, value in self.radius.items()]
        return ",".join(values) if len(values) > 1 else values[0].partition("=")[2]

    def to_query(self) -> dict[str, str]:
        """The question as the pairs of a link; what is as usual is left out."""
        pairs = {"object": self.object, "points": str(self.points), "transform": self.transform}
        pairs |= {"model": self.model, "radius": self.radius_text()}
        for name in _QUERY:
            value = getattr(self.options, name)
            if value != getattr(DEFAULTS, name):
                pairs[name] = "yes" if value is True else f"{value}"
        if self.options.sigma is not None:
            pairs["sigma"] = ",".join(f"{s:.12g}" for s in self.options.sigma)
        if self.options.budget.samples is not None:
            pairs["budget"] = str(self.options.budget.samples)
        return pairs

    @staticmethod
    def from_query(pairs: Mapping[str, str]) -> Question:
        """The question of a link; a pair that makes no sense is an InvalidValue that names it."""
        missing = {"object", "transform", "model", "radius"} - set(pairs)
        unknown = set(pairs) - {
            "object",
            "points",
            "transform",
            "model",
            "radius",
            "sigma",
            "budget",
            *_QUERY,
        }
        if missing or unknown:
            what = f"lacks {min(missing)}" if missing else f"has a {min(unknown)!r} that means nothing"
            raise InvalidValue(f"the link {what}")
        options: dict[str, Any] = {
            name: _READERS[name](name, pairs[name]) for name in _QUERY if name in pairs
        }
        if "sigma" in pairs:
            options["sigma"] = tuple(_number("sigma", piece) for piece in pairs["sigma"].split(","))
        if "budget" in pairs:
            options["budget"] = Budget(samples=_whole("budget", pairs["budget"]))
        # A plus that was not escaped arrives as a space.
        transform = pairs["transform"].replace(" ", "+")
        points = _whole("points", pairs.get("points", "64"))
        made = Options(**options)
        return Question.of(pairs["model"], pairs["object"], points, transform, pairs["radius"], made)

    def command(self) -> str:
        """The `tpc certify` command."""
        options = self.options
        words = ["tpc", "certify", self.object, "--transform", self.transform, "--radius", self.radius_text()]
        words += ["--max"] if options.largest else []
        words += ["--model", self.model, "--points", str(self.points)]
        words += ["--proof", options.proof] if options.proof != DEFAULTS.proof else []
        if options.alpha != DEFAULTS.alpha:
            words += ["--alpha", f"{options.alpha:g}"]
        if options.sigma is not None:
            words += ["--sigma", ",".join(f"{s:g}" for s in options.sigma)]
        if options.protocol != DEFAULTS.protocol:
            words += ["--protocol", options.protocol]
        if options.resolution is not None:
            words += ["--resolution", str(options.resolution)]
        if options.budget.samples is not None:
            words += ["--budget-samples", str(options.budget.samples)]
        if options.budget.seconds is not None:
            words += ["--budget-seconds", f"{options.budget.seconds:g}"]
        words += ["--complete"] if options.complete else []
        if options.seed is not None:
            words += ["--seed", str(options.seed)]
        return shlex.join(words)

    def python(self) -> str:
        """A few lines of Python that ask the same."""
        options = self.options
        names = ["certify", "load_model", "load_object"]
        settings = [
            f"{name}={getattr(options, name)!r}"
            for name in ("alpha", "proof", "protocol", "sigma", "largest", "seed", "complete", "resolution")
            if getattr(options, name) != getattr(DEFAULTS, name)
        ]
        if options.budget != DEFAULTS.budget:
            limits = {k: v for k, v in dataclasses.asdict(options.budget).items() if v is not None}
            limits.pop("cells", None)
            settings.append(f"budget=Budget({', '.join(f'{k}={v!r}' for k, v in limits.items())})")
            names.append("Budget")
        arguments = [repr(self.transform), repr(self.radius_text())]
        if settings:
            names.append("Options")
            arguments.append(f"Options({', '.join(settings)})")
        lines = [
            f"from tpc_core import {', '.join(sorted(names))}",
            "",
            f"model = load_model({self.model!r})",
            f"cloud = load_object({self.object!r}, points={self.points})",
            f"certificate = certify(model, cloud, {', '.join(arguments)})",
            "print(certificate.sentence)",
        ]
        return "\n".join(lines)


def asked_radius(transform: Transform, radius: RadiusInput | None, options: Options) -> dict[str, float]:
    """The radius asked for, or the end of the range where the largest is sought."""
    if radius is not None:
        return transform.name_radius(radius)
    if not options.largest:
        raise InvalidValue(f"give a radius for {transform.name}, or ask for the largest one (--max)")
    if isinstance(transform, Composition):
        raise InvalidValue(
            f"the largest region of {transform.name} needs a direction: give the radius at which to stop, "
            + ",".join(f"{p.name}=..." for p in transform.radii)
        )
    return {p.name: p.largest_radius for p in transform.radii}


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidValue(f"{name} in the link is a number, not {text[:40]!r}")
    return value


def _whole(name: str, text: str) -> int:
    value = _number(name, text)
    if value != math.floor(value):
        raise InvalidValue(f"{name} in the link is a whole number, not {text[:40]!r}")
    return int(text) if text.isdigit() else int(value)


def _switch(name: str, text: str) -> bool:
    if text not in ("yes", "no"):
        raise InvalidValue(f"{name} in the link is yes or no, not {text[:40]!r}")
    return text == "yes"


def _protocol(name: str, text: str) -> Protocol:
    if text not in ("adaptive", "paper"):
        raise InvalidValue(f"{name} in the link is adaptive or paper, not {text[:40]!r}")
    return cast(Protocol, text)


def _proof(name: str, text: str) -> Proof:
    if text not in PROOFS:
        raise InvalidValue(f"{name} in the link is {', '.join(PROOFS)}, not {text[:40]!r}")
    return text


_READERS: dict[str, Any] = {
    "alpha": _number,
    "proof": _proof,
    "protocol": _protocol,
    "largest": _switch,
    "seed": _whole,
    "complete": _switch,
    "resolution": _whole,
}
