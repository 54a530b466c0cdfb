"""The stage by itself, in a real browser: what is drawn is phi(x, z), however the page asks for it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from app.components.stage import _HERE, _HTML, BUNDLE, transform_data
from app.figures.arrays import packed
from app.figures.cloud import MeshView
from app.figures.looks import stage_look
from app.figures.scene import scene_of
from app.figures.theme import LIGHT
from tpc_core import Transform, load_shape, parse_transform
from tpc_core.transforms import all_transforms, shader

pytestmark = pytest.mark.browser

SETTINGS = {
    "colouring": "height",
    "surface": True,
    "ghost": True,
    "side_by_side": False,
    "point_size": 2.5,
}
MOUNT = """([scene, data]) => {
  window.tpcScenes ||= new Map();
  window.tpcScenes.set(scene.digest, scene);
  window.told ||= [];
  TpcStage.mount({data, parentElement: document.getElementById('place'),
    setTriggerValue: (name, value) => window.told.push([name, value]),
    setStateValue: (name, value) => window.told.push([name, value])});
}"""
ROOT = ".tpc-stage"


def message(
    transform: Transform, values: Sequence[float], scene: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """What the component sends for an object at a pose."""
    return {
        "key": "cloud",
        "scene": scene["digest"],
        "transform": transform_data(transform),
        "pose": {"values": list(values), "epoch": 0},
        "height": "420px",
        "look": stage_look(LIGHT),
        "settings": SETTINGS,
        "stamp": 0,
        "seen": 64,
        "camera_of": "an object",
        "title": "A chair",
        "colourings": [
            {"id": name, "label": name, "title": ""} for name in ("height", "displacement", "parts")
        ],
        "switches": [{"id": "ghost", "label": "Ghost", "kind": "checkbox"}],
        "actions": [{"id": "home", "label": "home", "title": "home"}],
        "filename": "chair",
        **more,
    }


@pytest.fixture(scope="module")
def chair() -> dict[str, Any]:
    """A chair of 512 points on its surface."""
    shape = load_shape("gallery:chair-1")
    cloud, mesh = shape.cloud(512), shape.mesh_around(512)
    assert mesh is not None
    assert cloud.part_labels is not None
    view = MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    return scene_of(cloud.points.numpy(), view, cloud.part_labels.numpy(), {})


@pytest.fixture
def points() -> torch.Tensor:
    return load_shape("gallery:chair-1").cloud(512).points


@pytest.fixture
def bare(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A page with nothing but a stage on it; an error on the page fails the test."""
    contexts, errors = [], []

    def open_page(script: str = "") -> Any:
        context = chromium.new_context(viewport={"width": 640, "height": 440})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        if script:
            page.add_init_script(script)
        page.goto("about:blank")
        style = (_HERE / "stage.css").read_text()
        page.set_content(f"<style>{style}</style><div id=place>{_HTML}</div>")
        page.add_script_tag(path=str(BUNDLE))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def mount(page: Any, scene: dict[str, Any], data: dict[str, Any]) -> None:
    page.evaluate(MOUNT, json.loads(json.dumps([scene, data])))


def rest(page: Any) -> None:
    page.wait_for_selector(f"{ROOT}[data-quality=full]")


def pose(page: Any, **detail: Any) -> None:
    """Tell it a pose as another component would, and wait until it is drawn."""
    before = page.evaluate(f"() => document.querySelector('{ROOT}').stage.drawn")
    page.evaluate("detail => document.dispatchEvent(new CustomEvent('tpc-pose', {detail}))", detail)
    page.wait_for_function(f"n => document.querySelector('{ROOT}').stage.drawn > n", arg=before)


def positions(page: Any) -> np.ndarray:
    """Where the points are drawn, by the shader that draws them."""
    found = page.evaluate(f"() => Array.from(document.querySelector('{ROOT}').stage.positions())")
    return np.asarray(found).reshape(-1, 3)


