"""`make bench`: measure, print, and write benchmarks/RESULTS.md.

`python -m benchmarks throughput growth` measures these sections alone and leaves the others as they are;
`--full` adds what takes minutes more.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import certificates, evaluation, exact, growth, networks, same_table, throughput, workers
from benchmarks.machine import describe_machine

RESULTS = Path(__file__).parent / "RESULTS.md"
SECTIONS: dict[str, Callable[..., list[str]]] = {
    "throughput": throughput.measure,
    "networks": networks.measure,
    "certificates": certificates.measure,
    "growth": growth.measure,
    "exact": exact.measure,
    "workers": workers.measure,
    "evaluation": evaluation.measure,
    "same_table": same_table.measure,
}
HEAD = [
    "# Benchmarks",
    "",
    "Made by `make bench`; all ratios are of things measured in turns in one run. What it means for a thousand GPUs is",
    "in [docs/performance.md](../docs/performance.md).",
    "",
]


def main() -> None:
    """Run the sections one after another, in one process; each is written as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--full", action="store_true", help="also what takes more than ten minutes in all")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"there is no section {min(unknown)!r}; choose from {', '.join(SECTIONS)}")
    for name in options.sections or SECTIONS:
        print(f"\n{name}", flush=True)
        lines = SECTIONS[name](full=options.full)
        made_by = (
            f"_`python -m benchmarks {name}{' --full' if options.full else ''}` on {describe_machine()}._"
        )
        write_section(name, [lines[0], "", made_by, *lines[1:]])
    print(f"\nwritten to {RESULTS}")


def write_section(name: str, lines: list[str]) -> None:
    """Put one section in its place; a comment in front of each says whose it is."""
    found = _read_sections()
    found[name] = [f"<!-- {name} -->", *lines]
    body = [line for key in SECTIONS if key in found for line in [*found[key], ""]]
    RESULTS.write_text("\n".join([*HEAD, *body]).rstrip() + "\n", encoding="utf-8")


def _read_sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    for line in lines:
        name = line.removeprefix("<!-- ").removesuffix(" -->")
        if line.startswith("<!-- ") and name in SECTIONS:
            current = sections.setdefault(name, [])
        current.append(line)
    return {name: _without_trailing_blanks(section) for name, section in sections.items()}


def _without_trailing_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return lines


if __name__ == "__main__":
    main()
