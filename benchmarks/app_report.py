"""benchmarks/APP.md: what was measured of the explorer, a section for each command that measures."""

from __future__ import annotations

import re
from pathlib import Path

REPORT = Path(__file__).parent / "APP.md"


def write_section(name: str, text: str, report: Path = REPORT) -> None:
    """Put the section of one command in its place, or at the end; the others stay as they are."""
    before = report.read_text(encoding="utf-8") if report.exists() else ""
    section = f"<!-- {name} -->\n{text.strip()}\n<!-- /{name} -->\n"
    place = re.compile(rf"<!-- {name} -->\n.*?<!-- /{name} -->\n", re.DOTALL)
    if place.search(before):
        after = place.sub(lambda _: section, before)
    else:
        after = f"{before.rstrip()}\n\n{section}" if before.strip() else section
    report.write_text(after, encoding="utf-8")
