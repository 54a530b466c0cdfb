// Explains marked words: on hover, on focus and on touch, in one box that stays inside the window. Escape closes it,
// and the pointer may go into it.

const TERM = ".tpc-term";
const AFTER = 120; // ms until the box goes, so that the pointer can reach it
const LISTENING = new WeakMap();

function listen(box) {
  let [shown, leaving] = [null, 0];
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    if (box.matches(":popover-open")) box.hidePopover();
  };
  const show = (term) => {
    const text = LISTENING.get(box).terms[term.dataset.term];
    clearTimeout(leaving);
    if (!text || term === shown) return;
    hide();
    shown = term;
    term.setAttribute("aria-describedby", box.id);
    box.textContent = text;
    box.showPopover();
    const at = term.getBoundingClientRect();
    const left = Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 8);
    const below = at.bottom + 6 + box.offsetHeight < window.innerHeight;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, below ? at.bottom + 6 : at.top - 6 - box.offsetHeight)}px`;
  };
  const over = ({ target }) => {
    const term = target.closest?.(TERM);
    if (term) show(term);
    else if (target === box) clearTimeout(leaving);
    else if (shown && shown !== document.activeElement) {
      clearTimeout(leaving);
      leaving = setTimeout(hide, AFTER);
    }
  };
  const press = ({ target }) => {
    const term = target.closest?.(TERM);
    if (term) show(term);
    else if (target !== box) hide();
  };
  const focus = ({ target }) => (target.matches?.(TERM) ? show(target) : hide());
  const key = ({ key: name }) => name === "Escape" && hide();
  const heard = { mouseover: over, pointerdown: press, focusin: focus, keydown: key, scroll: hide };
  for (const [name, handler] of Object.entries(heard)) document.addEventListener(name, handler, true);
  return () => Object.entries(heard).forEach(([name, handler]) => document.removeEventListener(name, handler, true));
}

export default function ({ data, parentElement }) {
  const box = parentElement.querySelector(".tpc-terms");
  const known = LISTENING.get(box);
  if (known) known.terms = data.terms;
  else {
    LISTENING.set(box, { terms: data.terms });
    LISTENING.get(box).end = listen(box);
  }
  return () => {
    if (document.contains(box)) return; // an update, not the end
    LISTENING.get(box)?.end();
    LISTENING.delete(box);
  };
}
