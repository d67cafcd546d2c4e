// The manifest is kept in two slots, written in turn: a cut leaves the slot before it as it was.
import { crc32c } from "../bytes/hashes.ts";

const MAGIC = 0x544c5347; // "GSLT"
const HEAD = 24;

/** A slot as it lies in storage: magic, CRC-32C of the rest, u64 turn, u64 length, the manifest. */
export function encodeSlot(turn: number, manifest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEAD + manifest.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setBigUint64(8, BigInt(turn), true);
  view.setBigUint64(16, BigInt(manifest.length), true);
  bytes.set(manifest, HEAD);
  view.setUint32(4, crc32c(bytes.subarray(8)), true);
  return bytes;
}

export interface Slot {
  readonly turn: number; // the larger one counts
  readonly manifest: Uint8Array;
}

/** What a slot holds; null unless all of it is there. */
export function decodeSlot(bytes: Uint8Array | null): Slot | null {
  if (!bytes || bytes.length < HEAD) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== crc32c(bytes.subarray(8))) return null;
  if (view.getBigUint64(16, true) !== BigInt(bytes.length - HEAD)) return null;
  return { turn: Number(view.getBigUint64(8, true)), manifest: bytes.slice(HEAD) };
}
