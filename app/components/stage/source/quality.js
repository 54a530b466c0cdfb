// How fine a picture may be: as fine as fits into a frame while something moves, and as fine as the screen at rest.

const LEVELS = [1, 0.85, 0.72, 0.62, 0.55]; // sides of a picture that moves, as shares of the finest one's
const SLOW = 14; // ms that are too much for a frame: the browser's own work and its next frame are to come
const FAST = 7; // ms that leave room for a finer picture
const SAMPLES = 5; // frames that say what a machine can do
const MANY = 8192; // points that are timed before they are drawn again and again
const SHARE = 14; // ms of a frame that points may take while something moves

let level = 0; // found out once for all stages of a page
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
    this.most = isSoftware() ? 1 : screen;
    this.samples = [];
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
    if (moving) return this.most * LEVELS[level];
    return count > 2 * MANY ? this.most : this.best; // many small points hide their edges by themselves
  }

  // How long a frame takes until the renderer has finished it says what this machine can do; how often frames come says
  // only how fast a hand moves.
  time(gl, start) {
    if (this.busy) return;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    this.busy = true;
    gl.flush();
    const look = () => {
      const took = performance.now() - start;
      const status = gl.clientWaitSync(fence, 0, 0);
      if (status === gl.TIMEOUT_EXPIRED && took < 1000) {
        setTimeout(look, 2);
        return;
      }
      gl.deleteSync(fence);
      this.busy = false;
      if (status !== gl.WAIT_FAILED) this.judge(took);
    };
    setTimeout(look, 2);
  }

  // The middle one of the last few counts: one that the page's other work held up says nothing.
  judge(took) {
    this.samples.push(took);
    if (this.samples.length < SAMPLES) return;
    const middle = this.samples.sort((a, b) => a - b)[Math.floor(SAMPLES / 2)];
    this.samples = [];
    if (middle > SLOW) level = Math.min(LEVELS.length - 1, level + 1);
    else if (middle < FAST) level = Math.max(0, level - 1);
  }
}
