// The numbers of objects, by digest. They come in a message of their own (scene.js), so that no other change sends
// them again; here they are unpacked once.

import { unpacked } from "./arrays.js";

const OPENED = new WeakMap();

export function sceneOf(digest) {
  const raw = window.tpcScenes?.get(digest);
  if (!raw) return null;
  if (!OPENED.has(raw)) {
    const scene = { part_names: raw.part_names || [] };
    for (const name of ["points", "parts", "vertices", "normals", "faces", "flat_faces"]) scene[name] = unpacked(raw[name]);
    OPENED.set(raw, scene);
  }
  return OPENED.get(raw);
}
