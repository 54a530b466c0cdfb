"""From a slider movement to the new picture and prediction, measured in the browser.

`python -m benchmarks.app_latency` starts the explorer and Debian's Chromium, moves the first slider of a chair in a
few scenes, and prints the times; `--write` also puts them into benchmarks/APP.md. The clock starts at the slider's
input event. It stops when the 3D view, the bars and the strip of draws all show the new pose, the browser has painted
them, and a pixel of the 3D view was read back, so that the renderer has truly finished. Chromium renders in software
here; a graphics card draws faster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
from pathlib import Path
from typing import Any

from app.serve import CHROMIUM_FLAGS, serve
from benchmarks.machine import describe_machine

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "benchmarks" / "APP.md"
TARGET_MS = 150
SCENES = {
    "1,024 points": "transform=z-twist",
    "the same, coloured by displacement": "transform=z-twist&colour=displacement",
    "the same, as a mesh": "transform=z-twist&mesh=yes",
    "twist, taper and rotation": "transform=z-twist%2Bz-taper%2Bz-rotation",
    "2,048 points": "transform=z-twist&points=2048",
    "1,024 points, all shown to the model": "transform=z-twist&all-points=yes",
}
"""What is moved, each by its link; the target is set for the first."""
MOVE = """async value => {
  const range = document.querySelector('.tpc-sliders input[type=range]');
  const parts = [...document.querySelectorAll('.tpc-plot, .tpc-votes, .tpc-draws')];
  const view = document.querySelector('.st-key-cloud canvas');
  const gl = view.getContext('webgl') || view.getContext('webgl2');
  const painted = () => new Promise(done => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(null);
  }));
  const start = performance.now();
  range.value = value;
  range.dispatchEvent(new Event('input', {bubbles: true}));
  const sent = Number(document.querySelector('.tpc-sliders').dataset.sent);
  const shown = () => parts.every(part => Number(part.dataset.stamp) >= sent);
  while (!shown() && performance.now() - start < 20000) await new Promise(next => setTimeout(next, 1));
  const answered = performance.now() - start;
  await painted();
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  return {total: performance.now() - start, answered,
    drawing: Number(document.querySelector('.st-key-cloud .tpc-plot').dataset.waited)};
}"""


def measure(address: str, moves: int) -> dict[str, list[dict[str, float]]]:
    """Move the slider again and again, each time once all is drawn, as fast as a hand that waits for the picture."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        for scene, query in SCENES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"{address}/?{query}")
            page.wait_for_selector(".tpc-plot[data-drawn]", timeout=120_000)
            page.wait_for_selector(".tpc-link", timeout=120_000)
            page.wait_for_timeout(3000)
            samples = [page.evaluate(MOVE, step) for step in range(-moves // 2, moves)]
            found[scene] = samples[-moves:]  # the first ones warm the caches
            page.close()
        browser.close()
    return found


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(samples: list[dict[str, float]]) -> dict[str, Any]:
    """Median and 95th percentile, in milliseconds."""
    result: dict[str, Any] = {"moves": len(samples)}
    for name in ("total", "answered", "drawing"):
        values = [sample[name] for sample in samples]
        result[f"{name}_median"] = round(statistics.median(values), 1)
        result[f"{name}_p95"] = round(percentile(values, 0.95), 1)
    return result


def report(found: dict[str, dict[str, Any]], load: str) -> str:
    """The tables of APP.md."""
    first = next(iter(found.values()))
    rows = {
        "slider to picture and prediction, painted": "total",
        "of this, until all three have their answer": "answered",
        "of this, drawing the 3D view": "drawing",
    }
    split = "\n".join(
        f"| {words} | {first[f'{name}_median']:.0f} | {first[f'{name}_p95']:.0f} |"
        for words, name in rows.items()
    )
    scenes = "\n".join(
        f"| {scene} | {times['total_median']:.0f} | {times['total_p95']:.0f} |"
        for scene, times in found.items()
    )
    return f"""# The explorer's answer to a slider

Made by `python -m benchmarks.app_latency --write` on {describe_machine()}: {first["moves"]} movements of the first
slider over `gallery:chair-1`, the votes of pointnet64-noise on 64 of its points, on localhost, with Chromium's
software renderer at 1280 x 720 on the same cores. Load average of the machine before the run: {load}.
The target is {TARGET_MS} ms at the 95th percentile for 1,024 points.

| 1,024 points, twist, milliseconds | median | 95th percentile |
|---|---|---|
{split}

| from slider to picture and prediction, milliseconds | median | 95th percentile |
|---|---|---|
{scenes}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running explorer; one is started where none is given")
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--write", action="store_true", help=f"put the figures into {REPORT.name}")
    given = parser.parse_args()
    load = f"{os.getloadavg()[0]:.1f}"
    if given.url:
        samples = measure(given.url, given.moves)
    else:
        with serve() as address:
            samples = measure(address, given.moves)
    found = {scene: summary(times) for scene, times in samples.items()}
    print(json.dumps(found, indent=1))
    if given.write:
        REPORT.write_text(report(found, load))


if __name__ == "__main__":
    main()
