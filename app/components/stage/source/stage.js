// One object on a stage: the surface faint, the points that the model sees, a shadow on the ground. It lives as long as
// its place on the page. Frames are drawn when something changed: quickly while it moves, as well as can be at rest.

import * as THREE from "three";
import { Bodies } from "./bodies.js";
import { Gizmo } from "./gizmo.js";
import { Labels } from "./labels.js";
import { legend } from "./legend.js";
import { Panel } from "./panel.js";
import { portraits, save } from "./pictures.js";
import { Pose } from "./pose.js";
import { Probe } from "./probe.js";
import { Quality, isSoftware } from "./quality.js";
import { sceneOf } from "./scenes.js";
import { Shadow } from "./shadow.js";
import { FIELD, View } from "./view.js";
import { unpacked } from "./arrays.js";

const PROBED = 384; // points that say how low the object reaches while it moves
const AFTER = 40; // ms after a picture of a movement until its shadow is cast, where a processor draws

export class Stage {
  constructor(root) {
    this.root = root;
    this.host = root.querySelector(".tpc-stage-canvas");
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-roledescription", "3D view");
    this.host.append(this.canvas);
    this.quality = new Quality();
    const options = { canvas: this.canvas, alpha: true, antialias: !isSoftware(), powerPreference: "high-performance" };
    this.renderer = new THREE.WebGLRenderer(options); // throws where there is no WebGL
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // colours are as screens show them
    this.renderer.autoClear = false;
    this.renderer.setClearColor(0, 0);
    this.scene = new THREE.Scene();
    this.bodies = new Bodies();
    this.shadow = new Shadow();
    this.scene.add(this.shadow.plane, this.bodies.group);
    this.probe = new Probe(this.renderer);
    this.pose = new Pose();
    this.view = new View(this.canvas, () => this.invalidate());
    this.gizmo = new Gizmo(root, (axis) => this.points && (this.view.along(axis, this.extent()), this.invalidate()));
    this.labels = new Labels(root);
    this.panel = new Panel(root, { onSet: (name, value) => this.set(name, value), onAction: (id) => this.act(id) });
    this.local = {};
    this.drawn = 0;
    this.listen();
  }

  listen() {
    const on = (target, name, handler) => {
      target.addEventListener(name, handler);
      this.offs = [...(this.offs || []), () => target.removeEventListener(name, handler)];
    };
    on(document, "tpc-pose", ({ detail }) => this.posed(detail));
    on(document, "tpc-frame", ({ detail }) => this.framed(detail));
    on(document, "tpc-scene", () => this.data && this.show(this.data));
    on(this.canvas, "pointermove", (event) => this.hover(event));
    on(this.canvas, "pointerleave", () => this.labels.hide());
    on(this.canvas, "pointerdown", () => this.labels.hide());
    on(this.canvas, "keydown", (event) => this.key(event));
    on(this.canvas, "webglcontextlost", (event) => {
      event.preventDefault();
      this.root.dataset.lost = "yes";
      this.probe.forget();
      this.note("The graphics card took a break; the picture comes back by itself.");
    });
    on(this.canvas, "webglcontextrestored", () => {
      delete this.root.dataset.lost;
      this.note("");
      this.probe = new Probe(this.renderer);
      this.pose.touch();
      this.invalidate();
    });
    this.resizer = new ResizeObserver(() => this.resize());
    this.resizer.observe(this.host);
  }

  // -- what the server says

  show(data) {
    this.data = data;
    if (this.host.style.height !== data.height) this.host.style.height = data.height;
    for (const name of Object.keys(this.local)) if (data.settings[name] === this.local[name]) delete this.local[name];
    const scene = sceneOf(data.scene);
    this.panel.show(this.settings, data);
    if (!scene) return; // its numbers are on their way
    if (this.sceneName !== data.scene) this.takeScene(scene, data);
    this.pose.take(data.transform, data.pose);
    if (this.bodies.shape(this.pose.shader)) this.castShadow();
    this.takeParts(data);
    const look = JSON.stringify(data.look);
    if (this.lookNow !== look) {
      this.lookNow = look;
      this.bodies.look(data.look);
      this.shadow.look(data.look);
      this.host.style.background = data.look.backdrop;
      this.root.dataset.look = data.look.name;
    }
    this.stamp(data.stamp);
    this.pose.touch();
    this.resize();
    if (this.unframed && this.width) this.home({ glide: false });
    this.invalidate();
  }

