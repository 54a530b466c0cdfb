"""The same run elsewhere: as a command line and as Python."""

from __future__ import annotations

import shlex

from app.jobs import Request
from tpc_core import Options, Transform
from tpc_core.transforms import RadiusInput

_DEFAULTS = Options()


def radius_text(transform: Transform, radius: RadiusInput) -> str:
    """The radius as both the command line and Python read it."""
    return transform.describe_radius(transform.parse_radius(radius))


def command(request: Request) -> str:
    """The `tpc certify` command of a run."""
    options = request.options
    words = ["tpc", "certify", request.spec or request.cloud.name, "--transform", request.transform.name]
    if request.radius is not None:
        words += ["--radius", radius_text(request.transform, request.radius)]
    if options.largest:
        words.append("--max")
    words += ["--model", request.model.name, "--points", str(len(request.cloud))]
    if options.alpha != _DEFAULTS.alpha:
        words += ["--alpha", f"{options.alpha:g}"]
    if options.sigma is not None:
        words += ["--sigma", ",".join(f"{s:g}" for s in options.sigma)]
    if options.protocol != _DEFAULTS.protocol:
        words += ["--protocol", options.protocol]
    if options.statistics != _DEFAULTS.statistics:
        words += ["--statistics", options.statistics]
    if options.budget.samples is not None:
        words += ["--budget-samples", str(options.budget.samples)]
    if options.complete:
        words.append("--complete")
    if options.seed:
        words += ["--seed", str(options.seed)]
    return shlex.join(words)


def python(request: Request) -> str:
    """A few lines of Python that make the same certificate."""
    options = request.options
    settings = [
        f"{name}={getattr(options, name)!r}"
        for name in ("alpha", "protocol", "statistics", "sigma", "largest", "seed", "complete")
        if getattr(options, name) != getattr(_DEFAULTS, name)
    ]
    names = ["certify", "load_model", "load_object"]
    if options.budget.samples is not None:
        settings.append(f"budget=Budget(samples={options.budget.samples})")
        names.append("Budget")
    arguments = [repr(request.transform.name)]
    if request.radius is not None:
        arguments.append(repr(radius_text(request.transform, request.radius)))
    elif settings:
        arguments.append("None")
    if settings:
        names.append("Options")
        arguments.append(f"Options({', '.join(settings)})")
    lines = [
        f"from tpc_core import {', '.join(sorted(names))}",
        "",
        f"model = load_model({request.model.name!r})",
        f"cloud = load_object({request.spec or request.cloud.name!r}, points={len(request.cloud)})",
        f"certificate = certify(model, cloud, {', '.join(arguments)})",
        "print(certificate.sentence)",
    ]
    return "\n".join(lines)
