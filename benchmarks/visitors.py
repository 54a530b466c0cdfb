"""A visitor with a browser: a real page in Chromium that opens the explorer, brings a file, drags and certifies.

Chromium draws WebGL in software here, on the same cores as the server. Pages may be asked to leave the 3D drawing out:
everything else (Streamlit's page, the components, the WebSocket, the sliders, the uploads) is real all the same. Those
that draw are measured from the slider to the painted picture.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.marked import Mark
from benchmarks.visits import QUESTION, Visit
from tpc_core import Certificate

PATIENCE = 120_000
"""Milliseconds until a visitor gives up, which fails the test."""

WATCH = """patterns => {
  // Every message from the server is searched for names and points of marked objects, as it comes.
  const seen = (window.__seen = { names: {}, points: {}, frames: 0, bytes: 0, arrived: 0 });
  const count = (where, what) => (where[what] = (where[what] || 0) + 1);
  const decoder = new TextDecoder("latin1");
  class Watched extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        if (!(data instanceof ArrayBuffer)) return;
        const text = decoder.decode(data);
        seen.bytes += data.byteLength;
        for (const [name] of text.matchAll(/marked-\\d{3}/g)) count(seen.names, name);
        for (const [, start] of text.matchAll(/"bdata": ?"([^"]{64})/g))
          if (patterns[start]) count(seen.points, patterns[start]);
        if (/"frame": ?\\{/.test(text)) { seen.frames += 1; seen.arrived = performance.now(); }
      });
    }
  }
  window.WebSocket = Watched;
}"""

NO_DRAWING = """() => {
  const nothing = async () => {};
  window.Plotly = { react: async (canvas) => { canvas.on = () => {}; }, relayout: nothing, purge: () => {},
    Plots: { resize: nothing }, downloadImage: nothing };
  const mount = ({ data, parentElement }) => {
    const root = parentElement.querySelector('.tpc-stage');
    const hear = stamp => { root.dataset.stamp = String(Math.max(Number(root.dataset.stamp || 0), stamp)); };
    if (!root.dataset.drawn) document.addEventListener('tpc-frame', ({ detail }) => hear(detail.stamp));
    root.dataset.drawn = '1';
    hear(data.stamp);
    return () => {};
  };
  window.tpcStage = Promise.resolve({ mount });
}"""

MOVE = """async value => {
  const panel = document.querySelector('.tpc-sliders');
  const range = panel.querySelector('input[type=range]');
  const view = document.querySelector('.st-key-cloud canvas');
  const gl = view && (view.getContext('webgl') || view.getContext('webgl2'));
  const parts = () => [...document.querySelectorAll('.tpc-stage, .tpc-votes, .tpc-draws')];
  const start = performance.now();
  range.value = value;
  range.dispatchEvent(new Event('input', {bubbles: true}));
  const sent = Number(panel.dataset.sent);
  const shown = () => parts().length >= 3 && parts().every(part => Number(part.dataset.stamp) >= sent);
  while (!shown() && performance.now() - start < 60000) await new Promise(next => setTimeout(next, 2));
  if (!shown()) return {lost: true};
  const answered = performance.now() - start;
  const reply = Math.min(answered, Math.max(0, window.__seen.arrived - start));
  if (gl) {
    await new Promise(done => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(null);
    }));
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
  return {reply, answered, total: performance.now() - start};
}"""

RUN = "() => document.querySelector('.tpc-facts')?.dataset.run ?? ''"
"""The number of the run that a page shows."""

ENDED = """before => {
  const facts = document.querySelector('.tpc-facts');
  return facts && facts.dataset.run !== before && facts.dataset.status === 'done'
    && document.querySelector('[data-verdict]') && document.querySelector('.st-key-save_json button');
}"""


@dataclass
class PageVisitor(Visit):
    """One page in a browser profile of its own."""

    page: Any = None
    draws: bool = False

    async def open(self, address: str) -> None:
        """Come by a link to a question, bring the file, and go to the Explore page."""
        start = asyncio.get_running_loop().time()
        await self.page.goto(f"{address}/certify?{QUESTION}")
        await self.page.wait_for_selector(".st-key-start")
        await self.page.wait_for_selector(".tpc-link")
        self.opened = asyncio.get_running_loop().time() - start
        await self.page.get_by_role("button", name="Choose an object").click()
        await self.page.get_by_role("tab", name="Upload").click()
        field = self.page.locator("[data-testid=stFileUploaderDropzoneInput]")
        await field.set_input_files(str(self.mark.file))
        await self.page.get_by_role("button", name="Show this object").click()
        await self.page.get_by_text(self.mark.name, exact=True).first.wait_for()
        await self.page.get_by_role("dialog").wait_for(state="detached")
        await self.explore()

    async def explore(self) -> None:
        """Go to the Explore page."""
        await self.page.get_by_role("link", name="Explore").first.click()
        await self.page.wait_for_selector(".st-key-to_certify")
        await self.page.wait_for_selector(".st-key-cloud .tpc-stage[data-drawn]")

    async def to_certify(self) -> None:
        """Go to the Certify page."""
        await self.page.get_by_role("link", name="Certify").first.click()
        await self.page.wait_for_selector(".st-key-start")
        await self.page.wait_for_selector(".st-key-to_certify", state="detached")

    async def drag(self, dice: random.Random, steps: int) -> None:
        """Drag the slider over a few values, each as soon as the one before is seen."""
        start, by = dice.randint(-120, 120), dice.choice([-3, -2, 2, 3])
        for step in range(steps):
            await self.page.wait_for_selector(".tpc-sliders input[type=range]")
            found = await self.page.evaluate(MOVE, start + by * step)
            if found.get("lost"):
                self.troubles.append("a movement was not answered within a minute")
            else:
                self.moves.append(found)

    async def certify(self) -> None:
        """Ask for a certificate of the object at hand, wait for it, take it, and come back."""
        await self.to_certify()
        await self.run()
        await self.take()
        await self.explore()

    async def run(self) -> None:
        """Click Certify and wait for the verdict of the new run."""
        before = await self.page.evaluate(RUN)
        start = asyncio.get_running_loop().time()
        await self.page.locator(".st-key-start button").click()
        await self.page.wait_for_function(ENDED, arg=before)
        self.runs.append(asyncio.get_running_loop().time() - start)

    async def take(self) -> None:
        """Download the certificate, and look whether it is of this visitor's object."""
        async with self.page.expect_download() as download:
            await self.page.locator(".st-key-save_json button").click()
        async with asyncio.timeout(PATIENCE / 1000):
            file = Path(await (await download.value).path())
        self.keep(Certificate.from_json(file.read_text()))

    async def look_around(self) -> None:
        """Anything of another visitor in what the browser received or shows is trouble."""
        seen: dict[str, Any] = await self.page.evaluate("window.__seen")
        self.received = int(seen["bytes"])
        shown = set(re.findall(r"marked-\d{3}", await self.page.inner_text("body")))
        self.compare({*seen["names"], *shown}, set(seen["points"]))
        if await self.page.locator("[data-testid=stException]").count():
            self.troubles.append("shows an error")


async def new_page_visitor(browser: Any, mark: Mark, marks: list[Mark], *, draws: bool) -> PageVisitor:
    """A new browser profile, that is, a visitor whom the server has not seen."""
    context = await browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    patterns = json.dumps({other.pattern: other.name for other in marks})
    await context.add_init_script(f"({WATCH})({patterns})")
    if not draws:
        await context.add_init_script(f"({NO_DRAWING})()")
    return PageVisitor(mark, page=await context.new_page(), draws=draws)
