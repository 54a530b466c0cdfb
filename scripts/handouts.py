"""Write docs/handouts: one page to print for each lesson, from docs/teaching.md and app/export/handout.py."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.export.handout import HANDOUTS, exercise_of, handout, ideas  # noqa: E402
from app.pages.lessons.notes import DOCUMENT, notes  # noqa: E402


def main() -> None:
    """Write every page."""
    document = DOCUMENT.read_text(encoding="utf-8")
    every, words = notes(document), ideas(document)
    folder = ROOT / "docs" / "handouts"
    folder.mkdir(exist_ok=True)
    for lesson in HANDOUTS:
        page = handout(lesson, every[lesson].title, words[lesson], exercise_of(every[lesson].text))
        (folder / f"lesson-{lesson}.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
