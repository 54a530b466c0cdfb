"""The moving picture of the README: `python scripts/animation.py` writes assets/screenshots/scene.webp.

A pointer walks over the map of a car that is turned, and the object follows it. Needs Chromium and playwright.
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

QUESTION = "object=gallery:car-1&transform=z-rotation&model=pointnet64-noise&radius=30"
FRAMES, MILLISECONDS = 36, 90
MAP = ".st-key-run_map .nsewdrag"
SHOWN = {"x": 320, "y": 60, "width": 960, "height": 560}
"""The part of the page that is taken."""


def frames(address: str) -> list[Image.Image]:
    """The scene while the pointer goes over its map and back."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        path = next(path for path in map(shutil.which, BROWSERS) if path)
        browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        page.set_default_timeout(180_000)
        page.goto(f"{address}/certify?{QUESTION}")
        page.get_by_role("button", name="Certify", exact=True).click()
        page.wait_for_selector(".tpc-verdict")
        page.wait_for_timeout(6000)
        page.mouse.move(700, 300)
        page.mouse.wheel(0, -5000)
        page.wait_for_timeout(1000)
        box = page.locator(MAP).first.bounding_box()
        assert box is not None
        taken = []
        for number in range(FRAMES):
            place = 0.5 - 0.46 * math.sin(2 * math.pi * number / FRAMES)
            page.mouse.move(box["x"] + place * box["width"], box["y"] + 0.6 * box["height"])
            page.wait_for_timeout(250)
            picture = page.screenshot(clip=SHOWN)  # type: ignore[arg-type]
            taken.append(Image.open(io.BytesIO(picture)).convert("RGB"))
        browser.close()
    return taken


def main() -> None:
    with serve() as address:
        first, *others = frames(address)
    path = ROOT / "assets" / "screenshots" / "scene.webp"
    first.save(path, save_all=True, append_images=others, duration=MILLISECONDS, loop=0, quality=60, method=4)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
