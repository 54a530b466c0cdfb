// Where the object is seen from: z is up, orbits glide, and home shows it filling three quarters of the frame.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export const FIELD = 32; // degrees from top to bottom
const HOME = new THREE.Vector3(0.62, -0.94, 0.42).normalize();
const FILLED = 0.75;
const STEP = Math.PI / 24;

export class View {
  constructor(element, onChange) {
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, 0.05, 60);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, element);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.14, rotateSpeed: 0.9, zoomSpeed: 0.8, minDistance: 0.4, maxDistance: 20 });
    this.controls.addEventListener("change", onChange);
    this.controls.addEventListener("start", () => {
      this.touched = true;
      this.glide = null;
    });
    this.touched = false;
    this.quick = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // The camera from which the points fill the frame, seen along a direction.
  framed(points, direction) {
    const back = direction.clone().normalize();
    const right = new THREE.Vector3(0, 0, 1).cross(back);
    if (right.lengthSq() < 1e-6) right.set(1, 0, 0);
    right.normalize();
    const up = back.clone().cross(right);
    const high = Math.tan(((FIELD / 2) * Math.PI) / 180) * FILLED;
    const wide = high * this.camera.aspect;
    const step = Math.max(3, 3 * Math.floor(points.length / 3 / 4096));
    const at = new THREE.Vector3();
    const target = new THREE.Vector3();
    let distance = 3;
    for (let round = 0; round < 3; round += 1) {
      const [low, far] = [[Infinity, Infinity], [-Infinity, -Infinity]];
      distance = 0.8;
      for (let i = 0; i < points.length; i += step) {
        at.set(points[i], points[i + 1], points[i + 2]).sub(target);
        const [x, y, z] = [at.dot(right), at.dot(up), at.dot(back)];
        distance = Math.max(distance, z + Math.abs(x) / wide, z + Math.abs(y) / high);
        low[0] = Math.min(low[0], x);
        far[0] = Math.max(far[0], x);
        low[1] = Math.min(low[1], y);
        far[1] = Math.max(far[1], y);
      }
      if (round < 2) target.addScaledVector(right, (low[0] + far[0]) / 2).addScaledVector(up, (low[1] + far[1]) / 2);
    }
    return { target, position: target.clone().addScaledVector(back, distance) };
  }

  // Whether the points are in the frame, with a little margin.
  holds(points) {
    const at = new THREE.Vector3();
    for (let i = 0; i < points.length; i += 3) {
      at.set(points[i], points[i + 1], points[i + 2]).project(this.camera);
      if (Math.abs(at.x) > 0.96 || Math.abs(at.y) > 0.96) return false;
    }
    return true;
  }

  home(points, { glide = true } = {}) {
    this.touched = false;
    this.go(this.framed(points, HOME), glide);
  }

  // Along an axis, the object again filling the frame.
  along(axis, points) {
    this.touched = true;
    this.go(this.framed(points, axis.clone().addScaledVector(HOME, 1e-3)), true);
  }

  go({ position, target }, glide) {
    if (!glide || this.quick) {
      this.camera.position.copy(position);
      this.controls.target.copy(target);
      this.controls.update();
      this.glide = null;
      return;
    }
    const from = new THREE.Spherical().setFromVector3(flat(this.camera.position.clone().sub(this.controls.target)));
    const to = new THREE.Spherical().setFromVector3(flat(position.clone().sub(target)));
    if (to.theta - from.theta > Math.PI) to.theta -= 2 * Math.PI;
    if (from.theta - to.theta > Math.PI) to.theta += 2 * Math.PI;
    this.glide = { from, to, start: this.controls.target.clone(), target, began: performance.now() };
  }

  // One step of gliding and damping; whether it goes on.
  step() {
    if (!this.glide) {
      const goes = this.controls.update();
      if (!goes) this.halt();
      return goes;
    }
    const { from, to, start, target, began } = this.glide;
    const share = Math.min(1, (performance.now() - began) / 380);
    const eased = 1 - (1 - share) ** 3;
    const mix = (a, b) => a + eased * (b - a);
    const way = upright(new THREE.Vector3().setFromSphericalCoords(mix(from.radius, to.radius), mix(from.phi, to.phi), mix(from.theta, to.theta)));
    this.controls.target.lerpVectors(start, target, eased);
    this.camera.position.copy(this.controls.target).add(way);
    this.camera.lookAt(this.controls.target);
    if (share >= 1) {
      this.glide = null;
      this.controls.update();
    }
    return true;
  }

  // The rest of a glide that is too small to be seen would otherwise come later, with the next picture.
  halt() {
    this.controls.enableDamping = false;
    this.controls.update();
    this.controls.enableDamping = true;
  }

  // Arrow keys turn, plus and minus zoom; whether the key was one of these.
  key(name) {
    const way = new THREE.Spherical().setFromVector3(flat(this.camera.position.clone().sub(this.controls.target)));
    if (name === "ArrowLeft") way.theta -= STEP;
    else if (name === "ArrowRight") way.theta += STEP;
    else if (name === "ArrowUp") way.phi -= STEP;
    else if (name === "ArrowDown") way.phi += STEP;
    else if (name === "+" || name === "=") way.radius /= 1.1;
    else if (name === "-") way.radius *= 1.1;
    else return false;
    way.makeSafe();
    way.radius = Math.min(this.controls.maxDistance, Math.max(this.controls.minDistance, way.radius));
    this.camera.position.copy(this.controls.target).add(upright(new THREE.Vector3().setFromSpherical(way)));
    this.controls.update();
    this.touched = true;
    return true;
  }

  resize(width, height) {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  // For the server: a still is framed like the view.
  told() {
    const [eye, centre] = [this.camera.position, this.controls.target];
    return { eye: { x: eye.x, y: eye.y, z: eye.z }, center: { x: centre.x, y: centre.y, z: centre.z }, field: FIELD, aspect: this.camera.aspect };
  }
}

// three's spherical coordinates have y for up.
const flat = (v) => v.set(v.x, v.z, -v.y);
const upright = (v) => v.set(v.x, -v.z, v.y);
