// The hashes of the store, one place for each: the twin of python/gossamer/store/hashes.py.
import { encodeText } from "../text/text.ts";
import { startBlake2b } from "./blake2b.ts";

/** The checksum of a file's bytes: BLAKE2b of 16 bytes, in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return hexOf(blake2b(bytes, 16));
}

/** The same of bytes that come in pieces. */
export function startDigest(): { update(bytes: Uint8Array): void; bytes(): Uint8Array; hex(): string } {
  const state = startBlake2b(16);
  return { update: state.update, bytes: state.digest, hex: () => hexOf(state.digest()) };
}

/** Names an embedded text, or a question, in 16 bytes. */
function hashOfText(text: string | Uint8Array): Uint8Array {
  return blake2b(typeof text === "string" ? encodeText(text) : text, 16);
}

/** The 32 bits that a chunk keeps of its embedded text: it is only shown if they match. */
export function checkOf(text: string | Uint8Array): number {
  const hash = hashOfText(text);
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0, true);
}

/** 64 bits that tell the contents of files apart. */
export function hashOfBytes(bytes: Uint8Array): bigint {
  const hash = blake2b(bytes, 8);
  return new DataView(hash.buffer, hash.byteOffset).getBigUint64(0, true);
}

/** CRC-32 as zlib has it; `before` is that of the bytes before these. */
export function crc32(bytes: Uint8Array, before = 0): number {
  return crcOf(CRC32, bytes, before);
}

/** CRC-32C (Castagnoli); `before` is that of the bytes before these. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  return crcOf(CRC32C, bytes, before);
}

/** Bytes in hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function blake2b(bytes: Uint8Array, hashBytes: number): Uint8Array {
  const state = startBlake2b(hashBytes);
  state.update(bytes);
  return state.digest();
}

const CRC32 = makeTables(0xedb88320);
const CRC32C = makeTables(0x82f63b78);

/** Eight tables of 256 for eight bytes at a time, end to end. */
function makeTables(polynomial: number): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; ++byte) {
    let value = byte;
    for (let bit = 0; bit < 8; ++bit) value = (value >>> 1) ^ (value & 1 ? polynomial : 0);
    tables[byte] = value;
  }
  for (let at = 256; at < tables.length; ++at) {
    const value = tables[at - 256] as number;
    tables[at] = (value >>> 8) ^ (tables[value & 255] as number);
  }
  return tables;
}

function crcOf(t: Int32Array, bytes: Uint8Array, before: number): number {
  let crc = ~before;
  let at = 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      t[1792 + (low & 255)]! ^
      t[1536 + ((low >>> 8) & 255)]! ^
      t[1280 + ((low >>> 16) & 255)]! ^
      t[1024 + (low >>> 24)]! ^
      t[768 + (high & 255)]! ^
      t[512 + ((high >>> 8) & 255)]! ^
      t[256 + ((high >>> 16) & 255)]! ^
      t[high >>> 24]!;
  }
  for (; at < bytes.length; ++at) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
