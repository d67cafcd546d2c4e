// The texts of a segment: one stream, cut into blocks that are packed each for itself. The core says where
// they are; here they are read, wherever they lie.
import { crc32, crc32c } from "../bytes/hashes.ts";
import type { ByteSource } from "../bytes/source.ts";
import { readMany } from "../bytes/source.ts";
import { unzstd } from "../bytes/zstd.ts";
import type { BlockReader, Blocks } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import type { Span } from "../records.ts";

/** Texts open for reading: a block is checked when it is read. */
export interface Texts {
  readonly length: number; // bytes of text
  /** Many spans at once, in the order asked for; Damaged if one is not there or its checksum does not fit. */
  readMany(spans: readonly Span[], signal?: AbortSignal): Promise<Uint8Array[]>;
}

/** The texts of a segment, whose blocks lie one behind the other in a source. */
export function openTexts(source: ByteSource, blocks: Blocks, checksumOf = crc32c): Texts {
  const table = tableOf(blocks);
  const known = new Map<number, Uint8Array>(); // the last ones used, oldest first

  const load = async (numbers: readonly number[], signal?: AbortSignal): Promise<Uint8Array[]> => {
    const packed = await readMany(source, numbers.map((number) => rangeOf(table, number)), signal);
    return numbers.map((number, i) => {
      const bytes = packed[i] as Uint8Array;
      if (checksumOf(bytes) !== blocks[COLUMNS * number + 2]) throw damaged(`block ${number} is damaged`);
      if (blocks[COLUMNS * number + 3] === 0) return bytes;
      return unzstd(bytes, blocks[COLUMNS * number] as number, `block ${number} of the texts`);
    });
  };
  return {
    length: table.starts.at(-1) as number,
    readMany: async (spans, signal) => {
      const needed = new Map<number, Uint8Array | null>();
      for (const span of spans) {
        for (const number of blocksIn(span, table)) needed.set(number, known.get(number) ?? null);
      }
      const missing = [...needed].filter(([, block]) => block === null).map(([number]) => number);
      const loaded = await load(missing, signal);
      missing.forEach((number, i) => needed.set(number, loaded[i] as Uint8Array));
      for (const [number, block] of needed) remember(known, number, block as Uint8Array);
      return spans.map((span) => cut(span, table, (number) => needed.get(number) as Uint8Array));
    },
  };
}

/** The same of a file of version 1, which says itself where its blocks are. */
export async function openOldTexts(
  source: ByteSource,
  reader: BlockReader,
  signal?: AbortSignal,
): Promise<Texts> {
  if (source.size < OLD_HEADER_BYTES + OLD_TRAILER_BYTES) throw damaged("they are too short");
  const trailer = await source.read(source.size - OLD_TRAILER_BYTES, OLD_TRAILER_BYTES, signal);
  const count = new DataView(trailer.buffer, trailer.byteOffset).getUint32(8, true);
  const tailBytes = OLD_TRAILER_BYTES + OLD_ROW_BYTES * count;
  if (tailBytes > source.size - OLD_HEADER_BYTES) throw damaged("they have parts that do not fit together");
  const at = source.size - tailBytes;
  const [head, tail] = (await readMany(
    source,
    [{ at: 0, length: OLD_HEADER_BYTES }, { at, length: tailBytes }],
    signal,
  )) as [Uint8Array, Uint8Array];
  const blocks = reader.oldBlocks(head, tail, source.size);
  const read: ByteSource["read"] = (from, length, wish) => source.read(OLD_HEADER_BYTES + from, length, wish);
  return openTexts({ size: at - OLD_HEADER_BYTES, read, close: () => undefined }, blocks, crc32);
}

const COLUMNS = 4; // of Blocks
const MOST_CACHED_BYTES = 1 << 20;
const OLD_HEADER_BYTES = 24;
const OLD_TRAILER_BYTES = 16;
const OLD_ROW_BYTES = 8;

/** Where each block begins: in the text, and among what is packed. Both have one more, for the end. */
interface BlockTable {
  readonly starts: Float64Array;
  readonly places: Float64Array;
}

function tableOf(blocks: Blocks): BlockTable {
  const count = blocks.length / COLUMNS;
  const [starts, places] = [new Float64Array(count + 1), new Float64Array(count + 1)];
  for (let i = 0; i < count; ++i) {
    starts[i + 1] = (starts[i] as number) + (blocks[COLUMNS * i] as number);
    places[i + 1] = (places[i] as number) + (blocks[COLUMNS * i + 1] as number);
  }
  return { starts, places };
}

function rangeOf({ places }: BlockTable, number: number): { at: number; length: number } {
  const at = places[number] as number;
  return { at, length: (places[number + 1] as number) - at };
}

/** The blocks that hold a span; Damaged if there is no such text. */
function blocksIn([start, end]: Span, { starts }: BlockTable): number[] {
  if (!(start >= 0 && start <= end && end <= (starts.at(-1) as number))) {
    throw damaged(`there is no text ${start} to ${end}`);
  }
  let [low, high] = [0, starts.length - 1]; // the last block that begins at or before the start
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= start) low = middle;
    else high = middle;
  }
  const numbers: number[] = [];
  for (let number = low; start < end && (starts[number] as number) < end; ++number) numbers.push(number);
  return numbers;
}

function cut(span: Span, table: BlockTable, block: (number: number) => Uint8Array): Uint8Array {
  const [start, end] = span;
  const text = new Uint8Array(end - start);
  for (const number of blocksIn(span, table)) {
    const begin = table.starts[number] as number;
    const from = Math.max(start, begin);
    text.set(block(number).subarray(from - begin, end - begin), from - start);
  }
  return text;
}

function remember(known: Map<number, Uint8Array>, number: number, block: Uint8Array): void {
  known.delete(number);
  known.set(number, block);
  let bytes = [...known.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [oldest, { length }] of known) {
    if (bytes <= MOST_CACHED_BYTES || oldest === number) break;
    known.delete(oldest);
    bytes -= length;
  }
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `texts are damaged (${what}); get the index again, or add the files again`);
}
