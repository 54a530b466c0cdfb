"""The journal of a red team: one line per trial, so that a run of hours survives being killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.machinery.atomic import cannot_write
from tpc_core.redteam.questions import Plan
from tpc_core.redteam.trial import Trial

FORMAT = "tpc-redteam/2"
NAME = "redteam.jsonl"
LARGEST = 1 << 30


class RedteamJournal:
    """What was tried already, and a way to add to it; a line torn off by a crash is cut away."""

    def __init__(self, folder: Path, plan: Plan, *, resume: bool) -> None:
        self.path = folder / NAME
        self.trials: dict[int, Trial] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidValue(
                f"another red team is writing {self.path} at this moment; wait for it"
            ) from None
        except OSError as error:
            raise cannot_write(self.path, error) from error
        try:
            before, self.trials, length = read_journal(self.path)
            _check_same(self.path, before, plan, resume=resume)
            self.plan = before or plan
            """The plan as it was at the beginning: checkpoints that came since are left to the next red team."""
            self._file.truncate(length)
            if before is None:
                self._write(json.dumps({"format": FORMAT, "plan": plan.model_dump(mode="json")}))
        except BaseException:
            self._file.close()
            raise

    def append(self, trial: Trial) -> None:
        """Add a finished trial; when this returns, the line is on disk."""
        self._write(trial.model_dump_json())
        self.trials[trial.number] = trial

    def _write(self, line: str) -> None:
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def __enter__(self) -> RedteamJournal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Every whole line is on disk already; closing tries to write what did not fit, and may fail again.
        with contextlib.suppress(OSError):
            self._file.close()


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
