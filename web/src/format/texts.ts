// Text segments: one stream of text, cut into blocks of equal length that are packed each for itself.
// The twin of python/gossamer/store/texts.py.
import { blocksOf, cutBlocks } from "../bytes/blocks.ts";
import { joinBytes } from "../bytes/join.ts";
import type { ByteRange, ByteSource } from "../bytes/source.ts";
import { readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import type { Span } from "../records.ts";
import { crc32 } from "./hashes.ts";
import { rawZstdFrame, unzstd } from "./zstd.ts";

/** A segment open for reading: its table was checked, a block is when it is read. */
export interface TextSegment {
  readonly length: number; // bytes of text
  /** The text from start to end; Damaged if it is not there or its checksum does not fit. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Many spans at once, in the order asked for. */
  readMany(spans: readonly Span[], signal?: AbortSignal): Promise<Uint8Array[]>;
  close(): void;
}

/** A segment in the making. */
export interface TextsWriter {
  /** Adds a text; gives the offset in the segment that it is read at. */
  add(text: Uint8Array): Promise<number>;
  /** Writes what is left. */
  finish(): Promise<void>;
}

/** Opens a segment; NotGossamer, UnknownVersion or Damaged for anything else. */
export async function openTexts(
  source: ByteSource,
  name = "the text store",
  signal?: AbortSignal,
): Promise<TextSegment> {
  const table = await readTable(source, name, signal);
  const blocks = new Map<number, Uint8Array>(); // the last ones used, oldest first

  const load = async (numbers: readonly number[], wish?: AbortSignal) => {
    const ranges = numbers.map((number) => rangeOf(table, number));
    const packed = await readMany(source, ranges, wish);
    return numbers.map((number, i) => unpackBlock(table, number, packed[i], name));
  };
  const readSpans = async (spans: readonly Span[], wish?: AbortSignal) => {
    const needed = new Map<number, Uint8Array | null>();
    for (const span of spans) {
      checkSpan(span, table, name);
    }
    for (const number of blocksOf(spans.map(rangeOfSpan), table.blockBytes)) {
      needed.set(number, blocks.get(number) ?? null);
    }
    const missing = [...needed].filter(([, block]) => block === null).map(([number]) => number);
    const loaded = await load(missing, wish);
    missing.forEach((number, i) => needed.set(number, loaded[i] as Uint8Array));
    for (const [number, block] of needed) remember(blocks, number, block as Uint8Array);
    const block = (number: number) => needed.get(number) as Uint8Array;
    return spans.map((span) => cutBlocks(rangeOfSpan(span), table.blockBytes, block));
  };
  return {
    length: table.length,
    read: async (start, end, wish) => (await readSpans([[start, end]], wish))[0] as Uint8Array,
    readMany: readSpans,
    close: () => {
      blocks.clear();
      source.close();
    },
  };
}

/** Writes a segment piece by piece. Blocks are zstd frames that are not compressed. */
export function textsWriter(write: (bytes: Uint8Array) => Promise<void>): TextsWriter {
  const head = headOf();
  const table: number[] = []; // bytes and checksum of each block
  let pending = new Uint8Array(BLOCK_BYTES);
  let filled = 0;
  let length = 0;
  let hasBegun = false;

  const writeBlock = async (block: Uint8Array) => {
    const frame = rawZstdFrame(block);
    table.push(frame.length, crc32(frame));
    await write(frame);
  };
  const begin = async () => {
    if (!hasBegun) await write(head);
    hasBegun = true;
  };
  return {
    add: async (text) => {
      await begin();
      const offset = length;
      length += text.length;
      for (let at = 0; at < text.length; ) {
        const part = text.subarray(at, at + BLOCK_BYTES - filled);
        pending.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < BLOCK_BYTES) continue;
        await writeBlock(pending);
        pending = new Uint8Array(BLOCK_BYTES);
        filled = 0;
      }
      return offset;
    },
    finish: async () => {
      await begin();
      if (filled > 0) await writeBlock(pending.subarray(0, filled));
      await write(tailOf(head, table, length));
    },
  };
}

