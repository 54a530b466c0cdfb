"""From a slider to the picture and to the prediction, an orbit's frames, the first picture and a still, in a browser.

`python -m benchmarks.app_latency --write` starts the explorer and Debian's Chromium, measures, and puts the times
beside their targets into benchmarks/APP.md; it exits with 1 where a target is missed. First the browser is the only
visitor; then 20 others are at work on the same server (benchmarks/classroom.py). In a class every browser has a machine
of its own: so the server and the class share one core then, and the browser that is measured has the other one. All of
it takes about five minutes of a quiet machine; figures of a busy one say little.

The clock starts at the slider's input event. The picture is there when the stage has drawn a frame with the new pose
and a pixel of it was read back, so that the renderer has truly finished; and not before the browser's next frame, which
is the first that can show it, however early the stage began to draw. It is measured in a drag that waits for
nobody: the next value comes after 40 ms, while the server is still voting on the last one. The prediction is there when
bars and draws show it, too; it is measured by single movements. Chromium renders in software here; a graphics card
draws faster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from app.components.stage import _HERE as STAGE
from app.components.stage import _HTML as STAGE_HTML
from app.components.stage import BUNDLE, transform_data
from app.figures.looks import stage_look
from app.figures.scene import scene_of
from app.figures.theme import LIGHT
from app.server.serve import CHROMIUM_FLAGS, served
from benchmarks.app_report import REPORT, write_section
from benchmarks.classroom import beside
from benchmarks.machine import describe_machine
from benchmarks.processes import family
from tpc_core import parse_transform

PICTURE, PREDICTION, FRAMES, FIRST_PICTURE, STILL = 33, 150, 30, 2000, 2000
"""The targets: milliseconds at the 95th percentile, frames a second of an orbit, and milliseconds (medians)."""
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
MANY_POINTS = 100_000
"""Points of a cloud that a stage turns, with no page around it."""
IN_CLASS = ("1,024 points", "1,024 points on a mesh", "2,048 points", "2,048 points on a mesh")
"""What is moved while others are at work."""
READY = {
    "home": ("", ".tpc-demonstration[data-ready]", "the twisted car and its answers"),
    "explore": ("explore", ".tpc-votes[data-stamp]", "the prediction"),
    "certify": ("certify", ".st-key-run_map .tpc-plot[data-drawn]", "the map"),
}
"""Pages that are opened: their path, and what ends the wait for more than the first picture."""
START = """
  const range = document.querySelector('.tpc-sliders input[type=range]');
  const {stage} = document.querySelector('.tpc-stage');
  const gl = stage.renderer.getContext();
  const finish = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  const frame = async before => {
    const end = performance.now() + 20000;
    do await new Promise(requestAnimationFrame); while (stage.drawn === before && performance.now() < end);
    finish();
  };
  const input = value => {
    range.value = value;
    range.dispatchEvent(new Event('input', {bubbles: true}));
  };
