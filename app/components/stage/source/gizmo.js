// Small axes in the corner instead of boxes around the object; a click on an end looks along that axis.

import * as THREE from "three";

const SIZE = 66;
const AXES = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const NS = "http://www.w3.org/2000/svg";

function node(name, attributes, parent) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

export class Gizmo {
  constructor(parent, onPick) {
    this.svg = node("svg", { class: "tpc-gizmo", viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, "aria-hidden": "true" }, parent);
    this.ends = Object.entries(AXES).map(([name, direction]) => {
      const axis = new THREE.Vector3(...direction);
      const group = node("g", { class: `tpc-axis tpc-axis-${name}` }, this.svg);
      const line = node("line", { x1: 0, y1: 0 }, group);
      const ball = node("circle", { r: 7.5 }, group);
      const text = node("text", { "text-anchor": "middle", dy: "0.34em" }, group);
      text.textContent = name;
      const title = node("title", {}, group);
      title.textContent = `Look along ${name}`;
      group.addEventListener("click", () => onPick(axis.clone()));
      return { axis, group, line, ball, text };
    });
  }

  draw(camera) {
    const turn = camera.quaternion.clone().invert();
    const seen = this.ends.map((end) => ({ end, at: end.axis.clone().applyQuaternion(turn) }));
    seen.sort((a, b) => a.at.z - b.at.z);
    for (const { end, at } of seen) {
      const [x, y] = [at.x * 23, -at.y * 23];
      end.line.setAttribute("x2", x);
      end.line.setAttribute("y2", y);
      end.ball.setAttribute("cx", x);
      end.ball.setAttribute("cy", y);
      end.text.setAttribute("x", x);
      end.text.setAttribute("y", y);
      end.group.style.opacity = at.z < -0.4 ? 0.45 : 1;
      this.svg.append(end.group); // the nearest last, on top
    }
  }
}
