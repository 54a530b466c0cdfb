"""From a slider to the picture and to the prediction, frames of an orbit, and the first picture, in the browser.

`python -m benchmarks.app_latency` starts the explorer and Debian's Chromium, moves the first slider of a chair in a
few scenes, turns it, opens the page anew, and prints the times; `--write` also puts them into benchmarks/APP.md. The
clock starts at the slider's input event. The picture is there when the stage has drawn the new pose and a pixel of it
was read back, so that the renderer has truly finished; the prediction, when bars and draws show it, too. Chromium
renders in software here; a graphics card draws faster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
from pathlib import Path
from typing import Any

from app.server.serve import CHROMIUM_FLAGS, serve
from benchmarks.machine import describe_machine

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "benchmarks" / "APP.md"
TARGETS = {"picture": 33, "prediction": 150, "frames": 30, "first": 2000}
"""Milliseconds at the 95th percentile, frames a second of an orbit, milliseconds to the first picture."""
SCENES = {
    "1,024 points": "transform=z-twist&surface=no",
    "1,024 points on a mesh": "transform=z-twist",
    "the same, coloured by displacement": "transform=z-twist&colour=displacement",
    "twist, taper and rotation": "transform=z-twist%2Bz-taper%2Bz-rotation",
    "2,048 points": "transform=z-twist&points=2048&surface=no",
    "2,048 points on a mesh": "transform=z-twist&points=2048",
    "1,024 points, all shown to the model": "transform=z-twist&all-points=yes",
}
"""What is moved, each by its link."""
MOVE = """async value => {
  const range = document.querySelector('.tpc-sliders input[type=range]');
  const parts = [...document.querySelectorAll('.tpc-stage, .tpc-votes, .tpc-draws')];
  const {stage} = document.querySelector('.st-key-cloud .tpc-stage');
  const gl = stage.renderer.getContext();
  const before = stage.drawn;
  const start = performance.now();
  range.value = value;
  range.dispatchEvent(new Event('input', {bubbles: true}));
  while (stage.drawn === before && performance.now() - start < 20000) await new Promise(requestAnimationFrame);
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  const picture = performance.now() - start;
  const sent = Number(document.querySelector('.tpc-sliders').dataset.sent);
  const shown = () => parts.every(part => Number(part.dataset.stamp) >= sent);
  while (!shown() && performance.now() - start < 20000) await new Promise(next => setTimeout(next, 1));
  return {picture, prediction: performance.now() - start};
}"""
TURN = """async frames => {
  const {stage} = document.querySelector('.st-key-cloud .tpc-stage');
  const gl = stage.renderer.getContext();
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < frames; i += 1) {
    const before = stage.drawn;
    stage.view.key('ArrowLeft');
    stage.invalidate();
    while (stage.drawn === before) await new Promise(requestAnimationFrame);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return gaps;
}"""
FIRST = """() => new Promise(done => {
  const found = {};
  const look = () => {
    const stage = document.querySelector('.tpc-stage');
    if (stage) found.placeholder ??= performance.now();
    if (stage?.dataset.drawn) found.first ??= performance.now();
    if (document.querySelector('.tpc-demonstration[data-ready]')) found.prediction ??= performance.now();
    if (found.first && found.prediction) done(found); else setTimeout(look, 4);
  };
  look();
})"""


def measure(address: str, moves: int, opened: int) -> dict[str, Any]:
    """Move the slider again and again, each time once all is drawn, as fast as a hand that waits for the picture."""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {"scenes": {}, "turns": {}}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)

        def page_at(path: str) -> Any:
            page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
            page.goto(f"{address}/{path}")
            return page

        for scene, query in SCENES.items():
            page = page_at(f"explore?{query}")
            page.wait_for_selector(".tpc-stage[data-drawn]", timeout=120_000)
            page.wait_for_selector(".tpc-link", timeout=120_000)
            page.wait_for_timeout(3000)
            samples = [page.evaluate(MOVE, step) for step in range(-moves // 2, moves)]
            found["scenes"][scene] = samples[-moves:]  # the first ones warm the caches
            found["turns"][scene] = page.evaluate(TURN, 2 * moves)[moves // 2 :]
            page.context.close()
        found["opened"] = []
        for _ in range(opened):
            page = page_at("")
            found["opened"].append(page.evaluate(FIRST))
            page.context.close()
        browser.close()
    return found


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Medians and 95th percentiles, in milliseconds; frames a second."""
    result: dict[str, Any] = {}
    for scene, samples in found["scenes"].items():
        row: dict[str, Any] = {"moves": len(samples)}
        for name in ("picture", "prediction"):
            values = [sample[name] for sample in samples]
            row[f"{name}_median"] = round(statistics.median(values), 1)
            row[f"{name}_p95"] = round(percentile(values, 0.95), 1)
        row["frames"] = round(1000 / statistics.mean(found["turns"][scene]), 1)
        result[scene] = row
    result["opened"] = {
        name: round(statistics.median(sample[name] for sample in found["opened"]))
        for name in ("placeholder", "first", "prediction")
    }
    return result


def report(found: dict[str, Any], load: str) -> str:
    """The tables of APP.md."""
    scenes = {scene: row for scene, row in found.items() if scene != "opened"}
    rows = "\n".join(
        f"| {scene} | {row['picture_median']:.0f} | {row['picture_p95']:.0f} | {row['prediction_median']:.0f} | "
        f"{row['prediction_p95']:.0f} | {row['frames']:.0f} |"
        for scene, row in scenes.items()
    )
    opened, moves = found["opened"], next(iter(scenes.values()))["moves"]
    picture, prediction, frames, first = TARGETS.values()
    return f"""# The explorer's answer to a slider

Made by `python -m benchmarks.app_latency --write` on {describe_machine()}:
{moves} movements of the first slider over `gallery:chair-1`, the votes of pointnet64-noise on 64 of its points, on
localhost, with Chromium's software renderer at 1280 x 720 on the same cores. Load average of the machine before the
run: {load}. Targets: picture {picture} ms and prediction {prediction} ms at the 95th percentile, {frames} frames/s,
first picture {first / 1000:.0f} s.

| milliseconds from a slider | picture, median | 95th | and prediction, median | 95th | orbit, frames/s |
|---|---|---|---|---|---|
{rows}

A browser that opens the page for the first time, server warm, milliseconds (median): the stage's place
{opened["placeholder"]}, first picture {opened["first"]}, prediction {opened["prediction"]}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running explorer; one is started where none is given")
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--opened", type=int, default=5, help="how often the page is opened anew")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {REPORT.name}")
    given = parser.parse_args()
    load = f"{os.getloadavg()[0]:.1f}"
    if given.url:
        samples = measure(given.url, given.moves, given.opened)
    else:
        with serve() as address:
            samples = measure(address, given.moves, given.opened)
    found = summary(samples)
    print(json.dumps(found, indent=1))
    if given.write:
        REPORT.write_text(report(found, load))


if __name__ == "__main__":
    main()
