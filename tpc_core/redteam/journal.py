"""The journal of a red team: one line per trial, so that a run of hours survives being killed."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.machinery.append_only import AppendOnly
from tpc_core.redteam.questions import Plan
from tpc_core.redteam.trial import Trial

FORMAT = "tpc-redteam/2"
NAME = "redteam.jsonl"
LARGEST = 1 << 30


class RedteamJournal(AppendOnly):
    """What was tried already, and a way to add to it; a line torn off by a crash is cut away."""

    def __init__(self, folder: Path, plan: Plan, *, resume: bool) -> None:
        super().__init__(folder / NAME, "red team")
        self.trials: dict[int, Trial] = {}
        try:
            before, self.trials, length = read_journal(self.path)
            _check_same(self.path, before, plan, resume=resume)
            self.plan = before or plan
            """The plan as it was at the beginning: checkpoints that came since are left to the next red team."""
            self.cut(length)
            if before is None:
                header = {"format": FORMAT, "plan": plan.model_dump(mode="json")}
                self.append(json.dumps(header).encode() + b"\n")
        except BaseException:
            self.close()
            raise

    def add(self, trial: Trial) -> None:
        """Add a finished trial; when this returns, the line is on disk."""
        self.append(trial.model_dump_json().encode() + b"\n")
        self.trials[trial.number] = trial


def read_journal(path: Path) -> tuple[Plan | None, dict[int, Trial], int]:
    """The plan, the trials, and the length in bytes of the whole lines."""
    lines = read_bytes(path, LARGEST).split(b"\n")[:-1]
    trials: dict[int, Trial] = {}
    plan: Plan | None = None
    for number, line in enumerate(lines, start=1):
        try:
            if number == 1:
                header = json.loads(line)
                if not isinstance(header, dict) or header.get("format") != FORMAT:
                    raise InvalidFile(f"{path} is not a {FORMAT} file")
                plan = Plan.model_validate(header.get("plan"))
            else:
                trial = Trial.model_validate_json(line)
                trials[trial.number] = trial
        except InvalidFile:
            raise
        except (ValueError, RecursionError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "not JSON"
            raise InvalidFile(f"{path}, line {number}: {first}") from None
    return plan, trials, sum(len(line) + 1 for line in lines)


def _check_same(path: Path, before: Plan | None, now: Plan, *, resume: bool) -> None:
    if before is None:
        return
    if not resume:
        raise InvalidValue(f"{path.parent} holds a red team already; add --resume, or choose another --out")
    old, new = before.model_dump(exclude={"pairs"}), now.model_dump(exclude={"pairs"})
    changed = [key for key in old if old[key] != new[key]]
    if {pair.transform for pair in before.pairs} != {pair.transform for pair in now.pairs}:
        changed.append("transforms")
    if changed:
        raise InvalidValue(
            f"cannot resume {path.parent}: {', '.join(changed)} changed; restore it, or choose another --out"
        )
