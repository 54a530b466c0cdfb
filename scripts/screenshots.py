"""Screenshots of every page: `python scripts/screenshots.py` writes assets/screenshots/*.webp.

`--pages explore certify-turn`, `--sizes small large` and `--themes light dark` choose among them. Needs Chromium and
playwright; only objects of the gallery are shown.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402

from app.server.serve import CHROMIUM_FLAGS, serve  # noqa: E402
from app.server.system import BROWSERS  # noqa: E402

SIZES = {"small": (1280, 720), "large": (1920, 1080)}
PATIENCE = 180_000
CERTIFY = {
    "certify-turn": "object=gallery:car-1&transform=z-rotation&model=pointnet64-noise&radius=30",
    "certify-twist": "transform=z-twist",
    "certify-shear": "transform=z-shear",
    "certify-plane": "object=gallery:lamp-2&transform=z-taper%2Bz-rotation"
    "&radius=taper%3D0.9,rotation%3D15&complete=yes",
    "certify-composition": "transform=z-twist%2Bz-taper%2Bz-rotation&radius=twist%3D10,taper%3D0.1,rotation%3D1",
    "certify-parts": "object=gallery:airplane-1&transform=z-rotation&model=segmentation64-z-rotation&radius=5",
}
PLAIN = {
    "home": ".tpc-demonstration[data-ready]",
    "lessons": ".tpc-lesson-title",
    "theory": "h2",
    "results": "h2",
    "runs": "h2",
    "library": "h2",
}
"""Pages that are taken as they open, each with something that is on it."""
FIRST = {"home": "", "lessons": "lessons?lesson=5"}
"""Where a page is best opened, if not at its beginning."""


DRAWN = """() => {
  const seen = node => node.getBoundingClientRect().top < innerHeight && node.offsetParent;
  const all = selector => [...document.querySelectorAll(selector)].filter(seen);
  return all('img').every(image => image.complete && image.naturalWidth)
    && all('.tpc-plot').every(plot => plot.dataset.drawn) && all('.tpc-stage').every(stage => stage.dataset.drawn);
}"""
"""Whether every picture on the screen is there."""


def rest(page: Any) -> None:
    """Wait until nothing runs any more and every picture is drawn."""
    page.wait_for_timeout(1500)
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(1500)


def explore(page: Any, address: str) -> None:
    """A twisted chair, seen with its ghost."""
    page.goto(f"{address}/explore?transform=z-twist&at=60")
    page.wait_for_selector(".tpc-stage[data-quality=full]")
    page.wait_for_selector(".tpc-votes[data-stamp]")


def certify(page: Any, address: str, question: str) -> None:
    """A finished run."""
    page.goto(f"{address}/certify?{question}")
    page.wait_for_selector(".tpc-link")
    page.get_by_role("button", name="Certify", exact=True).click()
    page.wait_for_selector('.tpc-facts[data-status="done"]', state="attached")
    page.wait_for_timeout(5000)  # the landscape goes on growing finer
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")


def plain(page: Any, address: str, name: str) -> None:
    """A page as it opens."""
    page.goto(f"{address}/{FIRST.get(name, name)}")
    page.locator(PLAIN[name]).first.wait_for()


def debug(page: Any, address: str) -> None:
    """A prepared case whose votes did not suffice, with one of its open cells."""
    page.goto(f"{address}/debug")
    page.locator(".st-key-debug_start_undecided button").click()
    page.wait_for_selector(".st-key-debug_votes .tpc-plot[data-drawn]")


def pictures() -> dict[str, Callable[[Any, str], None]]:
    """How to get to each picture."""
    found: dict[str, Callable[[Any, str], None]] = {"explore": explore, "debug": debug}
    for name, question in CERTIFY.items():
        found[name] = lambda page, address, question=question: certify(page, address, question)
    for name in PLAIN:
        found[name] = lambda page, address, name=name: plain(page, address, name)
    return found


def save(picture: bytes, path: Path) -> None:
    """As WebP: a quarter of a PNG, and no difference to the eye."""
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, quality=90, method=6)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running explorer; one is started where none is given")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "screenshots")
    parser.add_argument("--pages", nargs="+", default=list(pictures()), choices=list(pictures()))
    parser.add_argument("--sizes", nargs="+", default=["small"], choices=list(SIZES))
    parser.add_argument("--themes", nargs="+", default=["light"], choices=["light", "dark"])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    def take(address: str) -> None:
        with sync_playwright() as driver:
            path = next(path for path in map(shutil.which, BROWSERS) if path)
            browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
            for size in given.sizes:
                width, height = SIZES[size]
                for theme in given.themes:
                    for name in given.pages:  # each as a new visitor, so that no run of before is listed
                        context = browser.new_context(
                            viewport={"width": width, "height": height}, color_scheme=theme
                        )
                        context.set_default_timeout(PATIENCE)
                        page = context.new_page()
                        pictures()[name](page, address)
                        rest(page)
                        save(page.screenshot(), given.out / f"{name}-{size}-{theme}.webp")
                        context.close()
            browser.close()

    if given.url:
        take(given.url)
    else:
        with serve() as address:
            take(address)


if __name__ == "__main__":
    main()
