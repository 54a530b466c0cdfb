// One Plotly chart that lives as long as its key: figures are swapped by Plotly.react, the camera stays the user's.
// A "tpc-frame" event on the document may bring the next figure before Streamlit does: see sliders.js.

const CHARTS = new WeakMap();

function loadPlotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  if (!window.__tpcPlotly) {
    window.__tpcPlotly = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("app/static/plotly.min.js", document.baseURI).href;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("plotly.min.js could not be loaded"));
      document.head.appendChild(script);
    });
  }
  return window.__tpcPlotly;
}

// Plotly draws 3D at twice the resolution of the screen. A processor that stands in for a graphics card cannot.
let ratio;
function glPixelRatio() {
  if (ratio === undefined) {
    const gl = document.createElement("canvas").getContext("webgl");
    const names = gl && gl.getExtension("WEBGL_debug_renderer_info");
    const renderer = names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
    ratio = /swiftshader|llvmpipe|software/i.test(renderer) ? 1 : 2;
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return ratio;
}

const scenesOf = (layout) => Object.keys(layout).filter((name) => /^scene\d*$/.test(name));

// -- The quick way: 3D points that moved go straight to their scene. Plotly.react walks over every default and sends
// every trace to the renderer again, the still ones too, which takes two thirds of a frame. Whatever is not simply
// other numbers in the same places is left to Plotly.react.

const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array };
const MOVING = ["x", "y", "z", "intensity", "customdata"];
const MOVING_MARKER = ["color", "size"];

const isPacked = (value) => Boolean(value && value.bdata !== undefined);

function unpacked({ bdata, dtype }) {
  const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
  return new KINDS[dtype](bytes.buffer);
}

// A trace without its numbers: two traces of the same frame differ in nothing else.
function frameOf(trace) {
  return JSON.stringify(trace, (name, value) => (isPacked(value) ? 0 : value));
}

function nudge(canvas, before, after) {
  const scene = canvas._fullLayout?.scene?._scene;
  if (!scene?.glplot?.redraw || JSON.stringify(before.layout) !== JSON.stringify(after.layout)) return false;
  const places = after.data.map((trace, place) => place).filter((place) => after.data[place] !== before.data[place]);
  for (const place of places) {
    const [was, is, full] = [before.data[place], after.data[place], canvas._fullData[place]];
    const known = scene.traces[full?.uid]?.update && (is.scene || "scene") === "scene";
    if (!known || frameOf(was) !== frameOf(is)) return false;
  }
  for (const place of places) {
    const [is, full] = [after.data[place], canvas._fullData[place]];
    for (const name of MOVING) if (isPacked(is[name])) full[name] = unpacked(is[name]);
    for (const name of MOVING_MARKER) if (isPacked(is.marker?.[name])) full.marker[name] = unpacked(is.marker[name]);
    full._length = full.x.length;
    scene.traces[full.uid].update(full);
  }
  scene.glplot.redraw();
  return true;
}

// -- A plot that is a map of poses: the object follows the pointer, and the cursor follows the object's sliders.

const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);

