// Sliders with typed values. They report while moving, one report in flight at a time: never a queue of stale ones.
// The answer to a report is a frame, what the movement changed on the page; it is handed on as a "tpc-frame" event.
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
  }

  show(data) {
    if (this.shape !== data.shape || this.epoch !== data.epoch) this.build(data);
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
    const range = document.createElement("input");
    Object.assign(range, { type: "range", min: parameter.low, max: parameter.high, step: parameter.step });
    const number = document.createElement("input");
    Object.assign(number, { type: "number", min: parameter.low, max: parameter.high, step: parameter.step });
    const unit = document.createElement("span");
    unit.className = "tpc-unit";
    unit.textContent = parameter.unit;
    range.value = number.value = parameter.value;
    range.setAttribute("aria-label", parameter.label);
    number.setAttribute("aria-label", `${parameter.label}, typed`);
    const entry = { value: parameter.value };
    this.rows.push(entry);
    const paint = () => {
      const middle = (100 * (0 - parameter.low)) / (parameter.high - parameter.low);
      const place = (100 * (entry.value - parameter.low)) / (parameter.high - parameter.low);
      range.style.setProperty("--from", `${Math.max(0, Math.min(middle, place))}%`);
      range.style.setProperty("--to", `${Math.min(100, Math.max(middle, place))}%`);
    };
    const set = (value, other) => {
      if (!Number.isFinite(value)) return;
      entry.value = Math.min(parameter.high, Math.max(parameter.low, value));
      other.value = entry.value;
      paint();
      this.moved();
    };
    range.oninput = () => set(range.valueAsNumber, number);
    number.onchange = () => {
      set(number.valueAsNumber, range);
      number.value = entry.value;
    };
    range.ondblclick = () => {
      range.value = 0;
      set(range.valueAsNumber, number);
    };
    paint();
    row.append(name, range, number, unit);
    return row;
  }

  moved() {
    clearTimeout(this.rest);
    this.restless = true;
    this.root.dataset.state = "moving";
    this.report({ final: false });
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
}
