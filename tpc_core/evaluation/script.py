"""A run as a Python script: the same evaluation, without the command line."""

from __future__ import annotations

from tpc_core.evaluation.settings import Settings
from tpc_core.version import VERSION


def run_script(settings: Settings) -> str:
    """A script that makes the run again; equal settings give equal tables, on any engine."""
    wanted = {
        "model": settings.model,
        "claims": list(settings.claims),
        "data": settings.data,
        "split": settings.split,
        "every": settings.every,
        "limit": settings.limit,
        "points": settings.points,
        "alpha": settings.alpha,
        "budget_samples": settings.budget_samples,
        "proof": settings.proof,
        "budget_cells": settings.budget_cells,
        "protocol": settings.protocol,
        "accuracy_only": settings.accuracy_only,
        "seed": settings.seed,
    }
    if settings.proof == "certain":
        del wanted["budget_samples"]
    else:
        del wanted["budget_cells"]
    # repr of checked values: a journal may have been written by anyone, and a name in it is text here, never code.
    arguments = "\n".join(f"    {name}={value!r}," for name, value in wanted.items() if value is not None)
    about = f"The evaluation of {_words(settings.model)} on {_words(settings.data)}, made again"
    return f'''"""{about}. Written by TPC Explorer {VERSION}."""

from pathlib import Path

from tpc_core.evaluation import InlineEngine, Request, evaluate

request = Request(
{arguments}
)

if __name__ == "__main__":
    folder = Path("again")
    figures = evaluate(request, folder, InlineEngine(), certificates=folder / "certificates")
    print(f"clean accuracy {{figures.clean_accuracy.value:.1f}} %")
    for claim in figures.claims:
        print(f"{{claim.claim}}: {{claim.certified_accuracy.value:.1f}} % certified")
'''


def _words(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in " .-_@:+")
