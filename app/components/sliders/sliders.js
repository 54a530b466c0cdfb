// Sliders with typed values. A movement is told to the stages of the page at once, as a "tpc-pose" event, and to the
// server as it keeps up: one report in flight at a time, never a queue of stale ones. The answer to a report is a frame, what the movement changed on the page; it is handed on as a "tpc-frame" event.
// Once the sliders rest, a last report is marked final, and the whole page follows.

const PANELS = new WeakMap();
const PATIENCE = 1500; // ms without an answer before the next report goes out all the same
const REST = 300; // ms after an answer, without another movement, until the sliders rest

class Panel {
  constructor(root) {
    this.root = root;
    this.rows = [];
    this.sent = 0;
    this.waiting = false;
    this.next = null;
    this.keys = (event) => {
      const step = this.history && historyKey(event);
      if (!step) return;
      event.preventDefault();
      document.activeElement?.blur();
      this.emit("history", { step, at: Date.now() });
    };
    document.addEventListener("keydown", this.keys);
    this.pinned = ({ detail }) => this.pin(detail);
    document.addEventListener("tpc-pose", this.pinned);
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    document.removeEventListener("tpc-pose", this.pinned);
    clearTimeout(this.rest);
    clearTimeout(this.timer);
  }

  show(data) {
    this.history = data.history;
    this.poses = data.poses;
    if (this.shape !== data.shape || this.epoch !== data.epoch) this.build(data);
    for (const row of this.rows) row.band(data.bands?.[row.name] || []);
    if (data.frame) document.dispatchEvent(new CustomEvent("tpc-frame", { detail: data.frame }));
    if (data.stamp >= this.sent) this.answered();
    if (!this.waiting && !this.restless) this.root.dataset.state = "resting";
  }

