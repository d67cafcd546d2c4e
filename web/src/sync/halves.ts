/** 16-bit floats, little-endian, as 32-bit ones. */
export function floatsOf(halves: Uint8Array): Float32Array {
  const view = new DataView(halves.buffer, halves.byteOffset, halves.byteLength);
  return Float32Array.from({ length: halves.length >> 1 }, (_, i) => floatOf(view.getUint16(2 * i, true)));
}

function floatOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, rest] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0x1f) return rest ? NaN : sign * Infinity;
  return exponent === 0 ? sign * rest * 2 ** -24 : sign * (1024 + rest) * 2 ** (exponent - 25);
}
