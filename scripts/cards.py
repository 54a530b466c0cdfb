"""Put the figures of finished evaluations on the cards of the checkpoints, and keep the summaries.

    tpc evaluate --plan configs/evaluation/paper.toml --out runs/eval/final
    python scripts/cards.py runs/eval/final
    tpc report results/paper/summaries --out results/paper

An evaluation of other weights than those of the checkpoint is left out, and so is one that is not finished.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tpc_core.models import load_card, load_model
from tpc_core.models.card import Measurement
from tpc_core.models.store import CHECKPOINTS

SUMMARIES = Path(__file__).resolve().parents[1] / "results" / "paper" / "summaries"


def measurements(summary: dict[str, Any]) -> tuple[Measurement, list[Measurement]]:
    """The clean accuracy and the certified ones of an evaluation, with the command that measured them."""
    name, objects = summary["settings"]["model"], summary["objects"]
    command = f"{summary['command']} --out runs/eval/{name}"

    def measured(share: dict[str, float], **claim: str) -> Measurement:
        return Measurement(value=share["value"], objects=objects, command=command, **claim)

    certified = []
    for row in summary["claims"]:
        transform, radius = row["claim"].split(":", 1)
        certified.append(measured(row["certified_accuracy"], transform=transform, radius=radius))
    return measured(summary["clean_accuracy"]), certified


def main(runs: list[str]) -> int:
    """Update the cards from all evaluations below the given folders."""
    for path in sorted(found for run in runs for found in Path(run).rglob("summary.json")):
        summary = json.loads(path.read_text(encoding="utf-8"))
        name = summary["settings"]["model"]
        if not summary["finished"] or summary["settings"]["model_digest"] != load_model(name).digest:
            print(f"{name}: left out, {'of other weights' if summary['finished'] else 'not finished'}")
            continue
        clean, certified = measurements(summary)
        card = load_card(name).model_copy(update={"clean_accuracy": clean, "certified_accuracy": certified})
        target = CHECKPOINTS / f"{name}.json"
        target.write_text(json.dumps(card.model_dump(), indent=1) + "\n", encoding="utf-8")
        shutil.copyfile(path, SUMMARIES / f"{name}.json")
        print(f"{name}: clean {clean.value}, certified {[m.value for m in certified]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
