// A grid of pictures to choose from.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".tpc-thumbnails");
  const wanted = JSON.stringify(data);
  if (root.dataset.wanted === wanted) return;
  root.dataset.wanted = wanted;
  root.replaceChildren(
    ...data.items.map(({ name, title, picture, note, badge, tone }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = note || title;
      button.dataset.name = name;
      button.setAttribute("aria-pressed", String(name === data.selected));
      const image = document.createElement("img");
      image.src = new URL(picture, document.baseURI).href;
      image.alt = "";
      image.loading = "lazy";
      const label = document.createElement("span");
      label.textContent = title;
      button.append(image, label);
      if (badge) {
        const mark = document.createElement("b");
        mark.textContent = badge;
        mark.dataset.tone = tone || "plain";
        button.append(mark);
      }
      button.onclick = () => setTriggerValue("pick", name);
      return button;
    }),
  );
}
