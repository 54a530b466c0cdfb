// What is drawn of one object: its surface, its points, the points behind the surface, and the original as a ghost.

import * as THREE from "three";
import { POINTS, SURFACE } from "./shaders.js";

export const MODES = { plain: 0, height: 1, displacement: 2, parts: 3, critical: 4, votes: 4 };
const TINT = { height: 0.1, displacement: 0.3 };

const colour = (text) => new THREE.Color().setStyle(text, THREE.LinearSRGBColorSpace);

function material(vertexShader, fragmentShader, uniforms, more = {}) {
  return new THREE.ShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, side: THREE.DoubleSide, ...more });
}

function rampTexture(stops) {
  const side = 64;
  const pixels = new Uint8Array(4 * side);
  for (let i = 0; i < side; i += 1) {
    const place = (i / (side - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const mixed = colour(stops[low]).lerp(colour(stops[low + 1]), place - low);
    pixels.set([mixed.r * 255, mixed.g * 255, mixed.b * 255, 255], 4 * i);
  }
  const texture = new THREE.DataTexture(pixels, side, 1);
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

export class Bodies {
  constructor() {
    this.group = new THREE.Group();
    const shared = (value) => ({ value });
    this.shared = {
      tpcPose: shared(new Float32Array(1)),
      tpcEdge: shared(true),
      fog: shared(new THREE.Color()),
      fogRange: shared(new THREE.Vector2(1, 3)),
      fogStrength: shared(0.4),
      ramp: shared(null),
      rampRange: shared(new THREE.Vector2(-1, 1)),
      mode: shared(1),
    };
    this.points = {
      radius: shared(0.012),
      screen: shared(800),
      seen: shared(0),
      others: shared(1),
      plain: shared(new THREE.Color()),
      palette: shared(Array.from({ length: 8 }, () => new THREE.Color())),
      strongest: shared(1),
      contrast: shared(1),
    };
    this.clay = { clay: shared(new THREE.Color()), shade: shared(new THREE.Color()), tint: shared(0) };
    this.glass = shared(0);
    this.sweptRadius = shared(0.006);
    this.sweptColour = shared(new THREE.Color());
  }

  // Another object: new buffers. Colours, sizes and poses are uniforms and stay.
  take({ points, parts, vertices, normals, faces, flat_faces }) {
    this.dispose();
    const cloud = new THREE.BufferGeometry();
    const count = points.length / 3;
    cloud.setAttribute("position", new THREE.BufferAttribute(points, 3));
    cloud.setAttribute("part", new THREE.BufferAttribute(Float32Array.from(parts || new Uint8Array(count)), 1));
    cloud.setAttribute("weight", new THREE.BufferAttribute(new Float32Array(count), 1));
    this.cloud = cloud;
    this.mesh = this.flat = null;
    if (vertices) {
      this.mesh = new THREE.BufferGeometry();
      this.mesh.setAttribute("position", new THREE.BufferAttribute(vertices, 3));
      this.mesh.setAttribute("normal", new THREE.BufferAttribute(normals, 3, true));
      this.mesh.setIndex(new THREE.BufferAttribute(faces, 1));
      this.flat = new THREE.BufferGeometry(); // the same numbers, and the few faces that need not bend
      this.flat.setAttribute("position", this.mesh.getAttribute("position"));
      this.flat.setAttribute("normal", this.mesh.getAttribute("normal"));
      this.flat.setIndex(new THREE.BufferAttribute(flat_faces, 1));
    }
    this.source = undefined;
  }

  // Another transform: new programs.
  shape(source) {
    if (this.source === source) return false;
    this.source = source;
    for (const body of this.group.children) body.material.dispose();
    this.group.clear();
    const moving = { value: 0 };
    const still = { value: 1 };
    const all = { ...this.shared, ...this.points };
    const points = (where, more) => {
      const made = new THREE.Points(this.cloud, material(POINTS.vertex(source), POINTS.fragment, { ...all, ...where }, more));
      made.frustumCulled = false;
      this.group.add(made);
      return made;
    };
    // Faint, where the surface is in front: the model sees those points, too.
    this.hidden = points({ still: moving, alpha: { value: 0.13 } }, { transparent: true, depthFunc: THREE.GreaterDepth, depthWrite: false });
    this.hidden.renderOrder = 2;
    this.seen = points({ still: moving, alpha: { value: 1 } });
    this.seen.renderOrder = 1;
    this.before = points({ still, alpha: { value: 0.35 }, mode: { value: 0 }, others: { value: 0.7 }, radius: this.points.radius }, { transparent: true, depthWrite: false });
    this.before.renderOrder = 3;
    this.surface = this.ghost = null;
    if (this.mesh) {
      const mesh = (geometry, lines, where, more) => {
        const made = new THREE.Mesh(geometry, material(SURFACE.vertex(lines), SURFACE.fragment, { ...this.shared, ...this.clay, ...where }, more));
        made.frustumCulled = false;
        this.group.add(made);
        return made;
      };
      this.surface = mesh(this.mesh, source, { still: moving, glass: { value: 0 } }, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
      this.ghost = mesh(this.flat, null, { still, glass: this.glass, clay: this.points.plain }, { transparent: true, depthWrite: false });
      this.ghost.renderOrder = 4;
    }
    this.stills = { moving, still };
    this.swept = null; // they were drawn by the programs of before
    if (this.sweepWanted) this.sweep(JSON.parse(this.sweepWanted));
    return true;
  }

  // The same points at many poses at once, `poses` each a z: all places where a certificate holds, as a haze.
  sweep(poses) {
    const wanted = JSON.stringify(poses);
    if (this.sweepWanted === wanted && this.swept) return;
    this.sweepWanted = wanted;
    for (const haze of this.swept || []) {
      haze.material.dispose();
      this.group.remove(haze);
    }
    this.swept = [];
    if (!this.cloud || this.source === null || this.source === undefined) return;
    for (const z of poses) {
      const where = { still: { value: 0 }, alpha: { value: 0.3 }, mode: { value: 0 }, others: { value: 0 }, radius: this.sweptRadius, plain: this.sweptColour, tpcPose: { value: Float32Array.from(z) }, tpcEdge: { value: false } };
      const made = new THREE.Points(this.cloud, material(POINTS.vertex(this.source), POINTS.fragment, { ...this.shared, ...this.points, ...where }, { transparent: true, depthWrite: false }));
      made.frustumCulled = false;
      made.renderOrder = 5;
      this.group.add(made);
      this.swept.push(made);
    }
  }

  showSweep(wanted, rested) {
    this.sweptRadius.value = 0.55 * this.points.radius.value;
    for (const haze of this.swept || []) haze.visible = wanted && (rested || this.swept.length <= 12);
  }

  look(look) {
    this.looks = look;
    if (look.swept) this.sweptColour.value.copy(colour(look.swept));
    this.shared.fog.value.copy(colour(look.background));
    this.shared.fogStrength.value = look.fog;
    this.points.plain.value.copy(colour(look.plain));
    this.points.contrast.value = look.contrast;
    this.clay.clay.value.copy(colour(look.clay));
    this.clay.shade.value.copy(colour(look.shade));
    look.palette.slice(0, 8).forEach((text, place) => this.points.palette.value[place].copy(colour(text)));
    for (const texture of Object.values(this.ramps || {})) texture.dispose();
    this.ramps = Object.fromEntries(Object.entries(look.ramps).map(([name, stops]) => [name, rampTexture(stops)]));
  }

  paint(colouring, range) {
    this.shared.mode.value = MODES[colouring] ?? 1;
    this.shared.ramp.value = this.ramps[colouring] || this.ramps.height;
    this.shared.rampRange.value.set(range[0], range[1]);
    this.clay.tint.value = TINT[colouring] || 0;
  }

  // A number for each point: how many features it decides, or its share of votes.
  weigh(weights) {
    const attribute = this.cloud.getAttribute("weight");
    attribute.array.set(weights.subarray(0, attribute.array.length));
    attribute.needsUpdate = true;
    this.points.strongest.value = weights.reduce((most, value) => Math.max(most, value), 0);
  }

  // Points that the server moved, for a transform that has no shader.
  serve(moved) {
    const attribute = this.cloud.getAttribute("served");
    if (attribute && attribute.array.length === moved.length) {
      attribute.array.set(moved);
      attribute.needsUpdate = true;
    } else this.cloud.setAttribute("served", new THREE.BufferAttribute(new Float32Array(moved), 3));
  }

  show({ surface, ghost, apart }) {
    const moves = this.source !== null;
    if (this.surface) this.surface.visible = surface && moves;
    const withMesh = Boolean(this.mesh) && (surface || !moves);
    if (this.ghost) this.ghost.visible = withMesh && (moves ? ghost && apart > 0.004 : true);
    this.before.visible = ghost && !withMesh && apart > 0.004;
    this.glass.value = this.looks.ghost * (moves ? Math.min(1, apart / 0.06) : 1);
    this.hidden.visible = Boolean(this.surface?.visible);
  }

  // How many points are drawn: they are in farthest-point order, so the first ones are spread over the whole object.
  limit(count) {
    this.cloud.setDrawRange(0, count);
  }

  dispose() {
    for (const body of this.group.children) body.material.dispose();
    this.group.clear();
    this.cloud?.dispose();
    this.mesh?.dispose();
    this.flat?.dispose();
  }
}