def poses_of(transform: Transform) -> list[list[float]]:
    """Slider values: the ends of every range together, and a few between."""
    parameters = transform.parameters
    rng = np.random.default_rng(7)
    inside = [[float(rng.uniform(p.low, p.high)) for p in parameters] for _ in range(4)]
    return [[p.low for p in parameters], [p.high for p in parameters], [0.0] * len(parameters), *inside]


def test_every_transform_is_drawn_where_apply_takes_it(bare, chair, points: torch.Tensor) -> None:
    """To 1e-5, for every axis and composition, in the units of the sliders and in those of the formulas."""
    page = bare()
    pairs = [f"{a}-{kind}+{b}-{other}" for (a, kind), (b, other) in itertools.product(
        [("x", "twist"), ("y", "taper"), ("z", "rotation")], [("z", "shear"), ("y", "twist")])]  # fmt: skip
    composed = [
        *pairs,
        "general-rotation+z-twist",
        "linear+zyx-rotation",
        "zyx-rotation+general-rotation+x-taper",
    ]
    transforms = [*all_transforms(), *map(parse_transform, composed)]
    drawn = 0
    for transform in transforms:
        if shader(transform) is None:
            continue
        mount(page, chair, message(transform, [0.0] * len(transform.parameters), chair))
        for values in poses_of(transform):
            z = transform.from_edge(values)
            wanted = transform.apply(points.double(), z).numpy()
            pose(page, transform=transform.name, values=values)
            np.testing.assert_allclose(
                positions(page), wanted, rtol=0, atol=1e-5, err_msg=f"{transform} {values}"
            )
            pose(page, transform=transform.name, z=z.tolist())
            np.testing.assert_allclose(positions(page), wanted, rtol=0, atol=1e-5, err_msg=f"{transform} z")
            drawn += 1
    assert drawn >= 7 * 30


def test_a_drawn_point_is_on_the_screen_where_it_is_said_to_be(bare, chair) -> None:
    """The positions that are read back are those of the picture: a bare point lies under each of them."""
    page = bare()
    settings = SETTINGS | {"surface": False, "ghost": False, "point_size": 6}
    mount(page, chair, message(parse_transform("z-twist"), [70.0], chair, settings=settings))
    rest(page)
    hit = page.evaluate(
        f"""() => {{ const stage = document.querySelector('{ROOT}').stage; const {{canvas}} = stage; const hits = [];
        const moved = stage.positions(); stage.draw(false);
        const paper = document.createElement('canvas');
        Object.assign(paper, {{width: canvas.width, height: canvas.height}});
        const pen = paper.getContext('2d'); pen.drawImage(canvas, 0, 0);
        const camera = stage.view.camera; camera.updateMatrixWorld();
        for (let i = 0; i < 100; i += 1) {{
          const at = camera.position.clone().set(moved[3*i], moved[3*i+1], moved[3*i+2]).project(camera);
          const [x, y] = [(at.x + 1) / 2 * canvas.width, (1 - at.y) / 2 * canvas.height];
          const [r, g, b, a] = pen.getImageData(Math.round(x), Math.round(y), 1, 1).data;
          hits.push(a > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 25);
        }} return hits.filter(Boolean).length; }}"""
    )
    assert hit == 100


def test_what_has_no_shader_is_drawn_where_the_server_says(bare, chair, points: torch.Tensor) -> None:
    page = bare()
    noise = parse_transform("l2")
    moved = points + 0.1 * torch.randn(points.shape, generator=torch.Generator().manual_seed(0))
    mount(page, chair, message(noise, [1.0], chair, served=packed(moved.numpy().ravel())))
    rest(page)
    np.testing.assert_allclose(positions(page), moved.numpy(), atol=1e-6)


