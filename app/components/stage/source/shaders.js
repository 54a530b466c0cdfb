// The shaders. Whatever is drawn passes through tpcMove, the transform's own lines of GLSL, so that a pose is a few
// uniforms and never a new array of points. Colours are worked out as screens show them: nothing converts them later.

const IDENTITY = "vec3 tpcMove(vec3 p) { return p; }";

// `source` is what tpc_core.transforms.shader wrote; without it the server sends moved points, as an attribute.
const moving = (source) => (source ? `${source}\n#define MOVED(p) tpcMove(p)` : `in vec3 served;\n${IDENTITY}\n#define MOVED(p) served`);

const DEPTH = `
uniform vec3 fog; uniform vec2 fogRange; uniform float fogStrength;
vec3 withDepth(vec3 colour, float depth) {
  return mix(colour, fog, fogStrength * smoothstep(fogRange.x, fogRange.y, depth));
}`;

const RAMP = `
uniform sampler2D ramp; uniform vec2 rampRange;
vec3 graded(float value) { return texture(ramp, vec2(clamp((value - rampRange.x) / (rampRange.y - rampRange.x), 0.0, 1.0), 0.5)).rgb; }`;

export const POINTS = {
  vertex: (source) => `
${moving(source)}
uniform float radius; uniform float screen; uniform int seen; uniform int mode; uniform vec3 plain; uniform float still;
uniform vec3 palette[8]; uniform float strongest; uniform float others;
${RAMP}
in float part; in float weight;
out vec3 colour; out float depth; out float soft;
void main() {
  vec3 moved = still > 0.5 ? position : MOVED(position);
  vec4 eye = modelViewMatrix * vec4(moved, 1.0);
  bool first = gl_VertexID < seen;
  float size = radius * (first ? 1.0 : others);
  if (mode == 0) colour = plain;
  else if (mode == 1) colour = graded(moved.z);
  else if (mode == 2) colour = graded(distance(moved, position));
  else if (mode == 3) colour = palette[int(part) & 7];
  else {
    float share = weight / max(strongest, 1e-9);
    colour = weight > 0.0 ? graded(share) : plain;
    size *= weight > 0.0 ? 0.9 + 0.9 * sqrt(share) : 0.6;
  }
  depth = -eye.z;
  gl_Position = projectionMatrix * eye;
  gl_PointSize = max(1.5, size * screen / gl_Position.w);
  // A ball stands in front of the surface it lies on by its radius.
  gl_Position.z -= 2.0 * size / max(depth, 0.1) * gl_Position.w * 0.1;
  soft = gl_PointSize < 3.0 ? 0.0 : 1.0;
}`,
  fragment: `
precision highp float;
${DEPTH}
uniform float alpha; uniform float contrast;
in vec3 colour; in float depth; in float soft;
out vec4 picture;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float off = dot(at, at);
  if (off > 1.0) discard;
  vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - off));
  float light = dot(normal, normalize(vec3(-0.4, 0.6, 0.7)));
  float shade = mix(1.0, 0.62 + 0.42 * max(light, 0.0) - 0.22 * smoothstep(0.55, 1.0, off), soft * contrast);
  vec3 lit = colour * shade + soft * contrast * 0.34 * pow(max(light, 0.0), 18.0);
  picture = vec4(withDepth(lit, depth), alpha);
}`,
};

export const SURFACE = {
  vertex: (source) => `
${source || IDENTITY}
uniform float still; uniform int mode;
out vec3 side; out vec3 upright; out float depth; out float value;
vec3 placed(vec3 p) { return still > 0.5 ? p : tpcMove(p); }
void main() {
  vec3 moved = placed(position);
  // How the transform turns the surface here: two small steps along it, moved as well.
  vec3 n = normalize(normal);
  vec3 t = normalize(cross(n, abs(n.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
  vec3 turned = still > 0.5 ? n : cross(placed(position + 0.01 * t) - moved, placed(position + 0.01 * cross(n, t)) - moved);
  upright = normalize(turned);
  side = normalize(mat3(modelViewMatrix) * upright);
  vec4 eye = modelViewMatrix * vec4(moved, 1.0);
  depth = -eye.z;
  value = mode == 2 ? distance(moved, position) : moved.z;
  gl_Position = projectionMatrix * eye;
}`,
  fragment: `
precision highp float;
${DEPTH}
${RAMP}
uniform vec3 clay; uniform vec3 shade; uniform float tint; uniform float glass;
in vec3 side; in vec3 upright; in float depth; in float value;
out vec4 picture;
void main() {
  vec3 n = normalize(side);
  vec3 up = normalize(upright);
  if (!gl_FrontFacing) { n = -n; up = -up; }
  if (glass > 0.0) {
    float rim = 1.0 - abs(n.z);
    picture = vec4(clay, glass * (0.08 + 0.75 * rim * rim));
    return;
  }
  float key = max(dot(n, normalize(vec3(-0.45, 0.5, 0.75))), 0.0);
  float sky = 0.5 + 0.5 * up.z;
  float light = 0.38 + 0.44 * key + 0.26 * sky;
  vec3 colour = mix(shade, clay, clamp(light, 0.0, 1.1));
  colour = mix(colour, graded(value) * (0.55 + 0.5 * light), tint);
  picture = vec4(withDepth(colour, depth), 1.0);
}`,
};

// From below: the lower a part of the object, the darker its shadow.
export const SHADOW = {
  vertex: (source, points) => `
${points ? moving(source) : `${source || IDENTITY}\n#define MOVED(p) tpcMove(p)`}
uniform float ground; uniform float splat;
out float height;
void main() {
  vec3 moved = MOVED(position);
  height = moved.z - ground;
  gl_Position = projectionMatrix * viewMatrix * vec4(moved, 1.0);
  gl_PointSize = splat;
}`,
  fragment: `
precision highp float;
in float height;
out vec4 picture;
void main() { picture = vec4(vec3(0.0), 1.0 - smoothstep(-0.1, 1.7, height)); }`,
};

export const BLUR = {
  vertex: `out vec2 at; void main() { at = position.xy * 0.5 + 0.5; gl_Position = vec4(position.xy, 0.0, 1.0); }`,
  fragment: `
precision highp float;
uniform sampler2D image; uniform vec2 along;
in vec2 at; out vec4 picture;
void main() {
  float sum = 0.0, all = 0.0;
  for (int i = -5; i <= 5; i += 1) {
    float share = exp(-float(i * i) / 12.0);
    sum += share * texture(image, at + float(i) * along).a;
    all += share;
  }
  picture = vec4(vec3(0.0), sum / all);
}`,
};

export const GROUND = {
  vertex: `out vec2 at; void main() { at = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
  fragment: `
precision highp float;
uniform sampler2D image; uniform vec3 floorColour; uniform float floorStrength; uniform vec3 shadowColour; uniform float shadowStrength;
in vec2 at; out vec4 picture;
void main() {
  float off = 2.0 * distance(at, vec2(0.5));
  float fade = 1.0 - smoothstep(0.15, 1.0, off);
  float dark = shadowStrength * texture(image, at).a * (1.0 - smoothstep(0.8, 1.0, off));
  float base = floorStrength * fade;
  float alpha = dark + base * (1.0 - dark);
  picture = vec4(mix(floorColour, shadowColour, dark / max(alpha, 1e-4)), alpha);
}`,
};
