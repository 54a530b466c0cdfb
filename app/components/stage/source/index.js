// What a page calls: mount a component's data onto its place.

import { pictured } from "./pictures.js";
import { Stage } from "./stage.js";

export { pictured };

const STAGES = new WeakMap();

export function mount({ data, parentElement, setTriggerValue, setStateValue }) {
  const root = parentElement.querySelector(".tpc-stage");
  let stage = STAGES.get(root);
  if (!stage) {
    try {
      stage = new Stage(root);
    } catch (error) {
      root.querySelector(".tpc-stage-note").textContent = "This browser has no WebGL; Plotly draws instead.";
      setStateValue("flat", String(error.message || error).slice(0, 200));
      return () => {};
    }
    root.stage = stage;
    STAGES.set(root, stage);
  }
  stage.emit = setTriggerValue;
  stage.show(data);
  return () => {
    if (document.contains(root)) return; // an update, not the end
    stage.close();
    STAGES.delete(root);
  };
}
