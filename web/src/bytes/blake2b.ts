// BLAKE2b (RFC 7693) without a key. 64-bit words are pairs of 32-bit ones, the lower first.

/** A hash of bytes that come in pieces. */
export interface Blake2b {
  update(bytes: Uint8Array): void;
  /** The hash; nothing may be added afterwards. */
  digest(): Uint8Array;
}

/** Starts a hash of so many bytes, 64 at most. */
export function startBlake2b(hashBytes: number): Blake2b {
  const state = IV.slice();
  state[0]! ^= 0x01010000 ^ hashBytes;
  const block = new Uint8Array(BLOCK_BYTES);
  let filled = 0;
  let total = 0; // bytes that were compressed
  return {
    update: (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        // The last block is compressed by digest(), so a full one waits until more comes.
        if (filled === BLOCK_BYTES) {
          total += BLOCK_BYTES;
          compress(state, block, total, false);
          filled = 0;
        }
        const part = bytes.subarray(at, at + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        at += part.length;
      }
    },
    digest: () => {
      block.fill(0, filled);
      compress(state, block, total + filled, true);
      return new Uint8Array(state.buffer, 0, hashBytes).slice();
    },
  };
}

const BLOCK_BYTES = 128;
const IV = Int32Array.of(
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
);
// Which words of the message each round takes.
const SIGMA = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
  "0123456789abcdef",
  "ea489fd61c02b753",
].map((round) => Uint8Array.from(round, (digit) => 2 * parseInt(digit, 16)));

const V = new Int32Array(32);
const M = new Int32Array(32);

function compress(state: Int32Array, block: Uint8Array, total: number, isLast: boolean): void {
  const view = new DataView(block.buffer);
  for (let i = 0; i < 32; ++i) M[i] = view.getInt32(4 * i, true);
  V.set(state);
  V.set(IV, 16);
  V[24]! ^= total;
  V[25]! ^= Math.floor(total / 2 ** 32);
  if (isLast) {
    V[28]! ^= -1;
    V[29]! ^= -1;
  }
  for (const words of SIGMA) {
    mix(0, 8, 16, 24, words[0]!, words[1]!);
    mix(2, 10, 18, 26, words[2]!, words[3]!);
    mix(4, 12, 20, 28, words[4]!, words[5]!);
    mix(6, 14, 22, 30, words[6]!, words[7]!);
    mix(0, 10, 20, 30, words[8]!, words[9]!);
    mix(2, 12, 22, 24, words[10]!, words[11]!);
    mix(4, 14, 16, 26, words[12]!, words[13]!);
    mix(6, 8, 18, 28, words[14]!, words[15]!);
  }
  for (let i = 0; i < 16; ++i) state[i]! ^= V[i]! ^ V[i + 16]!;
}

/** Mixes two words of the message into four of the state. */
function mix(a: number, b: number, c: number, d: number, x: number, y: number): void {
  let [al, ah, bl, bh] = [V[a]!, V[a + 1]!, V[b]!, V[b + 1]!];
  let [cl, ch, dl, dh] = [V[c]!, V[c + 1]!, V[d]!, V[d + 1]!];
  let low = (al >>> 0) + (bl >>> 0) + (M[x]! >>> 0);
  ah = (ah + bh + M[x + 1]! + ((low / 2 ** 32) | 0)) | 0;
  al = low | 0;
  [dl, dh] = [dh ^ ah, dl ^ al]; // turned by 32 bits
  low = (cl >>> 0) + (dl >>> 0);
  ch = (ch + dh + ((low / 2 ** 32) | 0)) | 0;
  cl = low | 0;
  [bl, bh] = [bl ^ cl, bh ^ ch];
  [bl, bh] = [(bl >>> 24) | (bh << 8), (bh >>> 24) | (bl << 8)];
  low = (al >>> 0) + (bl >>> 0) + (M[y]! >>> 0);
  ah = (ah + bh + M[y + 1]! + ((low / 2 ** 32) | 0)) | 0;
  al = low | 0;
  [dl, dh] = [dl ^ al, dh ^ ah];
  [dl, dh] = [(dl >>> 16) | (dh << 16), (dh >>> 16) | (dl << 16)];
  low = (cl >>> 0) + (dl >>> 0);
  ch = (ch + dh + ((low / 2 ** 32) | 0)) | 0;
  cl = low | 0;
  [bl, bh] = [bl ^ cl, bh ^ ch];
  V[a] = al;
  V[a + 1] = ah;
  V[b] = (bh >>> 31) | (bl << 1);
  V[b + 1] = (bl >>> 31) | (bh << 1);
  V[c] = cl;
  V[c + 1] = ch;
  V[d] = dl;
  V[d + 1] = dh;
}
