// Zstandard (RFC 8878): frames whose size is known beforehand are unpacked. Time and memory are bounded by
// that size, whatever a frame says of itself. Frames with dictionaries are refused; checksums of contents
// are passed over: our files have their own.
import { GossamerError } from "../errors.ts";
import { broken, fseFrom, fseOf, huffmanFrom, readHuffman, reversedBits } from "./zstd_entropy.ts";
import type { Fse, Huffman } from "./zstd_entropy.ts";

/** Unpacks one frame of exactly `size` bytes; Damaged for anything else. */
export function unzstd(bytes: Uint8Array, size: number, what = "a packed part"): Uint8Array {
  try {
    return readFrame(bytes, size);
  } catch (error) {
    if (!(error instanceof GossamerError)) throw error;
    throw new GossamerError("Damaged", `${what} does not unpack: ${error.message}; get the index again`);
  }
}

const MAGIC = 0xfd2fb528;
const MOST_BLOCK = 1 << 17;

/** What one block leaves to the next. */
interface Frame {
  readonly out: Uint8Array;
  filled: number;
  readonly recent: [number, number, number]; // offsets of the last matches
  huffman: Huffman | null;
  readonly tables: [Fse | null, Fse | null, Fse | null]; // of literal lengths, offsets, match lengths
}

function readFrame(bytes: Uint8Array, size: number): Uint8Array {
  let at = checkHeader(bytes, size);
  const frame: Frame = {
    out: new Uint8Array(size),
    filled: 0,
    recent: [1, 4, 8],
    huffman: null,
    tables: [null, null, null],
  };
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) throw broken("no end");
    const head = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    isLast = (head & 1) === 1;
    const kind = (head >> 1) & 3;
    const length = head >>> 3;
    const end = at + 3 + (kind === 1 ? 1 : length);
    if (end > bytes.length || length > MOST_BLOCK) throw broken("a block that is cut off or too large");
    readBlock(frame, kind, bytes.subarray(at + 3, end), length);
    at = end;
  }
  const checksumBytes = bytes[4]! & 4;
  if (at + checksumBytes !== bytes.length) throw broken(`${bytes.length - at} bytes behind its end`);
  if (frame.filled !== size) throw broken(`${frame.filled} bytes where ${size} belong`);
  return frame.out;
}

/** Compares what a frame says of itself with what it should be; gives where its blocks begin. */
function checkHeader(bytes: Uint8Array, size: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 9 || view.getUint32(0, true) !== MAGIC) throw broken("no frame of zstd");
  const flags = bytes[4]!;
  const isSingle = (flags & 32) !== 0;
  if ((flags & 8) !== 0) throw broken("a flag that is not known");
  if ((flags & 3) !== 0) throw broken("a dictionary, which browsers do not read");
  const at = isSingle ? 5 : 6;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
  if (at + sizeBytes > bytes.length) throw broken("a header that is cut off");
  const stated = bytes.subarray(at, at + sizeBytes).reduceRight((value, byte) => value * 256 + byte, 0);
  if (sizeBytes > 0 && stated + (sizeBytes === 2 ? 256 : 0) !== size) {
    throw broken(`${stated} bytes where ${size} belong`);
  }
  return at + sizeBytes;
}

function readBlock(frame: Frame, kind: number, block: Uint8Array, length: number): void {
  if (kind === 3) throw broken("a block of no kind");
  if (kind === 2) {
    const [literals, at] = readLiterals(frame, block);
    readSequences(frame, block, at, literals);
    return;
  }
  const end = reserve(frame, length);
  if (kind === 0) frame.out.set(block, frame.filled);
  else frame.out.fill(block[0]!, frame.filled, end);
  frame.filled = end;
}

/** Where so many more bytes end; nothing is written beyond the size. */
function reserve(frame: Frame, count: number): number {
  if (count > frame.out.length - frame.filled) throw broken("more bytes than belong there");
  return frame.filled + count;
}