"""
DRAG = f"""async values => {{ {START}
  const times = [];
  for (const value of values) {{
    const before = stage.drawn;
    const start = performance.now();
    input(value);
    await frame(before);
    times.push(performance.now() - start);
    await new Promise(next => setTimeout(next, Math.max(0, 40 - (performance.now() - start))));
  }}
  return times;
}}"""
MOVE = f"""async value => {{ {START}
  const parts = [...document.querySelectorAll('.tpc-stage, .tpc-votes, .tpc-draws')];
  const before = stage.drawn;
  const start = performance.now();
  input(value);
  await frame(before);
  const sent = Number(document.querySelector('.tpc-sliders').dataset.sent);
  const shown = () => parts.every(part => Number(part.dataset.stamp) >= sent);
  while (!shown() && performance.now() - start < 20000) await new Promise(next => setTimeout(next, 1));
  return performance.now() - start;
}}"""
TURN = f"""async frames => {{ {START}
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < frames; i += 1) {{
    const before = stage.drawn;
    stage.view.key('ArrowLeft');
    stage.invalidate();
    await frame(before);
    gaps.push(performance.now() - last);
    last = performance.now();
  }}
  return gaps;
}}"""
OPENED = """ready => new Promise(done => {
  const found = {};
  const look = () => {
    const stage = document.querySelector('.tpc-stage');
    if (stage) found.place ??= performance.now();
    if (stage?.dataset.drawn) found.first ??= performance.now();
    if (document.querySelector(ready)) found.ready ??= performance.now();
    if (found.first && found.ready) {
      found.painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? found.place;
      done(found);
    } else setTimeout(look, 4);
  };
  look();
})"""
MOUNT = """([scene, data]) => {
  (window.tpcScenes ||= new Map()).set(scene.digest, scene);
  TpcStage.mount({data, parentElement: document.body, setTriggerValue: () => {}, setStateValue: () => {}});
}"""
CLICK_STILL = """async () => {
  const start = performance.now();
  document.querySelector('.tpc-stage [data-action=still]').click();
  const shown = () => {
    const picture = document.querySelector('[role=dialog] img');
    return picture?.complete && picture.naturalWidth > 0;
  };
  while (!shown() && performance.now() - start < 60000) await new Promise(next => setTimeout(next, 5));
  return performance.now() - start;
}"""


@contextmanager
def browsing() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@contextmanager
def page_of(address: str) -> Iterator[Any]:
    """A browser; the value opens a page of the explorer in a profile of its own."""
    with browsing() as browser:

        @contextmanager
        def opened(path: str) -> Iterator[Any]:
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            context.set_default_timeout(180_000)
            page = context.new_page()
            page.goto(f"{address}/{path}")
            yield page
            context.close()

        yield opened


def measure_scene(opened: Any, query: str, moves: int) -> dict[str, Any]:
    """Drag, move and turn one object."""
    with opened(f"explore?{query}") as page:
        page.wait_for_selector(".tpc-stage[data-drawn]")
        page.wait_for_selector(".tpc-link")
        page.wait_for_timeout(3000)
        page.evaluate(MOVE, 60)  # the first ones warm the caches
        page.evaluate(DRAG, list(range(60, 60 - moves // 3, -1)))
        drag = page.evaluate(DRAG, [step - moves // 2 for step in range(moves)])
        page.wait_for_timeout(1000)
        answers = [page.evaluate(MOVE, 4 * step - moves) for step in range(moves // 2)]
        page.wait_for_timeout(1000)
        turn = page.evaluate(TURN, moves + moves // 3)[moves // 3 :]
    return {
        "moves": moves,
        "picture": round(statistics.median(drag), 1),
        "picture_p95": round(percentile(drag, 0.95), 1),
        "prediction": round(statistics.median(answers), 1),
        "prediction_p95": round(percentile(answers, 0.95), 1),
        "frames": round(1000 / statistics.mean(turn), 1),
    }


def measure_openings(opened: Any, times: int) -> dict[str, dict[str, int]]:
    """Milliseconds from the click on a link until something is painted, the stage has its place and its picture."""
    found = {}
    for name, (path, ready, _) in READY.items():
        samples = []
        for _time in range(times):
            with opened(path) as page:
                samples.append(page.evaluate(OPENED, ready))
        found[name] = {
            what: round(statistics.median(sample[what] for sample in samples))
            for what in ("painted", "place", "first", "ready")
        }
    return found


def measure_stills(opened: Any, times: int) -> list[int]:
    """Milliseconds from the click on Still until Open3D's picture is on the page."""
    with opened("explore?transform=z-twist&at=60") as page:
        page.wait_for_selector(".tpc-stage[data-drawn]")
        page.wait_for_selector(".tpc-link")
        page.wait_for_timeout(15_000)  # the worker warms itself up
        taken = []
        for _time in range(times):
            taken.append(round(page.evaluate(CLICK_STILL)))
            page.locator("[role=dialog]").get_by_role("button", name="Close").click()
            page.locator("[role=dialog]").wait_for(state="detached")
            page.wait_for_timeout(500)
    return taken


