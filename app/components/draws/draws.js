// Little clouds in a row, drawn on one canvas, each in the colour of its vote: right, wrong, or not known. Behind each
// of them, faintly, the surface of the object itself.

const STRIPS = new WeakMap();
const REACH = 1.25; // half the side of the square that a draw is drawn in

function numbers({ bdata }, Kind = Float32Array) {
  const text = atob(bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new Kind(bytes.buffer);
}

class Strip {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.names = root.querySelector(".tpc-draw-names");
    this.listen = ({ detail: { stamp, parts } }) => {
      if (parts[this.key]) this.show({ key: this.key, height: this.height, part: parts[this.key], stamp });
    };
    document.addEventListener("tpc-frame", this.listen);
    this.resizer = new ResizeObserver(() => this.draw());
    this.resizer.observe(root);
  }

  show({ key, height, part, stamp }) {
    Object.assign(this, { key, height, part, points: numbers(part.points) });
    this.surface = part.surface && numbers(part.surface);
    if (part.faces) this.faces = numbers(part.faces, Int32Array);
    this.root.style.height = `${height}px`;
    this.draw();
    this.names.replaceChildren(
      ...part.draws.map(({ name, meaning }) => {
        const label = document.createElement("span");
        label.textContent = label.title = name;
        label.className = meaning;
        return label;
      }),
    );
    this.root.dataset.stamp = String(stamp);
  }

  draw() {
    if (!this.part) return;
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.root);
    const count = this.part.draws.length;
    const each = this.points.length / (2 * count);
    const side = Math.min(width / count, height);
    const scale = side / (2 * REACH);
    const dot = Math.max(2, Math.min(3.2, side / 28));
    pen.scale(ratio, ratio);
    const silhouette = this.silhouette(scale);
    if (silhouette) {
      pen.fillStyle = style.getPropertyValue("--surface");
      for (let place = 0; place < count; place += 1) {
        pen.save();
        pen.translate(((place + 0.5) * width) / count, height / 2);
        pen.fill(silhouette);
        pen.restore();
      }
    }
    pen.globalAlpha = 0.8;
    this.part.draws.forEach(({ meaning }, place) => {
      pen.fillStyle = style.getPropertyValue(`--${meaning}`);
      const x = ((place + 0.5) * width) / count;
      for (let i = place * each; i < (place + 1) * each; i += 1) {
        const left = Math.max(-REACH, Math.min(REACH, this.points[2 * i]));
        const up = Math.max(-REACH, Math.min(REACH, this.points[2 * i + 1]));
        pen.beginPath();
        pen.arc(x + left * scale, height / 2 - up * scale, dot / 2, 0, 7);
        pen.fill();
      }
    });
  }

  // All triangles as one path, each the same way round, so that front and back do not cancel.
  silhouette(scale) {
    const { surface, faces } = this;
    if (!surface || !faces) return null;
    const path = new Path2D();
    const at = (corner) => [scale * surface[2 * corner], -scale * surface[2 * corner + 1]];
    for (let i = 0; i < faces.length; i += 3) {
      const [a, b, c] = [at(faces[i]), at(faces[i + 1]), at(faces[i + 2])];
      const turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
      const [second, third] = turn > 0 ? [b, c] : [c, b];
      path.moveTo(...a);
      path.lineTo(...second);
      path.lineTo(...third);
      path.closePath();
    }
    return path;
  }

  close() {
    document.removeEventListener("tpc-frame", this.listen);
    this.resizer.disconnect();
  }
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".tpc-draws");
  let strip = STRIPS.get(root);
  if (!strip) {
    strip = new Strip(root);
    STRIPS.set(root, strip);
  }
  strip.show(data);
  return () => {
    if (document.contains(root)) return;
    strip.close();
    STRIPS.delete(root);
  };
}
