// Numbers on their way from Python: typed arrays in base64, as app/figures/arrays.py packs them.

const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array, i1: Int8Array };

export function unpacked(packed) {
  if (!packed) return null;
  const text = atob(packed.bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new KINDS[packed.dtype](bytes.buffer);
}