def measure_crowd(moves: int) -> float:
    """Frames a second of a stage alone on a page that turns many points, drawn as at its first movement and after."""
    points = np.random.default_rng(0).normal(size=(MANY_POINTS, 3))
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)
    twist = parse_transform("z-twist")
    scene = scene_of(points)
    data = {
        "key": "cloud",
        "scene": scene["digest"],
        "transform": transform_data(twist),
        "pose": {"values": [40.0], "epoch": 0},
        "height": "460px",
        "look": stage_look(LIGHT),
        "settings": {
            "colouring": "height", "surface": True, "ghost": False, "side_by_side": False, "point_size": 2.5,
        },
        "stamp": 0, "seen": MANY_POINTS, "camera_of": "points", "title": "Many points",
        "colourings": [], "switches": [], "actions": [], "filename": "points",
    }  # fmt: skip
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 620, "height": 480})
        page.set_default_timeout(180_000)
        page.set_content(f"<style>{(STAGE / 'stage.css').read_text()}</style>{STAGE_HTML}")
        page.add_script_tag(path=str(BUNDLE))
        page.evaluate(MOUNT, json.loads(json.dumps([scene, data])))
        page.wait_for_selector(".tpc-stage[data-quality=full]")
        gaps = page.evaluate(TURN, 2 * moves)[moves:]
    return round(1000 / statistics.mean(gaps), 1)


def measure(moves: int, times: int, visitors: int) -> dict[str, Any]:
    """All of it: alone, then in a class."""
    found: dict[str, Any] = {}
    # As `make app` serves it, but on one core, to leave one to the browser; the workers stand back for pages, too.
    with served({"OMP_NUM_THREADS": "1"}) as server, page_of(server.address) as opened:
        with opened("explore") as page:
            page.wait_for_selector(".tpc-votes[data-stamp]")  # the server has imported all that it needs
        found["opened"] = measure_openings(opened, times)
        found["alone"] = {
            scene: _said(scene, measure_scene(opened, query, moves)) for scene, query in SCENES.items()
        }
        found["stills"] = measure_stills(opened, times)
    found["crowd"] = measure_crowd(moves)
    if visitors:
        with ExitStack() as stack:
            server = stack.enter_context(served({"OMP_NUM_THREADS": "1"}))
            others = stack.enter_context(beside(server.address, visitors))
            for pid in (server.pid, others):
                move_to_core(pid, 0)
            with on_core(1):
                opened = stack.enter_context(page_of(server.address))
            found["class"] = {
                scene: _said(scene, measure_scene(opened, SCENES[scene], moves)) for scene in IN_CLASS
            }
    return found


def _said(scene: str, row: dict[str, Any]) -> dict[str, Any]:
    print(scene, json.dumps(row), flush=True)
    return row


def cores() -> list[int]:
    """The cores of this machine that can be chosen among; none where the system cannot do it, or there is but one."""
    found = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return found if len(found) > 1 else []


@contextmanager
def on_core(number: int) -> Iterator[None]:
    """Whatever is started in the block stays on one core."""
    every = cores()
    if every:
        os.sched_setaffinity(0, {every[number]})
    try:
        yield
    finally:
        if every:
            os.sched_setaffinity(0, every)