class Cursor {
  constructor(chart) {
    this.chart = chart;
    this.node = document.createElement("div");
    this.node.className = "tpc-cursor";
    this.node.hidden = true;
    chart.canvas.after(this.node);
    const { canvas } = chart;
    canvas.addEventListener("pointermove", (event) => this.over(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("click", (event) => this.pin(event));
    this.heard = ({ detail }) => this.hear(detail);
    document.addEventListener("tpc-pose", this.heard);
  }

  get link() {
    return this.chart.data?.poses;
  }

  get flat() {
    return !this.link?.vectors.z;
  }

  // Where the pointer is, in the units of the axes; null outside of them.
  at(event) {
    const { xaxis, yaxis } = this.chart.canvas._fullLayout || {};
    if (!this.link || !this.flat || !xaxis?._length || !yaxis?._length) return null;
    const box = this.chart.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left - xaxis._offset, event.clientY - box.top - yaxis._offset];
    if (px < 0 || py < 0 || px > xaxis._length || py > yaxis._length) return null;
    return { x: xaxis.p2l(px), y: yaxis.p2l(py) };
  }

  z(place) {
    const { vectors, origin } = this.link;
    return vectors.x.map((value, i) => (origin ? origin[i] : 0) + Object.entries(vectors).reduce((sum, [letter, vector]) => sum + vector[i] * place[letter], 0));
  }

  tell(place, by) {
    const { stage, transform } = this.link;
    const detail = place ? { stage, transform, z: this.z(place), by } : { stage };
    document.dispatchEvent(new CustomEvent("tpc-pose", { detail: { ...detail, map: this.chart.data.key } }));
    this.chart.root.dataset.posed = place ? detail.z.slice(0, 9).map((value) => value.toFixed(6)).join(" ") : "";
  }

  over(event) {
    const place = this.chart.pointerDown ? null : this.at(event);
    if (!place) return void (this.link && this.hovers && this.leave());
    this.hovers = true;
    this.tell(place, "map");
  }

  leave() {
    if (!this.hovers) return;
    this.hovers = false;
    this.tell(null);
  }

  pin(event) {
    const place = this.at(event);
    if (place) this.tell(place, "pin");
  }

  // A point of a 3D map under the pointer.
  point({ x, y, z }) {
    if (!this.link || this.flat) return;
    this.hovers = true;
    this.tell({ x, y, z }, "map");
  }

  hear({ stage, transform, z, by, map }) {
    const link = this.link;
    if (!link || !z || map === this.chart.data.key || (stage && stage !== link.stage) || transform !== link.transform) return;
    if (by === "map") return; // another map is looked at for a moment
    const origin = link.origin || z.map(() => 0);
    const away = z.map((value, i) => value - origin[i]);
    this.place = Object.fromEntries(Object.entries(link.vectors).map(([letter, vector]) => [letter, dot(away, vector) / dot(vector, vector)]));
    this.draw();
  }

  draw() {
    const { canvas } = this.chart;
    const { xaxis, yaxis } = canvas._fullLayout || {};
    const shown = Boolean(this.place && this.link && this.flat && xaxis?._length);
    this.node.hidden = !shown;
    this.chart.root.dataset.cursor = this.place ? Object.values(this.place).map((value) => value.toFixed(4)).join(" ") : "";
    if (!shown) return;
    const across = Boolean(this.link.vectors.y);
    const x = xaxis._offset + xaxis.l2p(this.place.x);
    const y = across ? yaxis._offset + yaxis.l2p(this.place.y) : yaxis._offset;
    const within = x >= xaxis._offset - 1 && x <= xaxis._offset + xaxis._length + 1;
    this.node.hidden = !within;
    this.node.classList.toggle("line", !across);
    Object.assign(this.node.style, { left: `${x}px`, top: `${y}px`, height: across ? "" : `${yaxis._length}px` });
  }

  close() {
    document.removeEventListener("tpc-pose", this.heard);
    this.node.remove();
  }
}

class Chart {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector(".tpc-canvas");
    this.actions = root.querySelector(".tpc-actions");
    this.note = root.querySelector(".tpc-note");
    this.cameras = {};
    this.pointerDown = false;
    this.busy = false;
    this.pending = null;
    this.canvas.addEventListener("pointerdown", () => (this.pointerDown = true), true);
    this.release = () => {
      if (!this.pointerDown) return;
      this.pointerDown = false;
      setTimeout(() => this.flush(), 60); // Plotly reports the final camera just after the release
    };
    this.frame = ({ detail }) => this.showFrame(detail);
    window.addEventListener("pointerup", this.release, true);
    window.addEventListener("pointercancel", this.release, true);
    document.addEventListener("tpc-frame", this.frame);
    this.resizer = new ResizeObserver(() => this.resize());
    this.resizer.observe(this.canvas);
    this.cursor = new Cursor(this);
  }

  show(data) {
    // At once, and not when Plotly is there: what is below must not jump.
    if (this.canvas.style.height !== data.height) this.canvas.style.height = data.height;
    this.pending = { ...data, arrived: performance.now() };
    this.flush();
  }

  // A frame has the traces that changed, and null for those that did not.
  showFrame({ stamp, parts }) {
    const base = this.pending || this.data;
    const part = base && parts[base.key];
    if (!part || part.data.length !== base.figure.data.length) return;
    const data = part.data.map((trace, place) => trace || base.figure.data[place]);
    const quick = base === this.data || Boolean(base.quick);
    this.show({ ...base, stamp, quick, figure: { data, layout: part.layout } });
  }

  async flush() {
    // A react in the middle of a 3D drag would end the drag.
    if (!this.pending || this.pointerDown || this.busy) return;
    const data = this.pending;
    this.pending = null;
    this.busy = true;
    try {
      await this.draw(data);
    } catch (error) {
      this.note.textContent = String(error.message || error);
    } finally {
      this.busy = false;
    }
    if (this.pending) this.flush();
  }

