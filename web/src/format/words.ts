// The words of all chunks (section 35): which chunks hold a term, and how often (docs/format.md). The
// twin of python/gossamer/single/words.py.
import type { ByteSource } from "../bytes/source.ts";
import { readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import { crc32c } from "./hashes.ts";
import { byteReader, byteWriter } from "./varint.ts";
import { encodeText } from "./text.ts";

/** Where a term stands. */
export interface Postings {
  readonly term: string;
  readonly chunks: Uint32Array; // numbers, rising; empty for a term that is nowhere
  readonly counts: Uint32Array; // how often it stands in each
}

/** An open index of words. */
export interface Words {
  readonly chunks: number;
  /** The postings of each term, in the order asked for. */
  find(terms: readonly string[], signal?: AbortSignal): Promise<Postings[]>;
}

/** Opens an index of words: reads what tells where blocks of terms lie. */
export async function openWords(source: ByteSource, signal?: AbortSignal): Promise<Words> {
  const heads = await readHeads(source, signal);
  return {
    chunks: heads.chunks,
    find: async (terms, wish) => {
      const places = await findTerms(source, heads, terms.map(encodeText), wish);
      const found = places.filter((place) => place !== null);
      const lists = await readMany(source, found, wish);
      let next = 0;
      return terms.map((term, i) => {
        const place = places[i];
        return place ? unpackPostings(term, place, lists[next++], heads.chunks) : noPostings(term);
      });
    },
  };
}

/** Writes an index of words: postings by term, in any order; chunks rise within each. */
export function writeWords(chunks: number, postings: Iterable<Postings>): Uint8Array {
  const sorted = [...postings]
    .filter((list) => list.chunks.length > 0)
    .map((list) => ({ bytes: encodeText(list.term), list }))
    .sort((one, other) => compareBytes(one.bytes, other.bytes));
  const heads = byteWriter();
  const blocks = byteWriter();
  const lists = byteWriter();
  for (let first = 0; first < sorted.length; first += BLOCK_TERMS) {
    const at = lists.length;
    const block = packBlock(sorted.slice(first, first + BLOCK_TERMS), lists);
    const term = (sorted[first] as { bytes: Uint8Array }).bytes;
    heads.u32(blocks.length);
    heads.u32(crc32c(block));
    heads.u64(at);
    heads.varint(term.length);
    heads.bytes(term);
    blocks.bytes(block);
  }
  const packedHeads = heads.finish();
  const whole = byteWriter();
  whole.bytes(MAGIC);
  whole.u32(VERSION);
  whole.u32(chunks);
  whole.u32(sorted.length);
  whole.u32(Math.ceil(sorted.length / BLOCK_TERMS));
  whole.u64(lists.length);
  whole.u32(packedHeads.length);
  whole.u32(crc32c(packedHeads));
  for (const part of [packedHeads, blocks.finish(), lists.finish()]) whole.bytes(part);
  return whole.finish();
}

const MAGIC = new TextEncoder().encode("GSMWORDS");
const VERSION = 1;
const HEADER_BYTES = 40;
const BLOCK_TERMS = 128;
const LEAST_HEAD_BYTES = 17;
const FIRST_READ = 1 << 15;

interface Heads {
  readonly chunks: number;
  readonly terms: number;
  readonly blocksAt: number;
  readonly postingsAt: number;
  readonly blocks: readonly BlockHead[];
}

interface BlockHead {
  readonly at: number; // from the start of the file
  readonly length: number;
  readonly checksum: number;
  readonly postingsAt: number; // of its first term, from the start of the file
  readonly postingsEnd: number;
  readonly first: Uint8Array;
}

interface TermPlace {
  readonly at: number;
  readonly length: number;
  readonly count: number; // chunks
  readonly checksum: number;
}

async function readHeads(source: ByteSource, signal?: AbortSignal): Promise<Heads> {
  const start = await source.read(0, Math.min(source.size, FIRST_READ), signal);
  checkStart(start);
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const u32 = (at: number) => view.getUint32(at, true);
  const [chunks, terms, count, headBytes] = [u32(12), u32(16), u32(20), u32(32)];
  const postingsBytes = Number(view.getBigUint64(24, true));
  const blocksAt = HEADER_BYTES + headBytes;
  const postingsAt = source.size - postingsBytes;
  const isCountRight = count === Math.ceil(terms / BLOCK_TERMS) && headBytes >= count * LEAST_HEAD_BYTES;
  if (postingsAt < blocksAt || !isCountRight) {
    throw damaged("parts that do not fit together");
  }
  const heads =
    blocksAt <= start.length
      ? start.subarray(HEADER_BYTES, blocksAt)
      : await source.read(HEADER_BYTES, headBytes, signal);
  if (crc32c(heads) !== u32(36)) throw damaged("heads that do not match their checksum");
  const blocks = parseHeads(heads, count, { blocksAt, postingsAt, size: source.size });
  return { chunks, terms, blocksAt, postingsAt, blocks };
}

function checkStart(start: Uint8Array): void {
  if (!MAGIC.every((byte, i) => start[i] === byte)) {
    throw new GossamerError("NotGossamer", "these are no words of a Gossamer index");
  }
  if (start.length < HEADER_BYTES) throw new GossamerError("Truncated", "the words end within their header");
  const version = new DataView(start.buffer, start.byteOffset).getUint32(8, true);
  if (version === VERSION) return;
  throw new GossamerError(
    "UnknownVersion",
    `the words are of version ${version}, and this release reads ${VERSION}; use a newer release`,
  );
}

function parseHeads(
  heads: Uint8Array,
  count: number,
  { blocksAt, postingsAt, size }: { blocksAt: number; postingsAt: number; size: number },
): BlockHead[] {
  const reader = byteReader(heads, "the words");
  const raw = Array.from({ length: count }, () => {
    const [at, checksum, low, high] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
    return { at, checksum, postings: high * 2 ** 32 + low, first: reader.bytes(reader.varint()) };
  });
  return raw.map(({ at, checksum, postings, first }, i) => {
    const next = raw[i + 1];
    const end = next ? blocksAt + next.at : postingsAt;
    const head = {
      at: blocksAt + at,
      length: end - blocksAt - at,
      checksum,
      postingsAt: postingsAt + postings,
      postingsEnd: next ? postingsAt + next.postings : size,
      first,
    };
    const isRising = !next || compareBytes(first, next.first) < 0;
    const isBlockWithin = head.length >= 0 && end <= postingsAt;
    if (!isRising || !isBlockWithin || !(head.postingsAt <= head.postingsEnd && head.postingsEnd <= size)) {
      throw damaged("blocks that do not fit together");
    }
    return head;
  });
}

/** Where the postings of each term are; null for a term that is nowhere. */
async function findTerms(
  source: ByteSource,
  heads: Heads,
  terms: readonly Uint8Array[],
  signal?: AbortSignal,
): Promise<(TermPlace | null)[]> {
  const numbers = terms.map((term) => blockOf(heads.blocks, term));
  const needed = [...new Set(numbers)].filter((number) => number >= 0).sort((a, b) => a - b);
  const headAt = (number: number) => heads.blocks[number] as BlockHead;
  const packed = await readMany(source, needed.map(headAt), signal);
  const blockAt = new Map(needed.map((number, i) => [number, packed[i] as Uint8Array]));
  for (const [number, block] of blockAt) {
    if (crc32c(block) !== headAt(number).checksum) throw damaged("a block that does not match its checksum");
  }
  return numbers.map((number, i) => {
    if (number < 0) return null;
    const last = number === heads.blocks.length - 1;
    const count = last ? heads.terms - BLOCK_TERMS * number : BLOCK_TERMS;
    return findInBlock(blockAt.get(number) as Uint8Array, headAt(number), count, terms[i] as Uint8Array);
  });
}

/** The last block whose first term is not beyond this one; -1 if there is none. */
function blockOf(blocks: readonly BlockHead[], term: Uint8Array): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes((blocks[middle] as BlockHead).first, term) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function findInBlock(
  block: Uint8Array,
  head: BlockHead,
  count: number,
  wanted: Uint8Array,
): TermPlace | null {
  const reader = byteReader(block, "the words");
  let at = head.postingsAt;
  let term = new Uint8Array();
  for (let i = 0; i < count; ++i) {
    const shared = reader.varint();
    const rest = reader.bytes(reader.varint());
    if (shared > term.length) throw damaged("a term that shares more than there is");
    const next = new Uint8Array(shared + rest.length);
    next.set(term.subarray(0, shared));
    next.set(rest, shared);
    term = next;
    const chunks = reader.varint();
    const length = reader.varint();
    const place = { at, length, count: chunks, checksum: reader.u32() };
    at += length;
    // A posting takes a byte at least: no more chunks are believed than there are bytes.
    if (at > head.postingsEnd || chunks > length) throw damaged("postings that do not fit together");
    const order = compareBytes(term, wanted);
    if (order === 0) return place;
    if (order > 0) return null;
  }
  if (reader.at !== block.length) throw damaged("another number of terms than it says");
  return null;
}

function unpackPostings(
  term: string,
  place: TermPlace,
  bytes: Uint8Array | undefined,
  most: number,
): Postings {
  if (!bytes || crc32c(bytes) !== place.checksum) throw damaged("postings that do not match their checksum");
  const reader = byteReader(bytes, "the words");
  const chunks = new Uint32Array(place.count);
  const counts = new Uint32Array(place.count);
  let number = -1;
  for (let i = 0; i < place.count; ++i) {
    const value = reader.varint();
    number += Math.floor(value / 2) + 1;
    const count = value % 2 === 1 ? reader.varint() + 2 : 1;
    if (number >= most || count > 0xffffffff) throw damaged(`chunk ${number} of ${most}`);
    chunks[i] = number;
    counts[i] = count;
  }
  if (reader.at !== bytes.length) throw damaged("postings that are longer than they say");
  return { term, chunks, counts };
}

function packBlock(
  terms: readonly { bytes: Uint8Array; list: Postings }[],
  lists: ReturnType<typeof byteWriter>,
): Uint8Array {
  const block = byteWriter();
  let before: Uint8Array = new Uint8Array();
  for (const { bytes, list } of terms) {
    const shared = sharedBytes(before, bytes);
    const postings = packPostings(list);
    block.varint(shared);
    block.varint(bytes.length - shared);
    block.bytes(bytes.subarray(shared));
    block.varint(list.chunks.length);
    block.varint(postings.length);
    block.u32(crc32c(postings));
    lists.bytes(postings);
    before = bytes;
  }
  return block.finish();
}

function packPostings({ chunks, counts }: Postings): Uint8Array {
  const writer = byteWriter();
  let before = -1;
  chunks.forEach((chunk, i) => {
    const count = counts[i] ?? 1;
    writer.varint((chunk - before - 1) * 2 + (count > 1 ? 1 : 0));
    if (count > 1) writer.varint(count - 2);
    before = chunk;
  });
  return writer.finish();
}

function noPostings(term: string): Postings {
  return { term, chunks: new Uint32Array(), counts: new Uint32Array() };
}

function sharedBytes(one: Uint8Array, other: Uint8Array): number {
  const most = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < most && one[shared] === other[shared]) ++shared;
  return shared;
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const shared = sharedBytes(one, other);
  return (one[shared] ?? -1) - (other[shared] ?? -1);
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `the words of the index have ${what}; get the file again`);
}
