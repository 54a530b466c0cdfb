// Keeps the address in step with the page, and copies it.

const SAID = 1600; // ms that "Copied" stays

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
  const button = parentElement.querySelector(".tpc-link");
  const url = address(data.query);
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
  button.dataset.query = data.query;
  button.title = data.note || "A link that opens this screen as it is";
  if (!button.textContent) button.textContent = "Copy link";
  button.onclick = async () => {
    await copied(address(button.dataset.query).href);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy link"), SAID);
  };
}
