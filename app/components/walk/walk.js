// From the object to the attack. Play moves the stage along the way, and back to its beginning at the end; the slider
// stops it anywhere. The votes shown are those that were cast at the nearest step.

const SECONDS = 6;
const SHOWN = new WeakMap();

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

class Walk {
  constructor(root) {
    this.root = root;
    this.part = 0;
    this.button = element("button", "tpc-walk-play", "Play");
    this.button.type = "button";
    this.button.onclick = () => (this.frame ? this.rest() : this.play());
    this.slider = element("input", "tpc-walk-way");
    Object.assign(this.slider, { type: "range", min: 0, max: 1, step: 0.005, value: 0 });
    this.slider.setAttribute("aria-label", "Part of the way from the object to the attack");
    this.slider.oninput = () => {
      this.rest();
      this.go(this.slider.valueAsNumber);
    };
    this.says = element("p", "tpc-walk-says");
    this.says.setAttribute("role", "status");
    this.bars = element("div", "tpc-walk-bars");
    const row = element("div", "tpc-walk-row");
    this.ground = element("div", "tpc-walk-ground");
    const line = element("div", "tpc-walk-line");
    line.append(this.ground, this.slider);
    row.append(this.button, line);
    root.replaceChildren(row, this.says, this.bars);
  }

  show(data) {
    this.data = data;
    const { parts, shares, names, target, certified } = data;
    this.ground.style.setProperty("--certified", `${100 * Math.min(1, certified)}%`);
    const lost = shares.findIndex((share) => names[share.indexOf(Math.max(...share))] !== target);
    this.ground.style.setProperty("--broken", `${100 * (lost < 0 ? 1 : parts[lost])}%`);
    this.rows = names.map((name) => {
      const row = element("div", name === target ? "tpc-walk-bar right" : "tpc-walk-bar");
      const fill = element("i", "");
      const number = element("span", "tpc-walk-share");
      const track = element("div", "tpc-walk-track");
      track.append(fill);
      row.append(element("span", "tpc-walk-name", name), track, number);
      return { row, fill, number };
    });
    this.bars.replaceChildren(...this.rows.map(({ row }) => row));
    this.step = -1;
    this.go(this.part);
    this.root.dataset.steps = String(parts.length);
  }

  go(part) {
    const { stage, transform, z, parts, shares, names, target } = this.data;
    this.part = part;
    this.slider.value = String(part);
    const detail = { stage, transform, z: z.map((value) => part * value) };
    document.dispatchEvent(new CustomEvent("tpc-pose", { detail }));
    let step = 0;
    parts.forEach((at, place) => {
      if (Math.abs(at - part) < Math.abs(parts[step] - part)) step = place;
    });
    if (step === this.step) return;
    this.step = step;
    const share = shares[step];
    const winner = names[share.indexOf(Math.max(...share))];
    this.root.dataset.says = winner;
    this.root.dataset.part = parts[step].toFixed(3);
    this.says.replaceChildren(
      element("span", "", `${Math.round(100 * parts[step])} % of the attack. The smoothed model says `),
      element("b", winner === target ? "right" : "wrong", `${winner} ${winner === target ? "✓" : "✗"}`),
    );
    this.rows.forEach(({ fill, number }, place) => {
      fill.style.width = `${100 * share[place]}%`;
      number.textContent = `${Math.round(100 * share[place])} %`;
    });
  }

  play() {
    const begin = this.part >= 0.999 ? 0 : this.part;
    this.button.textContent = "Pause";
    this.root.dataset.state = "moving";
    let first = null;
    const tick = (now) => {
      first ??= now;
      const part = Math.min(1, begin + (now - first) / (1000 * SECONDS));
      this.go(part);
      if (part < 1) this.frame = requestAnimationFrame(tick);
      else this.rest();
    };
    this.frame = requestAnimationFrame(tick);
  }

  rest() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.button.textContent = this.part >= 0.999 ? "Play again" : "Play";
    this.root.dataset.state = "resting";
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".tpc-walk");
  let walk = SHOWN.get(root);
  if (!walk) {
    walk = new Walk(root);
    SHOWN.set(root, walk);
  }
  if (walk.said !== JSON.stringify(data)) {
    walk.said = JSON.stringify(data);
    walk.show(data);
  }
  return () => {
    if (document.contains(root)) return; // an update, not the end
    walk.rest();
    SHOWN.delete(root);
  };
}
