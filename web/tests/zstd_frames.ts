// Frames of zstd for tests.

const MAGIC = 0xfd2fb528;
const MOST_BLOCK = 1 << 17;

/** A frame of zstd whose blocks are not compressed. */
export function rawZstdFrame(bytes: Uint8Array): Uint8Array {
  const count = Math.max(1, Math.ceil(bytes.length / MOST_BLOCK));
  const frame = new Uint8Array(13 + 3 * count + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  frame[4] = 0xe0; // the size of the content follows in 8 bytes, and is that of the window
  view.setBigUint64(5, BigInt(bytes.length), true);
  let at = 13;
  for (let block = 0; block < count; ++block) {
    const part = bytes.subarray(block * MOST_BLOCK, (block + 1) * MOST_BLOCK);
    const head = part.length * 8 + (block === count - 1 ? 1 : 0);
    frame[at] = head & 255;
    view.setUint16(at + 1, head >>> 8, true);
    frame.set(part, at + 3);
    at += 3 + part.length;
  }
  return frame;
}
