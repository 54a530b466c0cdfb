"""`make bench`: measure, print, and write benchmarks/RESULTS.md. `--quick` leaves out the longest runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import cover_cost
from benchmarks.machine import describe_machine

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> None:
    """Run every benchmark in one process, one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="skip runs of more than a million votes")
    options = parser.parse_args()
    sections = ["# Benchmarks", "", f"Made by `make bench` on {describe_machine()}.", ""]
    sections += cover_cost.measure(quick=options.quick)
    RESULTS.write_text("\n".join(sections) + "\n", encoding="utf-8")
    print(f"\nwritten to {RESULTS}")


if __name__ == "__main__":
    main()