  takeScene(scene, data) {
    this.sceneName = data.scene;
    this.points = scene.points;
    this.heights = heights(scene.points);
    this.bodies.take(scene);
    this.settled = this.coloured = null;
    // Another object is framed anew; the same one with other points, or another model, is not.
    if (this.cameraOf !== data.camera_of) {
      this.cameraOf = data.camera_of;
      this.fresh = this.unframed = true;
    }
    this.root.dataset.points = String(this.points.length / 3);
  }

  takeParts({ served, weights, swept }) {
    if (served && !(this.shifted && !this.pose.edge)) this.bodies.serve((this.served = unpacked(served)));
    if (weights) this.bodies.weigh((this.weights = unpacked(weights)));
    if (swept !== undefined) this.bodies.sweep(swept);
  }

  // A frame of a moving slider: what the server found out about the new pose.
  framed({ stamp, parts }) {
    const part = this.data && parts[this.data.key];
    if (!part || !this.bodies.cloud) return;
    this.stamp(stamp);
    if (!Object.keys(part).length) { // nothing that is drawn: the picture of this pose is there already
      this.root.dataset.stamp = String(this.stamped);
      return;
    }
    this.takeParts(part);
    this.pose.touch();
    this.invalidate();
  }

  stamp(number) {
    this.stamped = Math.max(Number(this.stamped || 0), Number(number || 0));
  }

  // -- what the page says

  posed(detail) {
    if (!this.data || (detail.stage && detail.stage !== this.data.key)) return;
    if (!this.pose.hear(detail)) return;
    if (this.pose.shader === null && (!this.pose.edge || this.shifted)) this.shift();
    if (detail.stamp && this.pose.shader) this.stamp(detail.stamp);
    this.poseAt ||= performance.now();
    this.invalidate();
    // The renderer begins at once, and not at the browser's next frame; what else comes before that frame waits for it.
    if (!this.ahead && !this.quality.busy) {
      this.ahead = true;
      this.frame();
    }
  }

  // Without a shader, a map's z is how far each of the first points goes: coordinate noise.
  shift() {
    const { values, edge } = this.pose;
    const moved = Float32Array.from(this.points);
    const count = edge ? 0 : Math.min(values.length, moved.length);
    for (let i = 0; i < count; i += 1) moved[i] += values[i];
    this.shifted = true;
    this.bodies.serve((this.served = moved));
  }

  get settings() {
    return { ...this.data.settings, ...this.local };
  }

