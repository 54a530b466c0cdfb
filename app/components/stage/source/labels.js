// The label of the point under the pointer: its number, where it is, how far it moved.

import * as THREE from "three";

const NEAR = 9; // pixels

export class Labels {
  constructor(parent) {
    this.box = document.createElement("div");
    this.box.className = "tpc-stage-label";
    this.box.hidden = true;
    parent.append(this.box);
    this.at = new THREE.Vector3();
  }

  hide() {
    this.box.hidden = true;
  }

  // `moved` and `original` are flat arrays; `more` says what else is known of a point.
  show(x, y, { camera, width, height, moved, original, more }) {
    const place = this.nearest(x, y, camera, width, height, moved);
    if (place < 0) return this.hide();
    const p = moved.subarray(3 * place, 3 * place + 3);
    const q = original.subarray(3 * place, 3 * place + 3);
    const far = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    const lines = [`point ${place}`, `x ${p[0].toFixed(3)}   y ${p[1].toFixed(3)}   z ${p[2].toFixed(3)}`, `moved by ${far.toFixed(3)}`, ...more(place)];
    this.box.replaceChildren(
      ...lines.map((text) => {
        const line = document.createElement("div");
        line.textContent = text;
        return line;
      }),
    );
    this.box.hidden = false;
    const left = Math.min(x + 14, width - this.box.offsetWidth - 6);
    const top = Math.min(y + 14, height - this.box.offsetHeight - 6);
    this.box.style.transform = `translate(${Math.max(6, left)}px, ${Math.max(6, top)}px)`;
    return place;
  }

  nearest(x, y, camera, width, height, moved) {
    let [best, score] = [-1, Infinity];
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    for (let i = 0; i < moved.length / 3; i += 1) {
      this.at.set(moved[3 * i], moved[3 * i + 1], moved[3 * i + 2]).applyMatrix4(matrix);
      const away = Math.hypot(((this.at.x + 1) / 2) * width - x, ((1 - this.at.y) / 2) * height - y);
      // Of those under the pointer, the one in front.
      const cost = away + 400 * this.at.z;
      if (away < NEAR && cost < score) [best, score] = [i, cost];
    }
    return best;
  }
}
