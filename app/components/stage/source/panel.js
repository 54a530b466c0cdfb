// What lies over the picture: colours to choose from, the view's switches, actions, and a legend that says what
// each colour means. A choice acts at once, here; the server hears of it afterwards.

function element(tag, className, text, attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const gradient = (stops) => `linear-gradient(to right, ${stops.join(", ")})`;

export class Panel {
  constructor(root, { onSet, onAction }) {
    this.root = root;
    Object.assign(this, { onSet, onAction });
    this.colours = element("div", "tpc-stage-colours", undefined, { role: "radiogroup", "aria-label": "Colour by" });
    this.actions = element("div", "tpc-stage-actions");
    this.legend = element("div", "tpc-stage-legend");
    root.append(this.colours, this.actions, this.legend);
  }

  show(settings, data) {
    this.choices(settings, data);
    this.buttons(settings, data);
  }

  choices(settings, data) {
    const wanted = JSON.stringify([data.colourings, settings.colouring]);
    if (this.wantedChoices === wanted) return;
    this.wantedChoices = wanted;
    const focused = this.colours.contains(document.activeElement);
    this.colours.replaceChildren(
      ...data.colourings.map(({ id, label, title }) => {
        const button = element("button", "", label, { type: "button", role: "radio", "aria-checked": String(id === settings.colouring), "data-colour": id });
        if (title) button.title = title;
        button.onclick = () => this.onSet("colouring", id);
        return button;
      }),
    );
    if (focused) this.colours.querySelector("[aria-checked=true]")?.focus();
  }

  buttons(settings, data) {
    const wanted = JSON.stringify([data.actions, data.switches]);
    if (this.wantedButtons !== wanted) {
      this.wantedButtons = wanted;
      const made = data.actions.map(({ id, label, title }) => {
        const button = element("button", "", label, { type: "button", "data-action": id, title, "aria-label": title });
        button.onclick = () => this.onAction(id);
        return button;
      });
      if (data.switches.length) made.unshift(this.menu(data.switches));
      this.actions.replaceChildren(...made);
    }
    for (const { id } of data.switches) {
      const input = this.actions.querySelector(`[data-switch="${id}"]`);
      if (input.type === "checkbox") input.checked = Boolean(settings[id]);
      else if (input !== document.activeElement) input.value = settings[id];
    }
  }

  menu(switches) {
    const menu = element("details", "tpc-stage-menu");
    const list = element("div", "tpc-stage-list");
    for (const { id, label, kind, low, high, step } of switches) {
      const row = element("label", "", label);
      const input = element("input", "", undefined, { type: kind, "data-switch": id });
      if (kind === "range") Object.assign(input, { min: low, max: high, step });
      input.oninput = () => this.onSet(id, kind === "checkbox" ? input.checked : input.valueAsNumber);
      row.append(input);
      list.append(row);
    }
    menu.append(element("summary", "", "View"), list);
    document.addEventListener("pointerdown", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape") menu.open = false;
    });
    return menu;
  }

  // `lines`: {ramp, low, high, text} or {colour, text} or {ring, text}
  explain(lines) {
    const wanted = JSON.stringify(lines);
    if (this.wantedLegend === wanted) return;
    this.wantedLegend = wanted;
    this.legend.replaceChildren(
      ...lines.map((line) => {
        const row = element("div", "tpc-legend-row");
        if (line.ramp) {
          const bar = element("i", "tpc-legend-ramp");
          bar.style.background = gradient(line.ramp);
          row.append(element("span", "tpc-legend-end", line.low), bar, element("span", "tpc-legend-end", line.high));
        } else {
          const dot = element("i", line.ring ? "tpc-legend-ring" : "tpc-legend-dot");
          dot.style.setProperty("--colour", line.colour);
          row.append(dot);
        }
        row.append(element("span", "", line.text));
        return row;
      }),
    );
  }
}
