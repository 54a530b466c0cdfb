// Joins the stage (the bundle above) to a notebook's kernel: sliders pose it in the browser, votes and verdicts come back.

const LOOK = {
  name: "light", background: "#f6f8fb", backdrop: "radial-gradient(110% 90% at 50% 36%, #ffffff 0%, #f5f7fb 55%, #e8edf5 100%)",
  clay: "#e6eaf1", shade: "#7e8aa2", plain: "#8993a6", floor: "#dde4ee", floorStrength: 0.55, shadow: "#27324a",
  shadowStrength: 0.42, fog: 0.42, ghost: 0.5, points: 1.6, contrast: 1.0,
  ramps: {
    height: ["#3b2f73", "#2f5d96", "#23889a", "#3fae86", "#a3c34f"],
    displacement: ["#b9bcc6", "#c98fb0", "#bb4f92", "#86217c", "#45104f"],
    critical: ["#d3a6dd", "#a04fb8", "#5d1a78"], votes: ["#8993a6", "#0072B2"],
  },
  palette: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000"],
};
const WAIT = 150; // milliseconds of rest before the votes are asked for
let made = 0;

function text(tag, words, kind) {
  const element = document.createElement(tag);
  element.textContent = words;
  if (kind) element.className = kind;
  return element;
}

function render({ model, el }) {
  const scene = model.get("scene");
  const key = `notebook-${(made += 1)}`;
  (window.tpcScenes ||= new Map()).set(scene.digest, scene);
  const root = document.createElement("div");
  root.className = "tpc-explorer";
  const place = document.createElement("div");
  place.innerHTML =
    '<div class="tpc-stage"><div class="tpc-stage-canvas"><div class="tpc-stage-wait"></div></div><div class="tpc-stage-note" role="status"></div></div>';
  const side = text("div", "", "tpc-side");
  root.append(place, side);
  el.append(root);

  let epoch = 0;
  const shown = () => ({
    key, scene: scene.digest, transform: scene.transform, pose: { values: model.get("values"), epoch },
    height: "360px", look: LOOK, stamp: 0, seen: 0, farthest: 0, camera_of: scene.digest, title: scene.title,
    settings: { colouring: "height", surface: false, ghost: true, side_by_side: false, point_size: 2.5 },
    colourings: [], switches: [], actions: [{ id: "home", label: "⌂", title: "Back to the first view" }], filename: "tpc-explorer", poster: "",
  });
  const mounted = { parentElement: place, setTriggerValue: () => {}, setStateValue: () => {} };
  const end = TpcStage.mount({ ...mounted, data: shown() });

  let timer = null;
  const values = [...model.get("values")];
  model.get("sliders").forEach(({ name, unit, end: limit }, number) => {
    const label = text("label", "");
    const input = document.createElement("input");
    Object.assign(input, { type: "range", min: -limit, max: limit, step: limit / 90, value: values[number] });
    input.setAttribute("aria-label", name);
    const output = text("output", `0${unit}`);
    input.oninput = () => {
      values[number] = Number(input.value);
      output.textContent = `${Number(input.value).toPrecision(3)}${unit}`;
      document.dispatchEvent(new CustomEvent("tpc-pose", { detail: { stage: key, transform: scene.transform.name, values: [...values], by: "sliders" } }));
      clearTimeout(timer);
      timer = setTimeout(() => {
        model.set("values", [...values]);
        model.save_changes();
      }, WAIT);
    };
    label.append(text("span", name), input, output);
    side.append(label);
  });

  const answer = text("div", "", "tpc-answer");
  const ask = text("div", "", "tpc-ask");
  const radius = document.createElement("input");
  Object.assign(radius, { type: "text", value: model.get("radius"), placeholder: "20" });
  radius.setAttribute("aria-label", "radius");
  const button = text("button", "Certify", "tpc-certify");
  const verdict = text("div", "", "tpc-verdict");
  verdict.setAttribute("role", "status");
  button.onclick = () => {
    verdict.dataset.word = "";
    verdict.textContent = "Voting ...";
    model.set("radius", radius.value);
    model.set("asked", model.get("asked") + 1);
    model.save_changes();
  };
  ask.append(text("span", "every radius up to"), radius, button);
  side.append(answer, ask, verdict);

  const say = () => {
    const found = model.get("answer");
    answer.replaceChildren();
    if (found.error) answer.append(text("span", found.error));
    (found.classes || []).forEach((name, number) => {
      const line = text(number ? "div" : "strong", `${name}: ${found.votes[number]} of ${found.of} votes`);
      answer.append(line, document.createElement("br"));
    });
  };
  const judge = () => {
    const { word, sentence } = model.get("verdict");
    if (!word) return;
    verdict.dataset.word = word;
    verdict.textContent = word === "error" ? sentence : `${word.toUpperCase()} ${sentence}`;
  };
  model.on("change:answer", say);
  model.on("change:verdict", judge);
  say();
  judge();
  return () => {
    model.off("change:answer", say);
    model.off("change:verdict", judge);
    clearTimeout(timer);
    el.replaceChildren();
    end();
  };
}

export default { render };
