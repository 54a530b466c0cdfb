// The pose that is drawn. Sliders and maps on the page are heard at once; the server's word counts where it set the
// pose itself (another epoch), and not where it only repeats what a slider said a moment ago.

export class Pose {
  constructor() {
    this.version = 0;
    this.shader = undefined;
    this.values = [];
    this.edge = true;
  }

  touch() {
    this.version += 1;
  }

  // The transform and the pose of a message of the server.
  take(transform, { values, epoch }) {
    const before = `${this.name}|${this.epoch}`;
    Object.assign(this, { name: transform.name, shader: transform.shader ?? null, units: transform.units, epoch });
    if (before === `${transform.name}|${epoch}`) return;
    this.set(values, true);
    this.base = { numbers: values, edge: true };
  }

  // An event of the page: {transform, values} or {transform, z}; neither of them goes back to the sliders' pose.
  hear({ transform, values, z, by }) {
    if (transform && transform !== this.name) return false;
    if (z) this.set(z, false);
    else if (values) this.set(values, true);
    else this.set(this.base.numbers, this.base.edge);
    if ((values || z) && (by === "sliders" || by === "pin")) this.base = { numbers: this.values, edge: this.edge };
    return true;
  }

  set(values, edge) {
    this.values = [...values];
    this.edge = edge;
    this.internal = Float32Array.from(values, (value, place) => value * (edge ? this.units[place] : 1));
    this.touch();
  }

  // The pose for the shaders; at rest it is the one that moves nothing.
  fill(uniforms, rest = false) {
    uniforms.tpcPose.value = rest ? new Float32Array(this.internal.length) : this.internal;
    uniforms.tpcEdge.value = this.edge;
  }
}
