// SHA-256 and HMAC by the browser where it has it: pages that came by plain http from another machine have no
// crypto.subtle, and compute it here.

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** Whether a code is that of these bytes with this key, compared in constant time. */
export async function isSigned(
  bytes: Uint8Array,
  code: Uint8Array,
  token: string,
  subtle: SubtleCrypto | null = globalThis.crypto.subtle ?? null,
): Promise<boolean> {
  const key = new TextEncoder().encode(token);
  if (!subtle) return isEqual(hmacOf(bytes, key), code);
  // Browsers take no empty key. Keys are padded with zeros, so that one zero is the same key.
  const raw = key.length > 0 ? key : new Uint8Array(1);
  const imported = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const [own, content] = [code.slice(), bytes as Uint8Array<ArrayBuffer>];
  return subtle.verify("HMAC", imported, own, content);
}

/** The SHA-256 of bytes. */
export async function digestOf(
  bytes: Uint8Array,
  subtle: SubtleCrypto | null = globalThis.crypto.subtle ?? null,
): Promise<Uint8Array> {
  if (!subtle) return sha256([bytes]);
  return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

function hmacOf(bytes: Uint8Array, key: Uint8Array): Uint8Array {
  const padded = new Uint8Array(BLOCK_BYTES);
  padded.set(key.length > BLOCK_BYTES ? sha256([key]) : key);
  const inner = sha256([padded.map((byte) => byte ^ 0x36), bytes]);
  return sha256([padded.map((byte) => byte ^ 0x5c), inner]);
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  one.forEach((byte, i) => (difference |= byte ^ (other[i] ?? 0)));
  return difference === 0;
}

// The first 32 bits of the fractions of the cube and square roots of the first primes (FIPS 180-4).
const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter(isPrime);
const ROUNDS = Uint32Array.from(PRIMES, (prime) => fractionOf(Math.cbrt(prime)));
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)));

function isPrime(n: number): boolean {
  if (n < 2) return false;
  for (let divisor = 2; divisor * divisor <= n; ++divisor) if (n % divisor === 0) return false;
  return true;
}

function fractionOf(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

/** SHA-256 of pieces that follow each other; all but the last fill whole blocks. */
function sha256(pieces: readonly Uint8Array[]): Uint8Array {
  const state = START.slice();
  const words = new Uint32Array(BLOCK_BYTES);
  let length = 0;
  let rest = new Uint8Array(0);
  for (const piece of pieces) {
    length += piece.length;
    const whole = piece.length - (piece.length % BLOCK_BYTES);
    mix(state, words, piece, whole);
    rest = piece.slice(whole);
  }
  const end = new Uint8Array(rest.length + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES);
  end.set(rest);
  end[rest.length] = 0x80;
  new DataView(end.buffer).setBigUint64(end.length - 8, BigInt(length) * 8n);
  mix(state, words, end, end.length);
  const digest = new DataView(new ArrayBuffer(DIGEST_BYTES));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

function mix(state: Uint32Array, words: Uint32Array, bytes: Uint8Array, size: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < size; at += BLOCK_BYTES) {
    for (let i = 0; i < 16; ++i) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; ++i) {
      const [far, near] = [words[i - 15]!, words[i - 2]!];
      const one = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
      const other = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
      words[i] = words[i - 16]! + one + words[i - 7]! + other;
    }
    mixBlock(state, words);
  }
}

function mixBlock(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number, number, number, number, number, number, number, number,
  ];
  for (let i = 0; i < 64; ++i) {
    const choice = (e & f) ^ (~e & g);
    const upper = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + upper + choice + ROUNDS[i]! + words[i]!) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = state[i]! + word));
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