def test_a_map_may_pose_it_and_the_sliders_have_it_back(bare, chair, points: torch.Tensor) -> None:
    page = bare()
    twist = parse_transform("z-twist")
    page.evaluate(
        "() => { window.posed = []; document.addEventListener('tpc-posed', e => posed.push(e.detail)); }"
    )
    mount(page, chair, message(twist, [10.0], chair))
    rest(page)
    pose(page, stage="cloud", transform="z-twist", values=[30.0], by="sliders")
    pose(page, stage="cloud", transform="z-twist", z=[1.0])
    np.testing.assert_allclose(positions(page), twist.apply(points.double(), torch.tensor([1.0])), atol=1e-5)
    pose(page, stage="cloud")
    by_slider = twist.apply(points.double(), twist.from_edge([30.0])).numpy()
    np.testing.assert_allclose(positions(page), by_slider, atol=1e-5)
    # The server repeats an older pose of the same epoch: the slider keeps the last word.
    mount(page, chair, message(twist, [20.0], chair))
    rest(page)
    np.testing.assert_allclose(positions(page), by_slider, atol=1e-5)
    # A pose for another stage, or of another transform, is not heard.
    for detail in ({"stage": "other", "values": [5]}, {"transform": "z-taper", "values": [0.5]}):
        page.evaluate("detail => document.dispatchEvent(new CustomEvent('tpc-pose', {detail}))", detail)
    np.testing.assert_allclose(positions(page), by_slider, atol=1e-5)
    # Python sets another pose: undo, reset, a preset.
    data = message(twist, [-50.0], chair)
    data["pose"]["epoch"] = 1
    mount(page, chair, data)
    rest(page)
    np.testing.assert_allclose(
        positions(page), twist.apply(points.double(), twist.from_edge([-50.0])), atol=1e-5
    )
    page.wait_for_function("() => posed.some(p => p.stage === 'cloud' && p.values[0] === -50)")


def test_a_colour_is_another_uniform_and_not_another_cloud(bare, chair) -> None:
    page = bare()
    mount(page, chair, message(parse_transform("z-twist"), [40.0], chair))
    rest(page)
    held = f"document.querySelector('{ROOT}').stage.bodies.cloud.uuid"
    before = page.evaluate(held)
    first = page.evaluate(
        f"() => TpcStage.pictured(document.querySelector('{ROOT}').stage, 160, 120, '#fff')"
    )
    page.locator("[data-colour=displacement]").click()
    page.wait_for_function(
        "() => told.some(([name, value]) => name === 'set' && value.colouring === 'displacement')"
    )
    rest(page)
    assert page.evaluate(held) == before
    assert (
        page.evaluate(f"() => TpcStage.pictured(document.querySelector('{ROOT}').stage, 160, 120, '#fff')")
        != first
    )
    assert "moved by" in page.locator(".tpc-stage-legend").inner_text()


def test_a_lost_context_comes_back_with_the_same_picture(bare, chair) -> None:
    page = bare()
    mount(page, chair, message(parse_transform("z-twist"), [40.0], chair))
    rest(page)
    shot = f"() => TpcStage.pictured(document.querySelector('{ROOT}').stage, 160, 120, '#fff')"
    before, where = page.evaluate(shot), positions(page)
    page.evaluate(
        f"""() => {{ const gl = document.querySelector('{ROOT}').stage.renderer.getContext();
        window.lose = gl.getExtension('WEBGL_lose_context'); window.lose.loseContext(); }}"""
    )
    page.wait_for_selector(f"{ROOT}[data-lost]")
    drawn = page.evaluate(f"() => document.querySelector('{ROOT}').stage.drawn")
    page.evaluate("() => window.lose.restoreContext()")
    page.wait_for_selector(f"{ROOT}:not([data-lost])")
    page.wait_for_function(f"n => document.querySelector('{ROOT}').stage.drawn > n", arg=drawn)
    rest(page)
    assert page.evaluate(shot) == before
    np.testing.assert_allclose(positions(page), where, atol=1e-6)


