// Holds the numbers of objects for the stages that ask for them by digest; the last few, since pages change objects.

const KEPT = 8;

export default function ({ data }) {
  const scenes = (window.tpcScenes ||= new Map());
  const known = scenes.get(data.digest);
  scenes.delete(data.digest); // to the end of the row
  scenes.set(data.digest, known || data);
  if (scenes.size > KEPT) scenes.delete(scenes.keys().next().value);
  if (!known) document.dispatchEvent(new CustomEvent("tpc-scene", { detail: data.digest }));
}
