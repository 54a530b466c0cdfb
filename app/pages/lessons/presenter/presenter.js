// Previous, next, Present. One listener for keys, however often the component is drawn anew.

const TYPING = "input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=combobox], button";
const state = (window.__tpcPresenter ??= { emit: null, data: {} });
// The notes are in a window of their own, which the audience does not see; it asks, and is told which lesson is shown.
const channel = (window.__tpcLessonChannel ??= new BroadcastChannel("tpc-lessons"));
const tell = () => channel.postMessage({ lesson: state.data.lesson });
channel.onmessage = ({ data }) => data.ask && tell();

function go(what) {
  const { emit, data } = state;
  if (!emit) return;
  if (what === "notes") {
    window.open(`${location.pathname}?notes=yes`, "tpc-notes", "width=760,height=820");
    return;
  }
  if (what === "next" && data.last) return;
  if (what === "previous" && data.first) return;
  if (what === "present") document.documentElement.requestFullscreen?.().catch(() => {});
  if (what === "leave" && document.fullscreenElement) document.exitFullscreen();
  emit("go", { what, at: Date.now() });
}

function onKey(event) {
  if (!document.querySelector(".tpc-presenter") || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof Element && event.target.matches(TYPING);
  const what = { PageDown: "next", PageUp: "previous" }[event.key]
    ?? (typing ? null : { ArrowRight: "next", ArrowLeft: "previous", p: "present", n: "notes", " ": "step" }[event.key])
    ?? (event.key === "Escape" && state.data.presenting ? "leave" : null);
  if (!what) return;
  event.preventDefault();
  go(what === "present" && state.data.presenting ? "leave" : what);
}

if (!state.listening) {
  state.listening = true;
  window.addEventListener("keydown", onKey);
  // Escape out of full screen is eaten by the browser; the event that follows says so.
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && state.data.presenting) go("leave");
  });
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  state.emit = setTriggerValue;
  state.data = data;
  tell();
  const button = (what, label, title, disabled) => {
    const node = document.createElement("button");
    Object.assign(node, { type: "button", textContent: label, title, disabled });
    node.dataset.go = what;
    node.onclick = () => go(what);
    return node;
  };
  parentElement.querySelector(".tpc-presenter").replaceChildren(
    button("previous", "‹", data.words.previous, data.first),
    button("next", "›", data.words.next, data.last),
    button("notes", data.words.notes, data.words.notesHelp, false),
    data.presenting
      ? button("leave", data.words.leave, data.words.leaveHelp, false)
      : button("present", data.words.present, data.words.presentHelp, false),
  );
}
