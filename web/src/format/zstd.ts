import { decompress } from "fzstd";
import { GossamerError } from "../errors.ts";

/** Unpacks one frame of exactly `size` bytes; Damaged for anything else. */
export function unzstd(bytes: Uint8Array, size: number, what = "a frame"): Uint8Array {
  const out = decompress(bytes, new Uint8Array(size));
  if (out.length !== size) throw new GossamerError("Damaged", `${what} does not unpack`);
  return out;
}

/** A frame of zstd whose blocks are not compressed. */
export function rawZstdFrame(bytes: Uint8Array): Uint8Array {
  const most = 1 << 17;
  const count = Math.max(1, Math.ceil(bytes.length / most));
  const frame = new Uint8Array(13 + 3 * count + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  frame[4] = 0xe0; // the content's size in 8 bytes, which is the window too
  view.setBigUint64(5, BigInt(bytes.length), true);
  let at = 13;
  for (let block = 0; block < count; ++block) {
    const part = bytes.subarray(block * most, (block + 1) * most);
    const head = part.length * 8 + (block === count - 1 ? 1 : 0);
    frame[at] = head & 255;
    view.setUint16(at + 1, head >>> 8, true);
    frame.set(part, at + 3);
    at += 3 + part.length;
  }
  return frame;
}
const MAGIC = 0xfd2fb528;