/** The literals of a block, and where its sequences begin. */
function readLiterals(frame: Frame, block: Uint8Array): [Uint8Array, number] {
  const first = block[0] ?? 0;
  const kind = first & 3;
  const format = (first >> 2) & 3;
  if (kind >= 2) return readCodedLiterals(frame, block, kind === 3, format);
  const headBytes = format === 1 ? 2 : format === 3 ? 3 : 1;
  const head = first | ((block[1] ?? 0) << 8) | ((block[2] ?? 0) << 16);
  const size = headBytes === 1 ? first >> 3 : (head & (2 ** (8 * headBytes) - 1)) >> 4;
  const end = headBytes + (kind === 1 ? 1 : size);
  if (size > MOST_BLOCK || end > block.length) throw broken("literals that are cut off");
  if (kind === 0) return [block.subarray(headBytes, end), end];
  return [new Uint8Array(size).fill(block[headBytes]!), end];
}

function readCodedLiterals(
  frame: Frame,
  block: Uint8Array,
  isSameCode: boolean,
  format: number,
): [Uint8Array, number] {
  const headBytes = [3, 3, 4, 5][format]!;
  const width = [10, 10, 14, 18][format]!;
  const head = block.subarray(0, headBytes).reduceRight((value, byte) => value * 256 + byte, 0);
  const size = Math.floor(head / 16) % 2 ** width;
  const end = headBytes + (Math.floor(head / 2 ** (4 + width)) % 2 ** width);
  if (size > MOST_BLOCK || end > block.length) throw broken("literals that are cut off");
  const coded = block.subarray(headBytes, end);
  let at = 0;
  if (!isSameCode) [frame.huffman, at] = huffmanFrom(coded, 0);
  if (!frame.huffman) throw broken("literals without a code");
  const literals = new Uint8Array(size);
  if (format === 0) readHuffman(frame.huffman, coded.subarray(at), literals);
  else readFourStreams(frame.huffman, coded.subarray(at), literals);
  return [literals, end];
}

function readFourStreams(code: Huffman, coded: Uint8Array, literals: Uint8Array): void {
  const part = (literals.length + 3) >> 2;
  if (coded.length < 6 || 3 * part > literals.length) throw broken("streams that are cut off");
  let at = 6;
  for (let stream = 0; stream < 4; ++stream) {
    const length = stream < 3 ? coded[2 * stream]! | (coded[2 * stream + 1]! << 8) : coded.length - at;
    if (length < 0 || at + length > coded.length) throw broken("streams that are cut off");
    const end = stream < 3 ? (stream + 1) * part : literals.length;
    readHuffman(code, coded.subarray(at, at + length), literals.subarray(stream * part, end));
    at += length;
  }
}

/** Reads what is copied from where, and does it. */
function readSequences(frame: Frame, block: Uint8Array, start: number, literals: Uint8Array): void {
  let at = start;
  const next = () => {
    if (at >= block.length) throw broken("sequences that are cut off");
    return block[at++]!;
  };
  let count = next();
  if (count === 255) count = next() + (next() << 8) + 0x7f00;
  else if (count > 127) count = ((count - 128) << 8) + next();
  if (count === 0) {
    if (at !== block.length) throw broken("bytes behind its literals");
    copyLiterals(frame, literals, 0, literals.length);
    return;
  }
  const modes = next();
  if ((modes & 3) !== 0) throw broken("a mode of no kind");
  for (const which of [0, 1, 2] as const) {
    at = readTable(frame, which, (modes >> (6 - 2 * which)) & 3, block, at);
  }
  runSequences(frame, block.subarray(at), count, literals);
}

/** Reads the table of one of the three numbers; gives where what follows begins. */
function readTable(frame: Frame, which: 0 | 1 | 2, mode: number, block: Uint8Array, at: number): number {
  const { log, symbols } = LIMITS[which];
  if (mode === 0) frame.tables[which] = DEFAULTS[which];
  if (mode === 1) {
    const symbol = block[at] ?? 255;
    if (symbol >= symbols) throw broken("a symbol that is not there");
    frame.tables[which] = fseOf([...new Array<number>(symbol).fill(0), 1], 0);
    return at + 1;
  }
  if (mode !== 2) return at;
  const [table, end] = fseFrom(block, at, { log, symbols });
  frame.tables[which] = table;
  return end;
}

