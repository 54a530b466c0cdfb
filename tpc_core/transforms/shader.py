"""A transform as a vertex shader: each part's own lines of GLSL, chained as a composition chains its parts."""

from __future__ import annotations

from tpc_core.transforms.base import Transform
from tpc_core.transforms.composition import parts_of

PRELUDE = """
// Cosine and sine to float precision (Cephes' polynomials): some drivers' own are good to a thousandth only.
vec2 tpcCosSin(float angle) {
  float quarter = floor(angle * 0.63661977236758 + 0.5);
  float r = ((angle - quarter * 1.5703125) - quarter * 4.837512969970703e-4) - quarter * 7.549789954891882e-8;
  float s = r * r;
  float sine = r + r * s * (-1.6666654611e-1 + s * (8.3321608736e-3 - s * 1.9515295891e-4));
  float cosine = 1.0 - 0.5 * s
    + s * s * (4.166664568298827e-2 + s * (-1.388731625493765e-3 + s * 2.443315711809948e-5));
  float turn = quarter - 4.0 * floor(quarter * 0.25);
  if (turn < 0.5) return vec2(cosine, sine);
  if (turn < 1.5) return vec2(-sine, cosine);
  if (turn < 2.5) return vec2(-cosine, -sine);
  return vec2(sine, -cosine);
}
vec2 tpcTurn(vec2 p, float angle) {
  vec2 t = tpcCosSin(angle);
  return vec2(t.x * p.x - t.y * p.y, t.y * p.x + t.x * p.y);
}
"""


def shader(transform: Transform) -> str | None:
    """GLSL (ES 3.0) of `vec3 tpcMove(vec3 p)`, which is phi(p, z); None where a part has no lines for a shader.

    `uniform float tpcPose[]` holds the pose in internal units (angles in radians), side by side as in z. The pose is
    z itself, or where `uniform bool tpcEdge` says so the values that a person set.
    """
    parts = parts_of(transform)
    functions, calls, start = "", [], 0
    for number, part in enumerate(parts):
        lines = part.glsl
        if lines is None:
            return None
        functions += f"vec3 tpcPart{number}(vec3 p, float z[{part.dim}]) {{ {lines} }}\n"
        taken = " ".join(f"z[{i}] = tpcPose[{start + i}];" for i in range(part.dim))
        edge = f"if (tpcEdge) {{ {part.glsl_from_edge} }}" if part.glsl_from_edge else ""
        calls.append(f"  {{ float z[{part.dim}]; {taken} {edge} p = tpcPart{number}(p, z); }}\n")
        start += part.dim
    body = "".join(reversed(calls))
    return (
        f"uniform float tpcPose[{start}];\nuniform bool tpcEdge;\n"
        f"{PRELUDE}{functions}vec3 tpcMove(vec3 p) {{\n{body}  return p;\n}}\n"
    )
