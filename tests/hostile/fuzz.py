"""Leave it running: `make fuzz`, or `python -m tests.hostile.fuzz --minutes 10 [--target ply] [--seed 3]`.

Damaged files go to every reader, in child processes with limits of memory and time. Whatever is not a refusal in
one sentence, or costs more memory than a file of its size may, is a finding: it is kept in the folder given by
--findings, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.mutate import mutated
from tests.hostile.targets import TARGETS, Target
from tpc_core.errors import TpcError

CASE_SECONDS = 20.0
MEMORY_BYTES = 3 << 30
"""Of the child process: past it, allocation fails."""
CASE_BYTES = 500 << 20
"""Of one case, whose file has at most 8 MB: a refusal that took more than this is no refusal."""
BATCH = 200
LONGEST_SENTENCE = 1000


class Finding(Exception):
    """A reader broke its promise."""


@dataclass
class Tally:
    """What became of the cases of one format."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    memory: int = 0
    """Bytes that the most costly case took."""

    def add(self, other: Tally) -> None:
        self.outcomes.update(other.outcomes)
        self.slowest, self.memory = max(self.slowest, other.slowest), max(self.memory, other.memory)


def try_case(target: Target, data: bytes, workshop: Path) -> str:
    """Read one damaged file: "accepted" or "refused"; a Finding for anything else."""
    folder = Path(tempfile.mkdtemp(dir=workshop))
    try:
        target.read(data, folder)
        return "accepted"
    except TpcError as error:
        check_sentence(str(error))
        return "refused"
    except Exception as error:
        raise Finding(f"{type(error).__name__}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_sentence(message: str) -> None:
    """An error is one clear sentence: not empty, not a page, no object addresses, no stack."""
    if (
        not message.strip()
        or not message.isprintable()
        or len(message) > LONGEST_SENTENCE
        or " object at 0x" in message
    ):
        raise Finding(f"not one sentence: {message[:300]!r}")


def run_batch(name: str, seed: int, cases: int, workshop: Path, note: Path | None = None) -> Tally:
    """Some cases of one format; `note` always holds the case at hand, for whoever finds us dead."""
    target, rng, tally = TARGETS[name], random.Random(seed), Tally()
    seeds = target.seeds()
    for _ in range(cases):
        data = mutated(rng.choice(seeds), rng)
        if note is not None:
            note.write_bytes(data)
            signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)  # of this process: the machine may be busy
            signal.setitimer(signal.ITIMER_REAL, 10 * CASE_SECONDS)
        started, before = time.process_time(), _forget_peak()
        try:
            tally.outcomes[try_case(target, data, workshop)] += 1
            taken = _memory("VmHWM") - before
            tally.memory = max(tally.memory, taken)
            if taken > CASE_BYTES:
                raise Finding(f"took {taken >> 20} MB for a file of {len(data):,} bytes")
        except Finding:
            if note is not None:
                note.with_suffix(".why").write_text(traceback.format_exc())
            raise
        tally.slowest = max(tally.slowest, time.process_time() - started)
    if note is not None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return tally


def _forget_peak() -> int:
    """Let Linux measure the peak of memory anew; the bytes that are in use now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    """A figure of this process from /proc, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise RuntimeError(f"this system does not state {name}")


def in_child(name: str, seed: int, workshop: Path, findings: Path) -> Tally:
    """A batch in a process of its own, so that a crash, a hang or a bomb is a finding and not the end."""
    note, answer = workshop / "case", workshop / "tally.json"
    answer.unlink(missing_ok=True)
    note.with_suffix(".why").unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for alarm in (signal.SIGALRM, signal.SIGPROF):
                signal.signal(alarm, signal.SIG_DFL)
            mapped = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_BYTES,) * 2)
            tally = run_batch(name, seed, BATCH, workshop, note)
            answer.write_text(json.dumps([tally.outcomes, tally.slowest, tally.memory]))
            code = 0
        except Finding:
            code = 3
        except BaseException:
            note.with_suffix(".why").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status == 0:
        outcomes, slowest, memory = json.loads(answer.read_text())
        return Tally(Counter(outcomes), slowest, memory)
    keep_finding(name, seed, status, note, findings)
    return Tally(Counter({"finding": 1}))


def keep_finding(name: str, seed: int, status: int, note: Path, findings: Path) -> None:
    folder = findings / f"{name.replace(' ', '-')}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    how = (
        f"killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "an error that is no refusal"
    )
    why = note.with_suffix(".why")
    (folder / "why.txt").write_text(f"{how}\n{why.read_text() if why.exists() else ''}")
    shutil.copy(note, folder / "case.bin")
    print(f"FINDING in {name} (seed {seed}): {how}; kept in {folder}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, help="when to stop; without it, never")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--findings", type=Path, default=Path("runs/fuzz"))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON at the end")
    given = parser.parse_args()
    names = given.target or list(TARGETS)
    with tempfile.TemporaryDirectory() as workshop:
        for name in names:  # what is imported on first use is imported before the forks
            try_case(TARGETS[name], TARGETS[name].seeds()[0], Path(workshop))
    tallies = {name: Tally() for name in names}
    end = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    started, seed = time.monotonic(), given.seed
    os.environ["TPC_CACHE"] = "/dev/null/no-cache"  # every case is parsed, none remembered
    with tempfile.TemporaryDirectory(prefix="tpc-fuzz-") as workshop:
        try:
            while time.monotonic() < end:
                for name in names:
                    tallies[name].add(in_child(name, seed, Path(workshop), given.findings))
                    seed += 1
                    if time.monotonic() > end:
                        break
                done = sum(tally.outcomes.total() for tally in tallies.values())
                print(
                    f"{done:,} cases in {(time.monotonic() - started) / 60:.1f} min",
                    file=sys.stderr,
                    flush=True,
                )
        except KeyboardInterrupt:
            pass
    show(tallies, given.json)
    return 1 if any(tally.outcomes["finding"] for tally in tallies.values()) else 0


def show(tallies: dict[str, Tally], as_json: bool) -> None:
    if as_json:
        print(json.dumps({n: [t.outcomes, round(t.slowest, 3), t.memory] for n, t in tallies.items()}))
        return
    print("| format | cases | refused | accepted | findings | slowest case (CPU s) | most memory (MB) |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, tally in tallies.items():
        o = tally.outcomes
        cells = [
            name,
            f"{o.total():,}",
            f"{o['refused']:,}",
            f"{o['accepted']:,}",
            str(o["finding"]),
            f"{tally.slowest:.2f}",
            f"{tally.memory / 2**20:.0f}",
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
