// The twist of the first screen. It goes back and forth by itself until somebody touches the page, and never again in
// this browser; then, and for those who want no motion, the slider does it.

const SEEN = "tpc-demonstration-seen";
const PERIOD = 16_000; // ms from rest to rest
const ROUNDS = 6; // an open tab that nobody looks at comes to rest
const TOUCHES = ["pointerdown", "keydown", "wheel", "touchstart"];
const SHOWN = new WeakMap();

function element(tag, className, text, attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function seen() {
  try {
    return Boolean(localStorage.getItem(SEEN));
  } catch {
    return false; // a browser that keeps nothing
  }
}

function remember() {
  try {
    localStorage.setItem(SEEN, "yes");
  } catch {
    // it plays again at the next visit
  }
}

// The slider's track: where the answer is right, and where it is wrong.
function track({ answers, names, truth }) {
  const stops = [];
  answers.forEach((answer, place) => {
    const colour = names[answer] === truth ? "var(--tpc-agree)" : "var(--tpc-differ)";
    const last = stops.at(-1);
    if (last?.colour === colour) last.to = place + 1;
    else stops.push({ colour, from: place, to: place + 1 });
  });
  const share = (place) => `${((100 * place) / answers.length).toFixed(2)}%`;
  return `linear-gradient(to right, ${stops.map(({ colour, from, to }) => `${colour} ${share(from)} ${share(to)}`).join(", ")})`;
}

class Demonstration {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.build();
    this.show(0);
    this.stop = this.stop.bind(this);
    root.dataset.ready = "yes";
    if (seen() || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.rest();
    for (const name of TOUCHES) document.addEventListener(name, this.stop, { capture: true, passive: true });
    this.root.dataset.state = "moving";
    this.play();
  }

  build() {
    const { label, step, answers } = this.data;
    const id = `tpc-demonstration-${label}`;
    this.says = element("p", "tpc-answer-now");
    this.slider = element("input", "", undefined, { type: "range", id, min: 0, max: step * (answers.length - 1), step, value: 0 });
    this.slider.oninput = () => this.show(this.slider.valueAsNumber, { pose: true });
    this.angle = element("output", "tpc-angle", "", { for: id });
    const row = element("div", "tpc-twist");
    const bar = element("div", "tpc-twist-track");
    bar.style.background = track(this.data);
    const line = element("div", "tpc-twist-line");
    line.append(bar, this.slider);
    row.append(element("label", "", label, { for: id }), line, this.angle);
    this.root.replaceChildren(this.says, row);
  }

  show(value, { pose = false } = {}) {
    const { step, answers, names, percent, truth } = this.data;
    const place = Math.min(answers.length - 1, Math.round(value / step));
    if (place === this.place) return;
    this.place = place;
    const name = names[answers[place]];
    const right = name === truth;
    this.says.replaceChildren(
      element("span", "", "The classifier says "),
      element("b", right ? "right" : "wrong", `${name} ${right ? "✓" : "✗"}`),
      element("span", "tpc-percent", ` ${percent[place]} %`),
    );
    this.root.dataset.says = name;
    this.slider.value = String(place * step);
    this.slider.setAttribute("aria-valuetext", `${place * step} degrees: the classifier says ${name}, which is ${right ? "right" : "wrong"}`);
    this.angle.textContent = `${Math.round(place * step)}°`;
    if (pose) this.pose(place * step);
  }

  pose(value) {
    const { stage, transform } = this.data;
    document.dispatchEvent(new CustomEvent("tpc-pose", { detail: { stage, transform, values: [value], by: "sliders" } }));
  }

  play() {
    this.frame = requestAnimationFrame((now) => {
      if (!document.querySelector(`.st-key-${this.data.stage} .tpc-stage-ready`)) return this.play(); // not drawn yet
      this.began ??= now;
      const round = (now - this.began) / PERIOD;
      this.show((this.data.farthest * (1 - Math.cos(2 * Math.PI * round))) / 2, { pose: true });
      if (round < ROUNDS) this.play();
      else this.rest();
    });
  }

  stop() {
    remember();
    this.rest();
  }

  rest() {
    cancelAnimationFrame(this.frame);
    for (const name of TOUCHES) document.removeEventListener(name, this.stop, { capture: true });
    this.root.dataset.state = "resting";
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".tpc-demonstration");
  if (!SHOWN.has(root)) SHOWN.set(root, new Demonstration(root, data));
  return () => {
    if (document.contains(root)) return; // an update, not the end
    SHOWN.get(root)?.rest();
    SHOWN.delete(root);
  };
}
