const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);
const LEAST_NORMAL = 0x38800000; // 2^-14
const INFINITE = 0x47800000; // 2^16: what is rounded up to it is infinite

/** Rounds vectors to 16-bit floats, in place: as those that are kept are, so that whether a vector was
 * at hand makes no difference to a hit. Python's `as_kept`. */
export function roundToHalf(vectors: Float32Array): Float32Array {
  for (let i = 0; i < vectors.length; i += 1) vectors[i] = rounded(vectors[i] ?? 0);
  return vectors;
}

function rounded(value: number): number {
  FLOAT[0] = Math.abs(value);
  const bits = BITS[0] ?? 0;
  const sign = value < 0 || Object.is(value, -0) ? -1 : 1;
  if (bits < LEAST_NORMAL) return sign * halfToEven((FLOAT[0] ?? 0) * 2 ** 24) * 2 ** -24;
  // 13 of the bits go; halves to the even neighbor.
  BITS[0] = (bits + 0xfff + ((bits >>> 13) & 1)) & ~0x1fff;
  return (BITS[0] ?? 0) >= INFINITE ? sign * (Number.isNaN(value) ? NaN : Infinity) : sign * (FLOAT[0] ?? 0);
}

function halfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

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
