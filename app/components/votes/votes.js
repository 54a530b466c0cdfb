// Two answers in words, and for each class the base model's confidence (thin) beside the smoothed model's share of votes
// (thick). A colour says what an answer is, and the legend at the foot of the page says what a colour is.

const SHOWN = new WeakMap();

function element(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function answer({ who, says, mark, rest, meaning }, kind) {
  const line = element("div", `tpc-answer ${kind} ${meaning}`);
  line.append(element("i", ""), element("span", "", who), element("b", "", mark ? `${says} ${mark}` : says), element("span", "", rest));
  return line;
}

function bar(kind, share) {
  const track = element("div", `tpc-bar ${kind}`);
  const filled = element("span", "");
  filled.style.width = `${100 * share}%`;
  track.append(filled, element("em", "", `${(100 * share).toFixed(0)} %`));
  return track;
}

function draw(root, { part, stamp }) {
  const rows = part.rows.map(({ name, truth, base, smoothed, meaning }) => {
    const row = element("div", `tpc-class ${meaning}`);
    row.append(element("span", truth ? "tpc-name truth" : "tpc-name", (truth ? "★ " : "") + name));
    const pair = element("div", "tpc-pair");
    pair.append(bar("base", base), bar("smoothed", smoothed));
    row.append(pair);
    return row;
  });
  root.replaceChildren(answer(part.base, "base"), answer(part.smoothed, "smoothed"), ...rows);
  root.dataset.stamp = String(stamp);
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".tpc-votes");
  if (!SHOWN.has(root)) {
    const listen = ({ detail: { stamp, parts } }) => {
      const { key } = SHOWN.get(root);
      if (parts[key]) draw(root, { part: parts[key], stamp });
    };
    document.addEventListener("tpc-frame", listen);
    SHOWN.set(root, { key: data.key, listen });
  }
  draw(root, data);
  return () => {
    if (document.contains(root)) return;
    document.removeEventListener("tpc-frame", SHOWN.get(root).listen);
    SHOWN.delete(root);
  };
}
