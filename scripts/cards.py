"""Put the figures of evaluations on the cards of the checkpoints, and keep the summaries.

    tpc evaluate --plan paper --out runs/eval/paper
    python scripts/cards.py runs/eval/paper
    tpc report results/paper/summaries --seeds results/paper/seeds --out results/paper

Objects are evaluated in a shuffled order, so an evaluation that is not finished is of a random part of the split; its
figures say of how many objects they are. Left out are evaluations of other weights than the checkpoint's, and of fewer
objects than the summary that is kept already.
A card has the figures of the proofs that its network was trained for, at its own number of points; summaries of certain
proofs, of other sizes, and of certain proofs about compositions (with budgets of their own) have their own names.
Networks of other seeds (`tpc train --seed`) are not shipped; their summaries lie in results/paper/seeds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tpc_core.evaluation import Figures, load_figures
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.evaluation.intervals import Share
from tpc_core.evaluation.journal import NAME
from tpc_core.evaluation.summary import read_summary, to_json
from tpc_core.models import load_card, load_model
from tpc_core.models.card import Measurement
from tpc_core.models.seeds import recipe_of
from tpc_core.models.store import CHECKPOINTS
from tpc_core.transforms import parts_of

RESULTS = Path(__file__).resolve().parents[1] / "results" / "paper"
SUMMARIES = RESULTS / "summaries"
SEEDS = RESULTS / "seeds"


def measurements(figures: Figures) -> tuple[Measurement, list[Measurement]]:
    """The clean accuracy and the certified ones of an evaluation, with the command that measured them."""
    command = f"{figures.settings.command()} --out runs/eval/{figures.settings.model}"

    def measured(share: Share, **claim: str) -> Measurement:
        return Measurement(value=round(share.value, 2), objects=figures.done, command=command, **claim)

    certified = []
    for row in figures.claims:
        claim = ClaimSpec.parse(row.claim)
        certified.append(
            measured(row.certified_accuracy, transform=claim.transform.name, radius=claim.radius)
        )
    return measured(figures.clean_accuracy), certified


def _has_more(kept: Figures, new: Figures) -> bool:
    """Whether what is kept is of the same weights and of more objects."""
    return kept.settings.model_digest == new.settings.model_digest and kept.done > new.done


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _several(figures: Figures) -> str:
    """The end of a summary's name where every claim is of one composition: `-z-taper-z-rotation`."""
    claimed = {ClaimSpec.parse(row.claim).transform for row in figures.claims}
    composed = [transform.name for transform in claimed if len(parts_of(transform)) > 1]
    if len(claimed) == len(composed) == 1:
        return "-" + composed[0].replace("+", "-")
    return "-several-at-once" if composed else ""


def main(runs: list[str]) -> int:
    """Update summaries and cards from all evaluations below the given folders."""
    for path in sorted(found for run in runs for found in Path(run).rglob(NAME)):
        figures = load_figures(path.parent)
        name = figures.settings.model
        if figures.settings.model_digest != load_model(name).digest:
            print(f"{name}: left out, of other weights")
            continue
        if recipe_of(name)[1] is not None:
            SEEDS.mkdir(exist_ok=True)
            _write(SEEDS / f"{name}.json", to_json(figures))
            print(f"{name}: {figures.done} objects, another seed")
            continue
        card, certain = load_card(name), figures.settings.proof == "certain"
        own_size = figures.settings.points == card.num_points
        summary = name + ("-certain" if certain else "") + ("" if own_size else f"-{figures.settings.points}")
        several = _several(figures) if certain else ""
        file = SUMMARIES / f"{summary}{several}.json"
        if file.exists() and _has_more(read_summary(file), figures):
            print(f"{name}: left out, the summary has more objects")
            continue
        _write(file, to_json(figures))
        clean, certified = measurements(figures)
        if own_size and certain == card.is_for_certainty and not several:
            new = card.model_copy(update={"clean_accuracy": clean, "certified_accuracy": certified})
            _write(CHECKPOINTS / f"{name}.json", new.model_dump())
        print(
            f"{name}: {figures.done} objects, clean {clean.value}, certified {[m.value for m in certified]}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
