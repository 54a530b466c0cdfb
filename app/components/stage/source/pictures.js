// The picture as a file, and small ones of it for the rest of the page.

// A data URL of what is on the stage, drawn as well as can be.
export function pictured(stage, width, height, background) {
  stage.draw(false);
  const paper = document.createElement("canvas");
  Object.assign(paper, { width, height });
  const pen = paper.getContext("2d");
  if (background) {
    pen.fillStyle = background;
    pen.fillRect(0, 0, width, height);
  }
  const { canvas } = stage;
  const scale = Math.max(width / canvas.width, height / canvas.height);
  const [w, h] = [canvas.width * scale, canvas.height * scale];
  pen.drawImage(canvas, (width - w) / 2, (height - h) / 2, w, h);
  return paper.toDataURL("image/png");
}

export function save(stage) {
  const link = document.createElement("a");
  link.download = `${stage.data.filename}.png`;
  link.href = pictured(stage, 2 * stage.width, 2 * stage.height, stage.data.look.background);
  link.click();
}

// Frames of the page that ask for a picture of this stage's object: those of files and data sets have none of their own.
export function portraits(stage) {
  for (const frame of document.querySelectorAll(`[data-tpc-portrait="${stage.data.key}"]`)) {
    frame.style.backgroundImage = `url(${pictured(stage, 128, 128)})`;
    frame.textContent = "";
  }
}
