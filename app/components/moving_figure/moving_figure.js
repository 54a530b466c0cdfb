// Frames of lines as SVG. The slider chooses a frame, Play goes through them once.

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, LEFT, RIGHT, TOP, BOTTOM] = [560, 62, 14, 14, 54];
const SECONDS = 7;
const SHOWN = new WeakMap();

function draw(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

class Moving {
  constructor(root) {
    this.root = root;
    this.button = Object.assign(document.createElement("button"), { type: "button", textContent: "Play" });
    this.button.onclick = () => (this.timer ? this.rest() : this.play());
    this.slider = Object.assign(document.createElement("input"), { type: "range", min: 0, step: 1, value: 0 });
    this.slider.oninput = () => {
      this.rest();
      this.show(this.slider.valueAsNumber);
    };
    this.words = document.createElement("p");
    this.words.setAttribute("role", "status");
    this.picture = draw("svg", { role: "img" });
    const row = document.createElement("div");
    row.className = "tpc-moving-row";
    row.append(this.button, this.slider);
    root.replaceChildren(this.picture, row, this.words);
  }

  take(data) {
    this.data = data;
    this.height = data.square ? WIDTH - LEFT - RIGHT + TOP + BOTTOM : 330;
    this.picture.setAttribute("viewBox", `0 0 ${WIDTH} ${this.height}`);
    this.picture.setAttribute("aria-label", data.name);
    this.slider.max = String(data.frames.length - 1);
    this.slider.setAttribute("aria-label", data.slider);
    this.show(Math.min(this.at ?? 0, data.frames.length - 1));
  }

  place([x, y]) {
    const { x: [a, b], y: [c, d] } = this.data;
    const across = LEFT + ((x - a) / (b - a)) * (WIDTH - LEFT - RIGHT);
    const down = this.height - BOTTOM - ((y - c) / (d - c)) * (this.height - TOP - BOTTOM);
    return `${across.toFixed(1)},${down.toFixed(1)}`;
  }

  show(number) {
    this.at = number;
    this.slider.value = String(number);
    const { frames, marks, x, y, x_title, y_title } = this.data;
    const frame = frames[number];
    const nodes = [draw("rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: this.height - TOP - BOTTOM })];
    for (const line of frame.lines) {
      const points = line.points.map((point) => this.place(point)).join(" ");
      const look = `${line.kind}${line.area ? " area" : ""}${line.dashed ? " dashed" : ""}`;
      nodes.push(draw(line.area ? "polygon" : "polyline", { class: look, points }));
    }
    for (const dot of frame.dots) {
      const [cx, cy] = this.place(dot).split(",");
      nodes.push(draw("circle", { class: "dot", cx, cy, r: 3.5 }));
    }
    for (const [height, text] of marks) {
      const [, at] = this.place([x[0], height]).split(",");
      nodes.push(draw("line", { class: "mark", x1: LEFT, x2: WIDTH - RIGHT, y1: at, y2: at }));
      nodes.push(draw("text", { x: WIDTH - RIGHT - 4, y: Number(at) - 5, "text-anchor": "end" }, text));
    }
    const middle = (LEFT + WIDTH - RIGHT) / 2;
    nodes.push(draw("text", { x: middle, y: this.height - 8, "text-anchor": "middle" }, x_title));
    nodes.push(draw("text", { transform: `translate(14 ${(TOP + this.height - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, y_title));
    for (const [value, anchor, at] of [[x[0], "start", LEFT], [x[1], "end", WIDTH - RIGHT]]) {
      nodes.push(draw("text", { x: at, y: this.height - BOTTOM + 20, "text-anchor": anchor, class: "tick" }, String(value)));
    }
    for (const [value, at] of [[y[0], this.height - BOTTOM], [y[1], TOP + 9]]) {
      nodes.push(draw("text", { x: LEFT - 6, y: at, "text-anchor": "end", class: "tick" }, String(value)));
    }
    this.picture.replaceChildren(...nodes);
    this.words.textContent = frame.words;
    this.root.dataset.frame = String(number);
  }

  play() {
    const { length } = this.data.frames;
    if (this.at >= length - 1) this.at = -1;
    this.button.textContent = "Pause";
    this.timer = setInterval(() => {
      this.show(this.at + 1);
      if (this.at >= length - 1) this.rest();
    }, (1000 * SECONDS) / length);
  }

  rest() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = this.at >= this.data.frames.length - 1 ? "Play again" : "Play";
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".tpc-moving");
  let moving = SHOWN.get(root);
  if (!moving) {
    moving = new Moving(root);
    SHOWN.set(root, moving);
  }
  if (moving.name !== data.name) {
    moving.name = data.name;
    moving.at = 0;
    if (moving.data) moving.rest();
    moving.take(data);
  }
  return () => {
    if (document.contains(root)) return; // an update, not the end
    moving.rest();
    SHOWN.delete(root);
  };
}
