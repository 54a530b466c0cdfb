// The picture in words: what its colours mean, what is known of a point, and what a person who cannot see it is told.

import { sceneOf } from "./scenes.js";

const short = (value) => String(Number(value.toFixed(Math.abs(value) < 0.1 ? 3 : 2)));

function range(colouring, apart, heights, farthest) {
  if (colouring === "displacement") return [0, farthest || Math.max(0.25, Math.ceil(4 * apart) / 4)];
  if (colouring === "critical" || colouring === "votes") return [0, 1];
  return heights;
}

function lines(stage) {
  const { look, seen } = stage.data;
  const { colouring, ghost, side_by_side: pair } = stage.settings;
  const count = stage.points.length / 3;
  const said = [];
  const words = (english) => look.words?.[english] ?? english;
  if (colouring === "height") said.push({ ramp: look.ramps.height, low: words("low"), high: words("high"), text: words("height") });
  if (colouring === "displacement") said.push({ ramp: look.ramps.displacement, low: "0", high: short(stage.range[1]), text: words("moved by") });
  if (colouring === "critical") {
    said.push({ ramp: look.ramps.critical, low: "few", high: "many", text: "features it decides" }, { colour: look.plain, text: "decides none" });
  }
  if (colouring === "votes") said.push({ ramp: look.ramps.votes, low: "0", high: short(stage.bodies.points.strongest.value), text: words("share of votes") });
  if (colouring === "parts") {
    sceneOf(stage.data.scene).part_names.forEach((name, place) => said.push({ colour: look.palette[place % look.palette.length], text: name }));
  }
  if (seen && seen < count) said.push({ text: `large: the ${seen} points that the model sees`, colour: look.plain });
  if (ghost && !pair && stage.apart > 0.004) said.push({ text: words("the original"), colour: look.plain, ring: true });
  return said;
}

function ofPoint(place, stage) {
  const { colouring } = stage.settings;
  const scene = sceneOf(stage.data.scene);
  const said = [];
  if (scene.parts && scene.part_names.length) said.push(scene.part_names[scene.parts[place]]);
  if (stage.weights && colouring === "critical") {
    const all = stage.weights.reduce((sum, value) => sum + value, 0);
    said.push(`decides ${((100 * stage.weights[place]) / Math.max(all, 1)).toFixed(1)} % of the features`);
  }
  if (stage.weights && colouring === "votes") said.push(`${(100 * stage.weights[place]).toFixed(0)} % of the votes`);
  if (stage.data.seen) said.push(place < stage.data.seen ? "the model sees it" : "not shown to the model");
  return said;
}

function spoken(stage) {
  const { title, transform } = stage.data;
  const count = (stage.points.length / 3).toLocaleString("en");
  const words = transform.labels.map((label, place) => `${label} ${short(stage.pose.values[place] ?? 0)}${transform.marks[place]}`);
  const moved = stage.apart > 0.004 ? ` Points moved by up to ${short(stage.apart)}.` : " Nothing has moved.";
  return `${title}, ${count} points. ${transform.name}: ${words.join(", ")}.${moved} Arrow keys turn the view, plus and minus zoom, Home goes back.`;
}

export const legend = { range, lines, ofPoint, spoken };
