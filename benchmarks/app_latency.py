"""From a slider movement to the new picture and prediction, measured in the browser.

`python benchmarks/app_latency.py [--url http://127.0.0.1:8501] [--moves 60]` against a running app. The clock
starts at the slider's input event and stops when the 3D view, the bars and the strip have all been drawn.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
MOVE = """async value => {
  const range = document.querySelector('.tpc-sliders input[type=range]');
  const plots = [...document.querySelectorAll('.tpc-plot')];
  const start = performance.now();
  range.value = value;
  range.dispatchEvent(new Event('input', {bubbles: true}));
  const sent = Number(document.querySelector('.tpc-sliders').dataset.sent);
  const drawn = () => plots.every(plot => Number(plot.dataset.stamp) >= sent);
  while (!drawn() && performance.now() - start < 20000) await new Promise(next => setTimeout(next, 1));
  return {total: performance.now() - start, drawing: Math.max(...plots.map(plot => Number(plot.dataset.waited)))};
}"""


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    """Move, wait, note; then the median and the 95th percentile in milliseconds."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8501")
    parser.add_argument("--moves", type=int, default=60)
    given = parser.parse_args()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(given.url)
        page.wait_for_selector(".tpc-plot[data-drawn]", timeout=120_000)
        page.wait_for_timeout(3000)
        for warm_up in (1, 2, 3):
            page.evaluate(MOVE, warm_up)
        samples = [page.evaluate(MOVE, 5 + 2 * step) for step in range(given.moves)]
        browser.close()
    totals, drawing = [s["total"] for s in samples], [s["drawing"] for s in samples]
    result = {
        "moves": len(totals),
        "median_ms": round(statistics.median(totals), 1),
        "p95_ms": round(percentile(totals, 0.95), 1),
        "median_drawing_ms": round(statistics.median(drawing), 1),
        "p95_drawing_ms": round(percentile(drawing, 0.95), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
