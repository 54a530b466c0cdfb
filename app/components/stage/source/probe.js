// Where the points of the picture really are: the transform's shader, run once over the points, and read back.
// What is drawn and what is read come of the same lines of GLSL and the same uniforms.

export class Probe {
  constructor(renderer) {
    this.renderer = renderer;
    this.gl = renderer.getContext();
    this.forget();
  }

  // The context was lost, or the transform changed.
  forget() {
    this.program = null;
    this.source = undefined;
  }

  // Float32Array of the first `count` points, moved; null where no shader can say.
  positions(source, pose, edge, points, count) {
    const { gl } = this;
    if (gl.isContextLost()) return null;
    if (this.source !== source) this.build(source);
    if (this.points !== points || this.lost) this.fill(points);
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
    gl.useProgram(this.program);
    gl.uniform1fv(gl.getUniformLocation(this.program, "tpcPose"), pose);
    gl.uniform1i(gl.getUniformLocation(this.program, "tpcEdge"), edge ? 1 : 0);
    gl.bindVertexArray(this.array);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, this.feedback);
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, this.target);
    gl.enable(gl.RASTERIZER_DISCARD);
    gl.beginTransformFeedback(gl.POINTS);
    gl.drawArrays(gl.POINTS, 0, count);
    gl.endTransformFeedback();
    gl.disable(gl.RASTERIZER_DISCARD);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
    gl.bindVertexArray(null);
    const moved = new Float32Array(3 * count);
    gl.bindBuffer(gl.COPY_READ_BUFFER, this.target);
    gl.getBufferSubData(gl.COPY_READ_BUFFER, 0, moved);
    gl.bindBuffer(gl.COPY_READ_BUFFER, null);
    this.renderer.resetState();
    return moved;
  }

  build(source) {
    const { gl } = this;
    const head = "#version 300 es\nprecision highp float;\n";
    const vertex = `${head}layout(location = 0) in vec3 position;\nout vec3 moved;\n${source}\nvoid main() { moved = tpcMove(position); gl_Position = vec4(0.0); }`;
    const fragment = `${head}out vec4 none;\nvoid main() { none = vec4(0.0); }`;
    this.program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.transformFeedbackVaryings(this.program, ["moved"], gl.INTERLEAVED_ATTRIBS);
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(this.program));
    this.source = source;
    this.points = null;
  }

  fill(points) {
    const { gl } = this;
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    this.feedback = gl.createTransformFeedback();
    this.target = gl.createBuffer();
    gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, this.target);
    gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, points.byteLength, gl.DYNAMIC_READ);
    gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
    this.points = points;
  }
}