  answered() {
    this.waiting = false;
    clearTimeout(this.timer);
    if (this.next) {
      const report = this.next;
      this.next = null;
      this.report(report);
    } else if (this.restless) {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => {
        this.restless = false;
        this.report({ final: true });
      }, REST);
    }
  }

  build(data) {
    this.shape = data.shape;
    this.epoch = data.epoch;
    this.sent = Math.max(this.sent, data.stamp);
    this.next = null;
    this.restless = false;
    clearTimeout(this.rest);
    this.rows = [];
    const nodes = [];
    let group = null;
    for (const parameter of data.parameters) {
      if (parameter.group && parameter.group !== group) {
        group = parameter.group;
        const title = document.createElement("div");
        title.className = "tpc-group";
        title.textContent = group;
        nodes.push(title);
      }
      nodes.push(this.row(parameter));
    }
    this.root.replaceChildren(...nodes);
    this.root.dataset.parameters = String(data.parameters.length);
  }

  row(parameter) {
    const row = document.createElement("label");
    row.className = "tpc-row";
    const name = document.createElement("span");
    name.textContent = parameter.label;
    const track = document.createElement("div");
    track.className = "tpc-track";
    const range = document.createElement("input");
    Object.assign(range, { type: "range", min: parameter.low, max: parameter.high, step: parameter.step });
    const number = document.createElement("input");
    Object.assign(number, { type: "number", min: parameter.low, max: parameter.high, step: "any" });
    const unit = document.createElement("span");
    unit.className = "tpc-unit";
    unit.textContent = parameter.unit;
    range.value = number.value = parameter.value;
    range.setAttribute("aria-label", parameter.label);
    number.setAttribute("aria-label", `${parameter.label}, typed`);
    number.title = `${parameter.low} to ${parameter.high}${parameter.unit}`;
    track.append(range);
    const entry = { name: parameter.name, value: parameter.value, band: (pieces) => drawBand(track, parameter, pieces) };
    // Follow a pose that was set elsewhere.
    entry.follow = (value) => {
      const digits = Math.max(0, -Math.floor(Math.log10(parameter.step)) + 1);
      entry.value = Number(Math.min(parameter.high, Math.max(parameter.low, value)).toFixed(digits));
      range.value = number.value = entry.value;
      paint();
    };
    this.rows.push(entry);
    const paint = () => {
      const middle = (100 * (0 - parameter.low)) / (parameter.high - parameter.low);
      const place = (100 * (entry.value - parameter.low)) / (parameter.high - parameter.low);
      range.style.setProperty("--from", `${Math.max(0, Math.min(middle, place))}%`);
      range.style.setProperty("--to", `${Math.min(100, Math.max(middle, place))}%`);
    };
    const set = (value, other) => {
      const within = Math.min(parameter.high, Math.max(parameter.low, value));
      if (!Number.isFinite(value) || within === entry.value) return;
      entry.value = within;
      other.value = within;
      paint();
      this.moved();
    };
    range.oninput = () => set(range.valueAsNumber, number);
    // While it is typed, a number within the range is followed at once; anything else waits for its end.
    number.oninput = () => {
      const value = number.valueAsNumber;
      if (value >= parameter.low && value <= parameter.high) set(value, range);
    };
    number.onchange = () => {
      set(number.valueAsNumber, range);
      number.value = entry.value;
    };
    number.onkeydown = (event) => {
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      set(Number((entry.value + way * parameter.step).toFixed(6)), range);
      number.value = entry.value;
    };
    range.ondblclick = () => {
      range.value = 0;
      set(range.valueAsNumber, number);
    };
    paint();
    row.append(name, track, number, unit);
    return row;
  }

  moved() {
    clearTimeout(this.rest);
    this.restless = true;
    this.root.dataset.state = "moving";
    // Stages hear of it under the number that its report has, at the earliest.
    if (this.poses) {
      const { transform, links, vectors } = this.poses;
      const detail = { transform, by: "sliders", stamp: this.sent + 1 };
      if (vectors.length) detail.z = vectors[0].map((_, i) => vectors.reduce((sum, vector, place) => sum + vector[i] * this.rows[place].value, 0));
      else detail.values = links.map(({ slider, value }) => (slider === undefined ? value : this.rows[slider].value));
      document.dispatchEvent(new CustomEvent("tpc-pose", { detail }));
    }
    this.report({ final: false });
  }

  // A click on a map set a pose: the sliders go there.
  pin({ transform, z, by }) {
    const vectors = this.poses?.vectors;
    if (by !== "pin" || !z || !vectors?.length || transform !== this.poses.transform) return;
    const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
    this.rows.forEach((row, place) => row.follow(dot(z, vectors[place]) / dot(vectors[place], vectors[place])));
    this.moved();
  }

  report(report) {
    if (this.waiting) {
      this.next = { final: report.final || Boolean(this.next && this.next.final) };
      return;
    }
    this.waiting = true;
    this.sent += 1;
    this.root.dataset.sent = String(this.sent);
    this.timer = setTimeout(() => this.answered(), PATIENCE);
    this.emit("move", {
      values: this.rows.map((row) => row.value),
      shape: this.shape,
      stamp: this.sent,
      final: report.final,
    });
  }
}

// Along the track: where a certificate holds, where an attack is known, and nothing where nothing is known.
function drawBand(track, { low, high }, pieces) {
  const wanted = JSON.stringify(pieces);
  if (track.dataset.band === wanted) return;
  track.dataset.band = wanted;
  for (const old of track.querySelectorAll(".tpc-band")) old.remove();
  for (const { from, to, kind, title } of pieces) {
    const [start, end] = [from, to].map((value) => (100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low));
    const piece = document.createElement("i");
    piece.className = `tpc-band ${kind}`;
    piece.style.left = `calc(8px + (100% - 16px) * ${start / 100})`;
    piece.style.width = `calc((100% - 16px) * ${(end - start) / 100})`;
    piece.title = title || "";
    track.prepend(piece);
  }
}

// Ctrl+Z and Ctrl+Y, but not where somebody writes: there they belong to the text.
function historyKey(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const writes = event.target.closest?.("input:not([type=range]):not([type=checkbox]), textarea, [contenteditable=true]");
  if (writes && !writes.closest(".tpc-sliders")) return null;
  const name = event.key.toLowerCase();
  if (name === "z") return event.shiftKey ? "redo" : "undo";
  return name === "y" ? "redo" : null;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".tpc-sliders");
  let panel = PANELS.get(root);
  if (!panel) {
    panel = new Panel(root);
    PANELS.set(root, panel);
  }
  panel.emit = setTriggerValue;
  panel.show(data);
  return () => {
    if (document.contains(root)) return; // an update, not the end
    panel.close();
    PANELS.delete(root);
  };
}
