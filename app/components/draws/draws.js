// Little clouds in a row, drawn on one canvas, each in the colour of its vote: right, wrong, or not known.

const STRIPS = new WeakMap();
const REACH = 1.25; // half the side of the square that a draw is drawn in

function numbers({ bdata }) {
  const text = atob(bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
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