def test_a_browser_without_webgl_says_so_to_the_server(bare, chair) -> None:
    page = bare(
        """HTMLCanvasElement.prototype.getContext = (old => function (kind, ...rest) {
        return kind.startsWith('webgl') ? null : old.call(this, kind, ...rest);
        })(HTMLCanvasElement.prototype.getContext);"""
    )
    mount(page, chair, message(parse_transform("z-twist"), [40.0], chair))
    page.wait_for_function("() => told.some(([name, value]) => name === 'flat' && value)")


def test_keys_turn_it_and_home_brings_it_back(bare, chair) -> None:
    page = bare()
    mount(page, chair, message(parse_transform("z-twist"), [0.0], chair))
    rest(page)
    eye = f"() => document.querySelector('{ROOT}').stage.view.camera.position.toArray()"
    home = page.evaluate(eye)
    page.locator(f"{ROOT} canvas").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp", "+"):
        page.keyboard.press(key)
    turned = page.evaluate(eye)
    assert np.linalg.norm(np.subtract(turned, home)) > 0.5
    page.keyboard.press("Home")
    page.wait_for_function(
        f"home => {{ const at = document.querySelector('{ROOT}').stage.view.camera.position.toArray();"
        "return Math.hypot(...at.map((v, i) => v - home[i])) < 1e-3; }",
        arg=home,
    )


def test_the_object_fills_about_three_quarters_of_the_frame(bare, chair) -> None:
    page = bare()
    mount(page, chair, message(parse_transform("z-twist"), [0.0], chair))
    rest(page)
    spans = page.evaluate(
        f"""() => {{ const {{view, points}} = document.querySelector('{ROOT}').stage; const {{camera}} = view;
        camera.updateMatrixWorld(); const [xs, ys] = [[], []];
        for (let i = 0; i < points.length; i += 3) {{
          const at = camera.position.clone().set(points[i], points[i+1], points[i+2]).project(camera);
          xs.push(at.x); ys.push(at.y); }}
        return [xs, ys].map(v => (Math.max(...v) - Math.min(...v)) / 2); }}"""
    )
    assert 0.66 < max(spans) < 0.8


def test_a_person_who_cannot_see_it_is_told(bare, chair) -> None:
    page = bare()
    mount(page, chair, message(parse_transform("z-twist"), [40.0], chair))
    rest(page)
    canvas = page.locator(f"{ROOT} canvas")
    assert canvas.get_attribute("role") == "img"
    words = canvas.get_attribute("aria-label")
    assert "A chair, 512 points" in words
    assert "twist 40°" in words
    assert "moved by up to" in words


def test_a_hovered_point_says_its_number_its_place_and_how_far_it_moved(bare, chair, points) -> None:
    page = bare()
    twist = parse_transform("z-twist")
    mount(page, chair, message(twist, [40.0], chair))
    rest(page)
    place = page.evaluate(
        f"""() => {{ const stage = document.querySelector('{ROOT}').stage; const moved = stage.positions();
        const {{camera}} = stage.view; camera.updateMatrixWorld(); let best = null;
        for (let i = 0; i < moved.length / 3; i += 1) {{
          const at = camera.position.clone().set(moved[3*i], moved[3*i+1], moved[3*i+2]).project(camera);
          const [x, y] = [(at.x + 1) / 2 * stage.width, (1 - at.y) / 2 * stage.height];
          if (!best || at.z < best.z) best = {{i, z: at.z, x, y}};
        }} return best; }}"""
    )
    box = page.locator(f"{ROOT} canvas").bounding_box()
    page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    label = page.locator(".tpc-stage-label")
    label.wait_for()
    words = label.inner_text()
    moved = twist.apply(points.double(), twist.from_edge([40.0]))[place["i"]]
    far = float((moved - points[place["i"]]).norm())
    assert f"point {place['i']}" in words
    assert f"z {float(moved[2]):.3f}" in words
    assert f"moved by {far:.3f}" in words
