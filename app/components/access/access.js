// Says every new verdict in a live region that is always there, and lets the keyboard reach what scrolls sideways.

const VERDICT = "[data-verdict]";
const SCROLLED = ".katex-display, [data-testid=stTable], pre";
const WATCHED = new WeakMap();

function watch(voice) {
  let [said, waiting] = ["", 0];
  const look = () => {
    waiting = 0;
    const now = [...document.querySelectorAll(VERDICT)].map((verdict) => verdict.textContent.trim()).join(" ");
    if (now && now !== said) voice.textContent = now;
    said = now || said;
    for (const part of document.querySelectorAll(SCROLLED)) {
      const wide = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
      if (wide && !part.hasAttribute("tabindex")) part.setAttribute("tabindex", "0");
    }
  };
  const later = () => (waiting ||= setTimeout(look, 200));
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => target !== voice)) later();
  });
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  addEventListener("resize", later);
  later();
  return () => {
    observer.disconnect();
    removeEventListener("resize", later);
    clearTimeout(waiting);
  };
}

export default function ({ parentElement }) {
  const voice = parentElement.querySelector("[data-tpc-voice]");
  if (!WATCHED.has(voice)) WATCHED.set(voice, watch(voice));
  return () => {
    if (document.contains(voice)) return; // an update, not the end
    WATCHED.get(voice)?.();
    WATCHED.delete(voice);
  };
}
