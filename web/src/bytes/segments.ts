// What is kept of a remote file: blocks of it, in files that are written once. Layout of such a
// file, all numbers little-endian: "GSMBLOCK", u32 version 1, u32 bytes of a block, u64 size of the
// remote file, u32 blocks, u32 bytes of the origin, u32 CRC-32C of all before the blocks but itself;
// the origin (JSON: url, etag); for each block, rising, u32 number and u32 CRC-32C; the blocks.
import { crc32c } from "./hashes.ts";
import type { ByteSource } from "./source.ts";

const MAGIC = "GSMBLOCK";
const VERSION = 1;
const HEAD = 36;
const MOST_ORIGIN = 16 * 1024;

/** Which file, and which version of it. */
export interface Origin {
  readonly url: string;
  readonly etag: string;
  readonly size: number;
  readonly blockBytes: number;
}

export interface Segment {
  readonly origin: Origin;
  readonly numbers: readonly number[]; // of its blocks, rising
  /** Where a block lies in the file, how long it is and its CRC-32C; null if it is not here. */
  find(number: number): { at: number; length: number; crc: number } | null;
}

/** How many blocks a file has. */
export function blockCount({ size, blockBytes }: Origin): number {
  return Math.ceil(size / blockBytes);
}

/** How many bytes block `number` has: the last one may be shorter. */
export function blockLength(origin: Origin, number: number): number {
  return Math.min(origin.blockBytes, origin.size - number * origin.blockBytes);
}

/** The bytes of a segment with these blocks, in pieces. */
export function encodeSegment(origin: Origin, blocks: ReadonlyMap<number, Uint8Array>): Uint8Array[] {
  const numbers = [...blocks.keys()].sort((a, b) => a - b);
  const name = new TextEncoder().encode(JSON.stringify({ url: origin.url, etag: origin.etag }));
  const head = new Uint8Array(HEAD + name.length + 8 * numbers.length);
  const view = new DataView(head.buffer);
  head.set(new TextEncoder().encode(MAGIC));
  view.setUint32(8, VERSION, true);
  view.setUint32(12, origin.blockBytes, true);
  view.setBigUint64(16, BigInt(origin.size), true);
  view.setUint32(24, numbers.length, true);
  view.setUint32(28, name.length, true);
  head.set(name, HEAD);
  const parts = numbers.map((number, i) => {
    const bytes = blocks.get(number) as Uint8Array;
    view.setUint32(HEAD + name.length + 8 * i, number, true);
    view.setUint32(HEAD + name.length + 8 * i + 4, crc32c(bytes), true);
    return bytes;
  });
  view.setUint32(32, headChecksum(head), true);
  return [head, ...parts];
}

/** Reads what a segment holds; null if it is torn, damaged or no segment. */
export async function readSegment(source: ByteSource): Promise<Segment | null> {
  if (source.size < HEAD) return null;
  const start = await source.read(0, HEAD);
  const view = new DataView(start.buffer, start.byteOffset, HEAD);
  const magic = new TextDecoder().decode(start.subarray(0, 8));
  if (magic !== MAGIC || view.getUint32(8, true) !== VERSION) return null;
  const blockBytes = view.getUint32(12, true);
  const size = Number(view.getBigUint64(16, true));
  const count = view.getUint32(24, true);
  const nameBytes = view.getUint32(28, true);
  const headBytes = HEAD + nameBytes + 8 * count;
  if (nameBytes > MOST_ORIGIN || blockBytes === 0 || headBytes > source.size) return null;
  const head = await source.read(0, headBytes);
  if (headChecksum(head) !== view.getUint32(32, true)) return null;
  const name = JSON.parse(new TextDecoder().decode(head.subarray(HEAD, HEAD + nameBytes))) as Origin;
  const origin = { url: String(name.url), etag: String(name.etag), size, blockBytes };
  return makeSegment(origin, head.subarray(HEAD + nameBytes), headBytes, source.size);
}

function makeSegment(origin: Origin, table: Uint8Array, start: number, size: number): Segment | null {
  const view = new DataView(table.buffer, table.byteOffset, table.length);
  const places = new Map<number, { at: number; length: number; crc: number }>();
  let at = start;
  for (let i = 0; i < table.length; i += 8) {
    const number = view.getUint32(i, true);
    const length = blockLength(origin, number);
    if (length <= 0) return null;
    places.set(number, { at, length, crc: view.getUint32(i + 4, true) });
    at += length;
  }
  if (at !== size) return null;
  return { origin, numbers: [...places.keys()], find: (number) => places.get(number) ?? null };
}

function headChecksum(head: Uint8Array): number {
  return crc32c(head.subarray(HEAD), crc32c(head.subarray(0, HEAD - 4)));
}
