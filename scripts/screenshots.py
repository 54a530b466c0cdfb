"""Screenshots of each page: `python scripts/screenshots.py [--url http://127.0.0.1:8501] [--out assets/screenshots]`.

Needs a running app, `pip install playwright` and Debian's Chromium.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
SIZES = {"small": (1280, 720), "large": (1920, 1080)}
PATIENCE = 120_000


def explore(page: Any, url: str) -> None:
    """A twisted chair, seen with its ghost."""
    page.goto(url)
    page.wait_for_selector(".tpc-plot[data-drawn]")
    page.wait_for_timeout(1000)
    page.evaluate(
        """() => { const range = document.querySelector('.tpc-sliders input[type=range]'); range.value = 40;
        for (const kind of ['input', 'change']) range.dispatchEvent(new Event(kind, {bubbles: true})); }"""
    )
    page.wait_for_timeout(4000)


def certify(page: Any, url: str, transform: str, preset: str) -> None:
    """A finished run."""
    page.goto(f"{url}/certify")
    page.wait_for_selector("[data-testid=stBaseButton-primary]")
    box = page.locator("[data-testid=stSelectbox]").filter(has_text="Transform").locator("input").first
    box.click()
    box.fill(transform)
    page.get_by_role("option", name=transform, exact=True).click()
    page.get_by_text(preset, exact=True).first.click()
    page.wait_for_timeout(2500)
    page.locator("[data-testid=stBaseButton-primary]").click()
    page.wait_for_timeout(2500)  # the run of before may still be on screen
    page.wait_for_selector('.tpc-facts[data-status="done"]', state="attached")
    page.wait_for_timeout(6000)


def main() -> None:
    """Every page, at both sizes, light and dark."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8501")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parents[1] / "assets" / "screenshots"
    )
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--themes", nargs="+", default=["light", "dark"], choices=["light", "dark"])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "explore": explore,
        "certify-taper": lambda page, url: certify(page, url, "z-taper", "0.5"),
        "certify-shear": lambda page, url: certify(page, url, "z-shear", "0.03"),
        "certify-twist": lambda page, url: certify(page, url, "z-twist", "20°"),
        "certify-composition": lambda page, url: certify(
            page, url, "z-twist+z-taper+z-rotation", "10°, 0.1, 1°"
        ),
    }
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for size in given.sizes:
            width, height = SIZES[size]
            for theme in given.themes:
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
                context.set_default_timeout(PATIENCE)
                page = context.new_page()
                for name, make in pictures.items():
                    make(page, given.url)
                    page.screenshot(path=given.out / f"{name}-{size}-{theme}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
