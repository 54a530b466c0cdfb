// How fine a picture may be: as fine as fits into a frame while something moves, and as fine as the screen at rest.

const SLOW = 30; // ms between frames that is too much
const LEAST = 0.55;
const MANY = 8192; // points that are timed before they are drawn again and again
const SHARE = 14; // ms of a frame that points may take while something moves

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
    // ms without a change until the picture is drawn as well as can be: longer than a hand pauses where that takes long
    this.rest = isSoftware() ? 420 : 140;
    this.budget = Infinity;
  }

  // How many points fit into a frame is found out by drawing all of them once, to the end.
  calibrate(gl, count, draw) {
    if (count <= MANY || this.calibrated === count) return;
    this.calibrated = count;
    const pixel = new Uint8Array(4);
    const finish = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    const timed = () => {
      const start = performance.now();
      draw();
      finish();
      return performance.now() - start;
    };
    timed(); // the first one compiles
    const took = timed();
    this.budget = took > SHARE ? Math.max(MANY / 2, Math.round((count * SHARE) / took)) : Infinity;
  }

  ratio(moving, count) {
    if (moving) return this.quick;
    return count > 2 * MANY ? this.most : this.best; // many small points hide their edges by themselves
  }

  // Frames in a row while something moves say what this machine can do.
  watch(now, moving) {
    const gap = now - (this.last ?? -1e4);
    this.last = now;
    if (!moving || gap > 250) return;
    this.mean = this.mean === undefined ? gap : 0.7 * this.mean + 0.3 * gap;
    if (this.mean > SLOW) {
      this.quick = Math.max(LEAST * this.most, this.quick * 0.85);
      this.mean = undefined;
    } else if (this.mean < 0.6 * SLOW) {
      this.quick = Math.min(this.most, this.quick * 1.02);
    }
  }
}