/** A segment of these texts as bytes, and where each of them begins. */
export async function packTexts(
  texts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<{ bytes: Uint8Array; offsets: number[] }> {
  const parts: Uint8Array[] = [];
  const writer = textsWriter(async (bytes) => void parts.push(bytes.slice()));
  const offsets: number[] = [];
  for await (const text of texts) offsets.push(await writer.add(text));
  await writer.finish();
  return { bytes: joinBytes(parts), offsets };
}

const MAGIC = new TextEncoder().encode("GSMTEXTS");
const VERSION = 1;
const HEADER_BYTES = 24;
const TRAILER_BYTES = 16;
const ENTRY_BYTES = 8;
const BLOCK_BYTES = 1 << 13;
const MOST_BLOCK_BYTES = 1 << 20;
const MOST_CACHED_BYTES = 1 << 20;

/** What is known of a segment before a block of it is read. */
interface Table {
  readonly length: number;
  readonly blockBytes: number;
  readonly ends: Float64Array; // where each packed block ends in the file
  readonly entries: DataView; // bytes and checksum of each block
}

async function readTable(source: ByteSource, name: string, signal?: AbortSignal): Promise<Table> {
  if (source.size < HEADER_BYTES + TRAILER_BYTES) throw damaged(`${name} is too short for a text segment`);
  // Exports take some 0.3 % for the table; a larger one is fetched with a second read.
  const guess = Math.min(source.size - HEADER_BYTES, 4096 + Math.floor(source.size / 128));
  const [head, end] = (await readMany(
    source,
    [
      { at: 0, length: HEADER_BYTES },
      { at: source.size - guess, length: guess },
    ],
    signal,
  )) as [Uint8Array, Uint8Array];
  const blockBytes = checkHead(head, name);
  const trailer = viewOf(end.subarray(end.length - TRAILER_BYTES));
  const length = Number(trailer.getBigUint64(0, true));
  const count = trailer.getUint32(8, true);
  const tailBytes = TRAILER_BYTES + ENTRY_BYTES * count;
  if (tailBytes > source.size - HEADER_BYTES || count !== Math.ceil(length / blockBytes)) {
    throw damaged(`${name} has parts that do not fit together`);
  }
  const tail =
    tailBytes <= end.length
      ? end.subarray(end.length - tailBytes)
      : await source.read(source.size - tailBytes, tailBytes, signal);
  if (crc32(tail.subarray(0, -4), crc32(head)) !== trailer.getUint32(12, true)) {
    throw damaged(`the checksum of ${name} does not fit`);
  }
  const ends = endsOf(tail, count, source.size - tailBytes, name);
  return { length, blockBytes, entries: viewOf(tail), ends };
}

function checkHead(head: Uint8Array, name: string): number {
  const view = viewOf(head);
  if (!MAGIC.every((byte, i) => head[i] === byte)) {
    throw new GossamerError("NotGossamer", `${name} is no text segment`);
  }
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    throw new GossamerError(
      "UnknownVersion",
      `${name} is of version ${version}, and this release reads ${VERSION}; use the release that wrote it`,
    );
  }
  if (view.getUint32(16, true) !== 0 || view.getUint32(20, true) !== 0) {
    throw damaged(
      `${name} needs a dictionary, which browsers do not read; use a file that "gossamer export" wrote`,
    );
  }
  const blockBytes = view.getUint32(12, true);
  if (blockBytes > 0 && blockBytes <= MOST_BLOCK_BYTES) return blockBytes;
  throw damaged(`${name} has blocks of ${blockBytes} bytes, where 1 to ${MOST_BLOCK_BYTES} can be`);
}

function endsOf(tail: Uint8Array, count: number, tableAt: number, name: string): Float64Array {
  const view = viewOf(tail);
  const ends = new Float64Array(count);
  let end = HEADER_BYTES;
  for (let number = 0; number < count; ++number) {
    end += view.getUint32(ENTRY_BYTES * number, true);
    ends[number] = end;
  }
  if (end !== tableAt) throw damaged(`${name} has blocks that do not fit its length`);
  return ends;
}

function rangeOf(table: Table, number: number): ByteRange {
  const length = table.entries.getUint32(ENTRY_BYTES * number, true);
  return { at: (table.ends[number] as number) - length, length };
}

function unpackBlock(table: Table, number: number, packed: Uint8Array | undefined, name: string): Uint8Array {
  if (!packed || crc32(packed) !== table.entries.getUint32(ENTRY_BYTES * number + 4, true)) {
    throw damaged(`block ${number} of ${name} is damaged`);
  }
  const size = Math.min(table.blockBytes, table.length - number * table.blockBytes);
  return unzstd(packed, size, `block ${number} of ${name}`);
}

function checkSpan([start, end]: Span, table: Table, name: string): void {
  if (!(start >= 0 && start <= end && end <= table.length)) {
    throw damaged(`there is no text ${start} to ${end} in ${name}`);
  }
}

function rangeOfSpan([start, end]: Span): ByteRange {
  return { at: start, length: end - start };
}

function remember(blocks: Map<number, Uint8Array>, number: number, block: Uint8Array): void {
  blocks.delete(number);
  blocks.set(number, block);
  const most = Math.max(1, Math.floor(MOST_CACHED_BYTES / Math.max(1, block.length)));
  for (const oldest of blocks.keys()) {
    if (blocks.size <= most) break;
    blocks.delete(oldest);
  }
}

function headOf(): Uint8Array {
  const head = new Uint8Array(HEADER_BYTES);
  head.set(MAGIC);
  viewOf(head).setUint32(8, VERSION, true);
  viewOf(head).setUint32(12, BLOCK_BYTES, true);
  return head;
}

function tailOf(head: Uint8Array, table: readonly number[], length: number): Uint8Array {
  const tail = new Uint8Array(4 * table.length + TRAILER_BYTES);
  const view = viewOf(tail);
  table.forEach((number, i) => view.setUint32(4 * i, number, true));
  view.setBigUint64(4 * table.length, BigInt(length), true);
  view.setUint32(4 * table.length + 8, table.length / 2, true);
  view.setUint32(4 * table.length + 12, crc32(tail.subarray(0, -4), crc32(head)), true);
  return tail;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; get the index again, or add the files again`);
}
