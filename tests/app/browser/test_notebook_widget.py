"""The notebook's widget in a real browser: a host as small as anywidget's interface, and the real Python behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tpc_core import load_model, load_object

pytestmark = pytest.mark.browser

HOST = """
<!doctype html><meta charset="utf-8"><style>%s</style><div id="place"></div>
<script type="module">
import widget from "./widget.mjs";
const [state, told] = [JSON.parse(document.getElementById("state").textContent), new Map()];
window.model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  on: (name, call) => told.set(name, [...(told.get(name) || []), call]),
  off: () => {},
  save_changes: () => window.saved.push(JSON.parse(JSON.stringify(state))),
  heard: (name, value) => { state[name] = value; (told.get(`change:${name}`) || []).forEach((call) => call()); },
};
window.saved = [];
widget.render({ model: window.model, el: document.getElementById("place") });
</script>
<script type="application/json" id="state">%s</script>
"""


def test_sliders_pose_the_stage_and_the_verdict_comes_back(chromium, tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    from tpc_core.notebook.widget import Explorer, _module, _style

    explorer = Explorer(
        load_model("pointnet64-noise"), load_object("gallery:chair-1"), "z-twist+z-taper", "20,0.1"
    )
    names = ("scene", "sliders", "values", "answer", "radius", "asked", "verdict")
    state = json.dumps({name: getattr(explorer, name) for name in names}).replace("<", "\\u003c")
    (tmp_path / "widget.mjs").write_text(_module())
    (tmp_path / "index.html").write_text(HOST % (_style(), state))
    context = chromium.new_context(viewport={"width": 900, "height": 520})
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.route(
        "http://notebook.test/**",
        lambda route: route.fulfill(
            path=str(tmp_path / (route.request.url.rsplit("/", 1)[1] or "index.html"))
        ),
    )
    page.goto("http://notebook.test/")
    page.wait_for_selector(".tpc-stage[data-drawn]")
    assert "chair" in page.inner_text(".tpc-answer")
    page.locator(".tpc-explorer input[type=range]").first.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => window.saved.length > 0")
    values = page.evaluate("() => window.saved.at(-1).values")
    assert values[0] == 180
    page.wait_for_function("() => document.querySelector('.tpc-stage').stage.pose.values[0] === 180")
    explorer.values = values
    page.evaluate("answer => window.model.heard('answer', answer)", explorer.answer)
    page.get_by_role("button", name="Certify").click()
    page.wait_for_function("() => window.saved.at(-1).asked === 1")
    explorer.radius = "twist=5,taper=0.05"
    explorer.asked = 1
    page.evaluate("verdict => window.model.heard('verdict', verdict)", explorer.verdict)
    said = page.locator(".tpc-verdict")
    assert said.get_attribute("data-word") == explorer.certificate.verdict
    assert explorer.certificate.sentence in said.inner_text()
    page.screenshot(path=str(tmp_path / "widget.png"))
    context.close()
    assert failures == []
