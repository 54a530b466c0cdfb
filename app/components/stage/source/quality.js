// How fine a picture may be: as fine as fits into a frame while something moves, and as fine as the screen at rest.

const SLOW = 30; // ms between frames that is too much
const LEAST = 0.55;

let software;
export function isSoftware() {
  if (software === undefined) {
    const gl = document.createElement("canvas").getContext("webgl");
    const names = gl?.getExtension("WEBGL_debug_renderer_info");
    software = /swiftshader|llvmpipe|software/i.test(names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "");
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return software;
}

export class Quality {
  constructor() {
    const screen = Math.min(window.devicePixelRatio || 1, 2);
    // A processor that stands in for a graphics card has no antialiasing: at rest it draws four pixels for one.
    this.best = isSoftware() ? 2 : screen;
    this.quick = isSoftware() ? 1 : screen;
    this.most = this.quick;
    this.budget = Infinity;
  }

  ratio(moving) {
    return moving ? this.quick : this.best;
  }

  // Frames in a row while something moves say what this machine can do.
  watch(now, moving) {
    const gap = now - (this.last ?? -1e4);
    this.last = now;
    if (!moving || gap > 250) return;
    this.mean = this.mean === undefined ? gap : 0.7 * this.mean + 0.3 * gap;
    if (this.mean > SLOW) {
      if (this.quick > LEAST * this.most) this.quick = Math.max(LEAST * this.most, this.quick * 0.85);
      else this.budget = Math.max(2048, Math.min(this.budget, 100_000) / 1.5);
      this.mean = undefined;
    } else if (this.mean < 0.6 * SLOW) {
      this.budget *= 1.05;
      this.quick = Math.min(this.most, this.quick * 1.02);
    }
  }
}