def move_to_core(pid: int, number: int) -> None:
    """Keep a process, with all its threads and all that it started, on one core from now on."""
    every = cores()
    for member in family(pid) if every else []:
        for thread in Path(f"/proc/{member}/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), {every[number]})


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def missed(found: dict[str, Any]) -> list[str]:
    """The targets that do not hold, in words."""
    wrong = []
    for place in ("alone", "class"):
        for scene, row in found.get(place, {}).items():
            where = scene if place == "alone" else f"{scene}, in a class"
            if row["picture_p95"] > PICTURE:
                wrong.append(f"{where}: the picture takes {row['picture_p95']:.0f} ms, target {PICTURE}")
            if place == "alone" and row["prediction_p95"] > PREDICTION:
                wrong.append(
                    f"{where}: the prediction takes {row['prediction_p95']:.0f} ms, target {PREDICTION}"
                )
            if place == "alone" and row["frames"] < FRAMES:
                wrong.append(f"{where}: an orbit has {row['frames']:.0f} frames/s, target {FRAMES}")
    for name, row in found["opened"].items():
        if row["first"] > FIRST_PICTURE:
            wrong.append(f"{name}: the first picture takes {row['first']:,} ms, target {FIRST_PICTURE:,}")
    if max(found["stills"]) > STILL:
        wrong.append(f"a still takes {max(found['stills']):,} ms, target {STILL:,}")
    if found["crowd"] < FRAMES:
        wrong.append(f"an orbit of {MANY_POINTS:,} points has {found['crowd']:.0f} frames/s, target {FRAMES}")
    return wrong


def report(found: dict[str, Any], load: str, visitors: int) -> str:
    """The page APP.md."""

    def table(rows: dict[str, dict[str, Any]]) -> str:
        lines = [
            f"| {scene} | {row['picture']:.0f} | {row['picture_p95']:.0f} | {row['prediction']:.0f} | "
            f"{row['prediction_p95']:.0f} | {row['frames']:.0f} |"
            for scene, row in rows.items()
        ]
        head = "| milliseconds from a slider | picture, median | 95th | prediction, median | 95th | orbit, frames/s |"
        return "\n".join([head, "|---|---|---|---|---|---|", *lines])

    moves = next(iter(found["alone"].values()))["moves"]
    openings = "\n".join(
        f"| {name} | {row['painted']} | {row['place']} | {row['first']} | {row['ready']} ({READY[name][2]}) |"
        for name, row in found["opened"].items()
    )
    wrong = missed(found)
    verdict = "All targets hold." if not wrong else "Missed:\n" + "\n".join(f"- {words}" for words in wrong)
    in_class = ""
    if "class" in found:
        in_class = f"""
## With {visitors} others at work

They drag and certify objects of their own on the same server, which shares one core with them; the browser has the
other core, in place of a machine of its own. There is no target for the prediction here.

{table(found["class"])}
"""
    return f"""# The explorer's answer to a slider

Made by `python -m benchmarks.app_latency --write` on {describe_machine()}:
the first slider over `gallery:chair-1`, {moves} movements in a drag and {moves // 2} single ones, the votes of
pointnet64-noise on 64 of its points, on localhost, with Chromium's software renderer at 1280 x 720 on the same cores.
Load average of the machine before the run: {load}. Targets: picture {PICTURE} ms and prediction {PREDICTION} ms at the
95th percentile, {FRAMES} frames/s, first picture and still {FIRST_PICTURE / 1000:.0f} s.

{verdict}

## Alone

{table(found["alone"])}

A still by Open3D, from the click to the picture, worker warm: {", ".join(f"{t:,}" for t in found["stills"])} ms.
A stage by itself that is turned with {MANY_POINTS:,} points: {found["crowd"]:.0f} frames/s.

## Opening a page

A browser that comes for the first time, server warm; milliseconds, medians.

| page | first paint | the stage's place | first picture | and all else |
|---|---|---|---|---|
{openings}
{in_class}"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_latency", description=__doc__)
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument(
        "--times", type=int, default=5, help="how often pages are opened and stills are taken"
    )
    parser.add_argument("--visitors", type=int, default=20, help="0 leaves the class out")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {REPORT.name}")
    given = parser.parse_args()
    load, start = f"{os.getloadavg()[0]:.1f}", time.monotonic()
    found = measure(given.moves, given.times, given.visitors)
    text = report(found, load, given.visitors)
    print(text)
    print(f"Measured in {time.monotonic() - start:.0f} s.")
    if given.write:
        write_section("latency", text)
    sys.exit(1 if missed(found) else 0)


if __name__ == "__main__":
    main()
