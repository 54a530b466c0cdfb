"""The moving picture of the README: `python scripts/animation.py` writes assets/screenshots/scene.webp.

A lamp that is tapered and turned is certified, cell by cell; then a pointer walks over the map, and the lamp follows
it. Needs Chromium and playwright.
"""

from __future__ import annotations

import io
import math
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402

from app.server.serve import CHROMIUM_FLAGS, serve  # noqa: E402
from app.server.system import BROWSERS  # noqa: E402

QUESTION = (
    "object=gallery:lamp-2&transform=z-taper%2Bz-rotation&radius=taper%3D0.9,rotation%3D15&complete=yes"
)
FRAMES, MILLISECONDS = 32, 110
MAP = ".st-key-run_map .nsewdrag"
SHOWN = {"x": 320, "y": 60, "width": 950, "height": 560}
"""The part of the page that is taken."""


def frames(address: str) -> list[Image.Image]:
    """The map fills in, then a pointer walks around on it and the object follows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        path = next(path for path in map(shutil.which, BROWSERS) if path)
        browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        page.set_default_timeout(180_000)
        taken: list[Image.Image] = []

        def take() -> None:
            picture = page.screenshot(clip=SHOWN)  # type: ignore[arg-type]
            taken.append(Image.open(io.BytesIO(picture)).convert("RGB"))

        page.goto(f"{address}/certify?{QUESTION}")
        page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")
        page.wait_for_selector(".st-key-run_map .tpc-plot[data-drawn]")
        page.get_by_role("button", name="Certify", exact=True).click()
        page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")
        page.wait_for_selector(".tpc-facts")
        while not page.locator('.tpc-facts[data-status="done"]').count():
            page.wait_for_timeout(300)
            take()
        taken[:] = taken[:: max(1, len(taken) // 8)]  # about a second of it
        page.wait_for_timeout(6000)  # the landscape grows finer, the haze of certified positions is drawn
        box = page.locator(MAP).first.bounding_box()
        assert box is not None
        for number in range(FRAMES):
            turn = 2 * math.pi * number / FRAMES
            across, up = 0.5 + 0.42 * math.sin(turn), 0.5 + 0.42 * math.sin(2 * turn)
            page.mouse.move(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])
            page.wait_for_selector(".st-key-cloud .tpc-stage[data-quality=full]")
            page.wait_for_timeout(150)
            take()
        browser.close()
    return taken


def main() -> None:
    with serve() as address:
        first, *others = frames(address)
    path = ROOT / "assets" / "screenshots" / "scene.webp"
    first.save(path, save_all=True, append_images=others, duration=MILLISECONDS, loop=0, quality=55, method=6)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
