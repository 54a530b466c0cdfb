// Keeps the address in step with the page, and copies it. The button hangs in the header, outside of the page's own
// boxes: one that Streamlit fades while it runs would slip below the header.

const SAID = 1600; // ms that "Copied" stays
const COLOURS = ["--st-text-color", "--st-background-color", "--st-border-color", "--st-primary-color", "--st-font"];
const BUTTONS = new WeakMap();

function address(query) {
  const url = new URL(window.location.href);
  const own = [...url.searchParams].filter(([name]) => name.startsWith("embed"));
  url.search = query;
  for (const [name, value] of own) url.searchParams.append(name, value);
  return url;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https the clipboard is closed: the old way still works.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".tpc-link-place");
  const url = address(data.query);
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
  let button = BUTTONS.get(root);
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    button.className = "tpc-link";
    button.textContent = "Copy link";
    document.querySelectorAll(".tpc-link").forEach((other) => other.remove());
    document.body.append(button);
    BUTTONS.set(root, button);
  }
  const style = getComputedStyle(parentElement);
  for (const name of COLOURS) button.style.setProperty(name, style.getPropertyValue(name));
  button.title = data.note || "A link that opens this screen as it is";
  button.onclick = async () => {
    await copied(address(data.query).href);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy link"), SAID);
  };
  return () => {
    if (document.contains(root)) return; // an update, not the end
    button.remove();
    BUTTONS.delete(root);
  };
}