function runSequences(frame: Frame, stream: Uint8Array, count: number, literals: Uint8Array): void {
  const [lengths, offsets, matches] = frame.tables;
  if (!lengths || !offsets || !matches) throw broken("sequences without a table");
  const bits = reversedBits(stream);
  let length = bits.read(lengths.log);
  let offset = bits.read(offsets.log);
  let match = bits.read(matches.log);
  let used = 0;
  for (let i = 0; i < count; ++i) {
    const offsetCode = offsets.symbols[offset]!;
    const value = 2 ** offsetCode + bits.read(offsetCode);
    const matchCode = matches.symbols[match]!;
    const matchLength = MATCH.bases[matchCode]! + bits.read(MATCH.bits[matchCode]!);
    const code = lengths.symbols[length]!;
    const literalLength = LITERAL.bases[code]! + bits.read(LITERAL.bits[code]!);
    if (literalLength > literals.length - used) throw broken("fewer literals than are used");
    copyLiterals(frame, literals, used, used + literalLength);
    used += literalLength;
    copyMatch(frame, distanceOf(frame, value, literalLength), matchLength);
    if (bits.left < 0) throw broken("sequences that are cut off");
    if (i === count - 1) break;
    length = lengths.bases[length]! + bits.read(lengths.bits[length]!);
    match = matches.bases[match]! + bits.read(matches.bits[match]!);
    offset = offsets.bases[offset]! + bits.read(offsets.bits[offset]!);
  }
  if (bits.left !== 0) throw broken("sequences that do not end where they should");
  copyLiterals(frame, literals, used, literals.length);
}

/** How far back a match lies: a new distance, or one of the last three. */
function distanceOf({ recent }: Frame, value: number, literalLength: number): number {
  if (value > 3) {
    recent[2] = recent[1];
    recent[1] = recent[0];
    recent[0] = value - 3;
    return value - 3;
  }
  const which = value - (literalLength > 0 ? 1 : 0);
  if (which === 0) return recent[0];
  const distance = which === 3 ? recent[0] - 1 : recent[which as 1 | 2];
  if (which > 1) recent[2] = recent[1];
  recent[1] = recent[0];
  recent[0] = distance;
  return distance;
}

function copyLiterals(frame: Frame, literals: Uint8Array, from: number, to: number): void {
  const { out, filled } = frame;
  const end = reserve(frame, to - from);
  if (to - from > FEW) out.set(literals.subarray(from, to), filled);
  else for (let at = filled; at < end; ++at) out[at] = literals[from + at - filled]!;
  frame.filled = end;
}

function copyMatch(frame: Frame, distance: number, length: number): void {
  const { out, filled } = frame;
  if (!(distance >= 1 && distance <= filled)) throw broken("a match from before its beginning");
  const end = reserve(frame, length);
  // A match may reach into itself: it is then copied from its front.
  if (length > FEW && distance >= length) out.copyWithin(filled, filled - distance, end - distance);
  else for (let at = filled; at < end; ++at) out[at] = out[at - distance]!;
  frame.filled = end;
}

const FEW = 64; // bytes that are copied one by one sooner than by a call

const LIMITS = [
  { log: 9, symbols: 36 },
  { log: 8, symbols: 32 },
  { log: 9, symbols: 53 },
] as const;

const repeated = (count: number, value: number) => new Array<number>(count).fill(value);
const LITERAL_SHARES = [4, 3, ...repeated(11, 2), 1, 1, 1, ...repeated(9, 2), 3, 2, ...repeated(5, 1)];
const OFFSET_SHARES = [...repeated(6, 1), 2, 2, 2, ...repeated(15, 1), ...repeated(5, -1)];
const MATCH_SHARES = [1, 4, 3, ...repeated(6, 2), ...repeated(37, 1), ...repeated(7, -1)];
const DEFAULTS: readonly [Fse, Fse, Fse] = [
  fseOf([...LITERAL_SHARES, ...repeated(4, -1)], 6),
  fseOf(OFFSET_SHARES, 5),
  fseOf(MATCH_SHARES, 6),
];

const LITERAL = lengthsOf([...repeated(16, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, ...from6(16)], 0);
const MATCH = lengthsOf([...repeated(32, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, ...from6(16).slice(1)], 3);

function from6(most: number): number[] {
  return Array.from({ length: most - 5 }, (_, i) => 6 + i);
}

/** Lengths by code: where the values of each begin, and how many bits say which it is. */
function lengthsOf(bits: readonly number[], first: number): { bits: Uint8Array; bases: Uint32Array } {
  const bases = new Uint32Array(bits.length);
  bits.reduce((base, width, code) => {
    bases[code] = base;
    return base + 2 ** width;
  }, first);
  return { bits: Uint8Array.from(bits), bases };
}