  async draw(data) {
    const Plotly = await loadPlotly();
    // A copy of its own, since Plotly writes into what it is given: `nudge` compares figures as they came.
    const layout = { ...structuredClone(data.figure.layout), autosize: true };
    // Another object or layout: the camera of before would look past it.
    if (this.cameraOf !== data.camera_of) {
      this.cameras = {};
      this.cameraOf = data.camera_of;
    }
    for (const scene of scenesOf(layout)) {
      const camera = this.camera(scene);
      if (camera) layout[scene] = { ...layout[scene], camera };
    }
    const config = {
      displaylogo: false,
      responsive: false,
      displayModeBar: false,
      scrollZoom: Boolean(data.zoom),
      plotGlPixelRatio: glPixelRatio(),
    };
    const before = this.data?.figure;
    this.data = data;
    if (!data.quick || !before || !nudge(this.canvas, before, data.figure)) {
      await Plotly.react(this.canvas, data.figure.data, layout, config);
    }
    if (!this.listening) this.listen();
    this.buttons(data.actions || []);
    this.cursor.draw();
    this.note.textContent = "";
    this.root.dataset.stamp = String(data.stamp ?? "");
    this.root.dataset.waited = (performance.now() - data.arrived).toFixed(1); // ms from message to picture
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn || 0) + 1);
  }

  listen() {
    this.listening = true;
    const remember = (change) => {
      for (const [name, value] of Object.entries(change || {})) {
        const match = /^(scene\d*)\.camera$/.exec(name);
        if (match && value) this.remember(match[1], value);
      }
    };
    this.canvas.on("plotly_relayouting", remember);
    this.canvas.on("plotly_relayout", (change) => {
      remember(change);
      this.together(change);
    });
    this.canvas.on("plotly_hover", (event) => event.points?.[0] && this.cursor.point(event.points[0]));
    this.canvas.on("plotly_unhover", () => this.data.poses?.vectors.z && this.cursor.leave());
    this.canvas.on("plotly_click", (event) => {
      const point = event.points && event.points[0];
      if (!point || !this.data.clicks) return;
      const custom = point.customdata ?? null;
      this.emit("click", { x: point.x, y: point.y, z: point.z ?? null, custom, curve: point.curveNumber });
    });
  }

  // Where the user's camera is; none before it was touched. The scene itself is asked: a wheel is reported before
  // its zoom has happened.
  camera(scene) {
    if (!this.cameras[scene]) return null;
    return this.canvas._fullLayout?.[scene]?._scene?.getCamera() || this.cameras[scene];
  }

  remember(scene, camera) {
    this.cameras[scene] = JSON.parse(JSON.stringify(camera));
    this.root.dataset.camera = JSON.stringify(this.cameras[scene].eye);
  }

  // Two scenes side by side turn together.
  together(change) {
    const scenes = scenesOf(this.data.figure.layout);
    if (scenes.length < 2 || this.following) return;
    const moved = scenes.find((name) => change && change[`${name}.camera`]);
    if (!moved) return;
    const update = {};
    for (const scene of scenes.filter((name) => name !== moved)) {
      this.remember(scene, this.cameras[moved]);
      update[`${scene}.camera`] = this.cameras[moved];
    }
    this.following = true;
    window.Plotly.relayout(this.canvas, update).finally(() => (this.following = false));
  }

  buttons(actions) {
    const wanted = JSON.stringify(actions);
    if (this.wanted === wanted) return;
    this.wanted = wanted;
    this.actions.replaceChildren(
      ...actions.map(({ id, label, title }) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label;
        button.title = title || label;
        button.dataset.action = id;
        button.onclick = () => this.act(id);
        return button;
      }),
    );
  }

  act(id) {
    if (id === "png" || id === "svg") {
      const name = this.data.filename || "tpc-explorer";
      const size = { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
      window.Plotly.downloadImage(this.canvas, { format: id, filename: name, scale: id === "png" ? 2 : 1, ...size });
    } else if (id === "home") {
      const update = {};
      for (const scene of scenesOf(this.data.figure.layout)) {
        const camera = this.data.figure.layout[scene].camera;
        this.remember(scene, camera);
        update[`${scene}.camera`] = camera;
      }
      window.Plotly.relayout(this.canvas, update);
    } else {
      const camera = this.camera("scene") || (this.data.figure.layout.scene || {}).camera || null;
      this.emit("action", { id, camera, at: Date.now() });
    }
  }

  async resize() {
    const { clientWidth, clientHeight } = this.canvas;
    const size = `${clientWidth}x${clientHeight}`;
    if (!this.data || !clientWidth || this.busy || this.size === size) return;
    this.size = size;
    this.busy = true; // a react beside it would leave axes and traces at odds
    try {
      await window.Plotly.Plots.resize(this.canvas);
    } finally {
      this.busy = false;
    }
    this.cursor.draw();
    this.flush();
  }

  close() {
    window.removeEventListener("pointerup", this.release, true);
    window.removeEventListener("pointercancel", this.release, true);
    document.removeEventListener("tpc-frame", this.frame);
    this.resizer.disconnect();
    this.cursor.close();
    if (window.Plotly) window.Plotly.purge(this.canvas);
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".tpc-plot");
  let chart = CHARTS.get(root);
  if (!chart) {
    chart = new Chart(root);
    CHARTS.set(root, chart);
  }
  chart.emit = setTriggerValue;
  chart.show(data);
  return () => {
    if (document.contains(root)) return; // an update, not the end
    chart.close();
    CHARTS.delete(root);
  };
}