  set(name, value) {
    this.local[name] = value;
    this.panel.show(this.settings, this.data);
    this.pose.touch();
    this.invalidate();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.emit("set", { ...this.local, at: Date.now() }), 60);
  }

  act(id) {
    if (id === "home") this.home();
    else if (id === "png") save(this);
    else this.emit("action", { id, camera: this.view.told(), at: Date.now() });
  }

  home(how) {
    if (!this.points) return;
    this.unframed = false;
    this.view.home(this.extent(), how);
    this.invalidate();
  }

  // All that should be in the frame: the object where it was and where it is.
  extent() {
    const moved = this.positions();
    if (!moved) return this.points;
    const both = new Float32Array(this.points.length + moved.length);
    both.set(this.points);
    both.set(moved, this.points.length);
    return both;
  }

  // An object that leaves the frame is followed, gently, unless the visitor has taken the camera.
  follow() {
    if (this.view.touched || this.view.glide || this.view.holds(this.extent())) return;
    this.home();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["Home", "h", "0"].includes(event.key)) this.home();
    else if (!this.view.key(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // arrows also lead from lesson to lesson
    this.invalidate();
  }

  hover({ offsetX, offsetY, buttons, pointerType }) {
    if (buttons || pointerType === "touch" || !this.bodies.cloud || this.settings.side_by_side) return;
    const moved = this.positions();
    if (!moved) return;
    const { camera } = this.view;
    const more = (place) => legend.ofPoint(place, this);
    this.labels.show(offsetX, offsetY, { camera, width: this.width, height: this.height, moved, original: this.points, more });
  }

  // Where every point is drawn.
  positions(most = Infinity) {
    const count = Math.min(most, this.points.length / 3);
    if (this.pose.shader === null) return this.served ? this.served.subarray(0, 3 * count) : this.points.subarray(0, 3 * count);
    if (this.settled?.version === this.pose.version && this.settled.moved.length >= 3 * count) return this.settled.moved;
    const moved = this.probe.positions(this.pose.shader, this.pose.internal, this.pose.edge, this.points, count);
    if (moved) this.settled = { version: this.pose.version, moved };
    return moved;
  }

  // -- drawing

  castShadow() {
    const { mesh, cloud, shared, source } = this.bodies;
    const surface = Boolean(mesh) && source !== null;
    this.shadow.cast(surface ? mesh : cloud, source, shared, !surface);
  }

  resize() {
    const { clientWidth, clientHeight } = this.host;
    if (!clientWidth || !clientHeight || (this.width === clientWidth && this.height === clientHeight)) return;
    [this.width, this.height] = [clientWidth, clientHeight];
    this.sized = null;
    this.view.resize(this.aspect, 1);
    if (this.points && !this.view.touched) this.home({ glide: false });
    this.invalidate();
  }

  get aspect() {
    return (this.data?.settings && this.settings.side_by_side ? 0.5 : 1) * (this.width / this.height);
  }

  invalidate() {
    this.restless = true;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.restless = false;
      this.queue();
    }, this.quality.rest);
    this.queue();
  }

  queue() {
    this.due = true;
    if (this.queued || this.closed) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = this.ahead = false;
      if (this.due) this.frame();
    });
  }

  frame() {
    if (this.closed || !this.bodies.cloud || !this.lookNow || !this.width || this.root.dataset.lost) return;
    this.due = false;
    const going = this.view.step();
    if (going) this.restless = true;
    const moving = this.restless;
    const late = moving && isSoftware() && !this.settings.side_by_side && this.coloured === this.settings.colouring;
    if (late) this.shadeLater();
    else this.measure(moving);
    const gl = this.renderer.getContext();
    this.quality.calibrate(gl, this.points.length / 3, () => this.draw(true));
    const start = performance.now();
    this.draw(moving);
    if (moving) this.quality.time(gl, start);
    if (going) this.invalidate();
    this.report(moving);
  }

  // A processor that draws has the picture to draw first: while something moves, the shadow is one picture behind.
  shadeLater() {
    this.shading ||= setTimeout(() => {
      this.shading = null;
      if (this.closed || !this.restless || this.root.dataset.lost) return;
      this.measure(true);
      this.castNow();
    }, AFTER);
  }

  castNow() {
    if (!this.shade || this.settings.side_by_side) return;
    this.shadow.draw(this.renderer, this.ground);
    this.shade = false;
  }

  // What the new pose says: how low the object reaches, how far it moved, how the colours are graded.
  measure(moving) {
    const { colouring } = this.settings;
    const changed = this.measured !== `${this.pose.version}|${moving}|${colouring}`;
    if (!changed) return;
    this.measured = `${this.pose.version}|${moving}|${colouring}`;
    this.coloured = colouring;
    const moved = this.positions(moving ? PROBED : Infinity);
    if (!moved) return;
    let [low, far] = [Infinity, 0];
    for (let i = 0; i < moved.length; i += 3) {
      low = Math.min(low, moved[i + 2]);
      const [x, y, z] = [moved[i] - this.points[i], moved[i + 1] - this.points[i + 1], moved[i + 2] - this.points[i + 2]];
      far = Math.max(far, x * x + y * y + z * z);
    }
    this.ground = low - 0.02;
    this.apart = Math.sqrt(far);
    this.range = legend.range(colouring, this.apart, this.heights, this.data.farthest);
    this.panel.explain(legend.lines(this));
    this.shade = true;
  }

  draw(moving) {
    const { settings, renderer, view } = this;
    const count = this.points.length / 3;
    const ratio = this.quality.ratio(moving, count);
    const size = `${this.width}x${this.height}@${ratio}`;
    if (this.sized !== size) {
      this.sized = size;
      renderer.setPixelRatio(ratio);
      renderer.setSize(this.width, this.height, false);
    }
    if (Math.abs(view.camera.aspect - this.aspect) > 1e-6) view.resize(this.aspect, 1);
    this.bodies.limit(moving ? Math.min(count, this.quality.budget) : count);
    this.pose.fill(this.bodies.shared);
    this.bodies.paint(settings.colouring, this.range);
    this.bodies.show({ surface: settings.surface, ghost: settings.ghost && !settings.side_by_side, apart: this.apart });
    this.bodies.points.radius.value = pointRadius(count) * (settings.point_size / 2.5) * this.data.look.points;
    this.bodies.points.seen.value = this.data.seen || count;
    this.bodies.points.others.value = (this.data.seen || count) < count ? 0.62 : 1;
    this.bodies.showSweep(settings.swept !== false && !settings.side_by_side, !moving || !isSoftware());
    this.bodies.points.screen.value = (this.height * ratio) / Math.tan((FIELD / 2) * (Math.PI / 180));
    const away = view.camera.position.distanceTo(view.controls.target);
    this.bodies.shared.fogRange.value.set(away - 0.5, away + 1.1);
    this.castNow();
    renderer.setRenderTarget(null);
    renderer.clear();
    if (settings.side_by_side) this.drawPair(renderer, view.camera);
    else {
      renderer.setViewport(0, 0, this.width, this.height);
      renderer.render(this.scene, view.camera);
    }
    this.gizmo.draw(view.camera);
  }

  // The original on the left, the moved one on the right, through the same camera.
  drawPair(renderer, camera) {
    const half = this.width / 2;
    const { shared, stills } = this.bodies;
    for (const [place, still] of [[0, 1], [half, 0]]) {
      stills.moving.value = still;
      this.pose.fill(shared, Boolean(still));
      this.shadow.draw(renderer, still ? this.heights[0] - 0.02 : this.ground);
      renderer.setViewport(place, 0, half, this.height);
      renderer.render(this.scene, camera);
    }
    stills.moving.value = 0;
  }

  report(moving) {
    this.drawn += 1;
    const { dataset } = this.root;
    dataset.drawn = String(this.drawn);
    dataset.stamp = String(this.stamped ?? "");
    dataset.quality = moving ? "quick" : "full";
    const { x, y, z } = this.view.camera.position;
    dataset.camera = [x, y, z].map((value) => value.toFixed(4)).join(" ");
    if (this.poseAt) dataset.waited = (performance.now() - this.poseAt).toFixed(1);
    this.poseAt = null;
    if (this.spoken !== this.pose.version && !moving) {
      this.spoken = this.pose.version;
      this.canvas.setAttribute("aria-label", legend.spoken(this));
      document.dispatchEvent(new CustomEvent("tpc-posed", { detail: { stage: this.data.key, transform: this.data.transform.name, values: [...this.pose.values] } }));
    }
    if (!moving) this.follow();
    if (!moving && this.fresh) this.portray();
    this.root.classList.add("tpc-stage-ready");
  }

  // The object's first picture, small, where the page has a frame for it.
  portray() {
    this.fresh = false;
    portraits(this);
  }

  note(text) {
    this.root.querySelector(".tpc-stage-note").textContent = text;
  }

  close() {
    this.closed = true;
    clearTimeout(this.resting);
    clearTimeout(this.shading);
    for (const off of this.offs) off();
    this.resizer.disconnect();
    this.view.controls.dispose();
    this.bodies.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

const pointRadius = (count) => Math.min(0.028, Math.max(0.006, 0.42 / Math.sqrt(count)));

// What low and high mean for an object, whatever its pose.
function heights(points) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 2; i < points.length; i += 3) [low, high] = [Math.min(low, points[i]), Math.max(high, points[i])];
  return [low, Math.max(high, low + 0.05)];
}
