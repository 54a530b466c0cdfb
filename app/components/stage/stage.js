// The place of a stage on the page. The stage itself is a bundle of three.js and source/, fetched once by name.

function bundle(name) {
  window.tpcStage ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`app/static/${name}`, document.baseURI).href;
    script.onload = () => resolve(window.TpcStage);
    script.onerror = () => reject(new Error("the stage could not be loaded; reload the page"));
    document.head.appendChild(script);
  });
  return window.tpcStage;
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".tpc-stage");
  const host = root.querySelector(".tpc-stage-canvas");
  host.style.height = data.height; // at once: what is below must not jump
  host.style.background = data.look.backdrop;
  if (data.poster) {
    const wait = root.querySelector(".tpc-stage-wait");
    wait.classList.add("tpc-stage-poster");
    wait.style.backgroundImage = `url("${new URL(`app/static/${data.poster}`, document.baseURI).href}")`;
  }
  let [ended, end] = [false, null];
  bundle(data.bundle)
    .then((stage) => {
      if (ended) return;
      end = stage.mount(component);
      const canvas = host.querySelector("canvas"); // it says more once it has come to rest
      if (canvas && !canvas.hasAttribute("aria-label")) canvas.setAttribute("aria-label", data.title);
    })
    .catch((error) => {
      root.querySelector(".tpc-stage-note").textContent = String(error.message || error);
    });
  return () => {
    ended = true;
    end?.();
  };
}
