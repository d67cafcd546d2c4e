// The engine's file format: a header, a table of sections, and the sections (docs/format.md). The twin
// of core/storage/container.cpp, over bytes that may be far away.
import { crc32c } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import type { ByteRange, ByteSource } from "../bytes/source.ts";
import { readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";

/** Sections by number. Kinds 1 to 10 are the engine's, 32 to 63 the product's. */
export const SECTIONS = {
  meta: 1,
  codebook: 2,
  codes: 3,
  vectors: 4,
  hotNodes: 5,
  graph: 6,
  sourceGraph: 7,
  ids: 8,
  deleted: 9,
  calibration: 10,
  manifest: 32,
  oldCatalogue: 33, // of version 1, as the next
  oldTexts: 34,
  words: 35,
  model: 40,
  vocabulary: 41,
  table: 42,
  strings: 48,
  directory: 49,
  groups: 50,
  blockDirectory: 52,
  blocks: 53,
  gone: 54,
} as const;

/** What the catalogue of a single file's segment is read from. */
export const SINGLE_KINDS: readonly number[] = [
  SECTIONS.strings,
  SECTIONS.directory,
  SECTIONS.groups,
  SECTIONS.blockDirectory,
];
/** The same of a segment in a folder, which may take sources of others away. */
export const CATALOGUE_KINDS: readonly number[] = [...SINGLE_KINDS, SECTIONS.gone];

export interface SectionPlace {
  readonly at: number; // from the start of the file
  readonly length: number;
  readonly checksum: number; // CRC-32C
}

/** A file whose header and table were read and checked. */
export interface Container {
  readonly head: Uint8Array; // header and table of sections
  readonly fileSize: number;
  readonly kinds: readonly number[]; // in the order of the table
  sectionAt(kind: number): SectionPlace | null;
  /** A section whole; Damaged if its checksum does not fit, or if there is none. TooLarge, here and
   * below, if more than 2^30 bytes would come. */
  section(kind: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Sections that are there, read together; those that are not are left out. */
  sections(kinds: readonly number[], signal?: AbortSignal): Promise<Map<number, Uint8Array>>;
  /** A section as a source of its own, to be read in part; its checksum is not compared. Closing it
   * leaves the file open. Damaged if there is none. */
  slice(kind: number): ByteSource;
  close(): void;
}

/** Reads header and table of a file, together with all else within its first 64 KiB. */
export async function openContainer(source: ByteSource, signal?: AbortSignal): Promise<Container> {
  const first = await source.read(0, Math.min(source.size, FIRST_READ), signal);
  const places = parseHead(first, source.size);
  const place = (kind: number) => {
    const found = places.get(kind);
    if (!found) throw damaged(`the section of kind ${kind} is missing`);
    return found;
  };
  const cached = withStart(source, first);
  return {
    head: first.slice(0, HEADER_BYTES + ENTRY_BYTES * places.size),
    fileSize: source.size,
    kinds: [...places.keys()],
    sectionAt: (kind) => places.get(kind) ?? null,
    section: async (kind, wish) => {
      const { at, length } = place(kind);
      checkWhole([place(kind)]);
      return verified(kind, await cached.read(at, length, wish), place(kind));
    },
    sections: async (kinds, wish) => {
      const found = kinds.filter((kind) => places.has(kind));
      checkWhole(found.map(place));
      const parts = await readMany(cached, found.map(place), wish);
      return new Map(found.map((kind, i) => [kind, verified(kind, partAt(parts, i), place(kind))]));
    },
    slice: (kind) => sliceSource(cached, place(kind).at, place(kind).length),
    close: () => source.close(),
  };
}

/** A file of these sections, in this order. */
export function writeContainer(sections: readonly { kind: number; bytes: Uint8Array }[]): Uint8Array {
  return joinBytes(containerParts(sections));
}

/** The same as pieces that follow each other, so that large sections are not copied (for a Blob). */
export function containerParts(
  sections: readonly { kind: number; bytes: Uint8Array }[],
): Uint8Array<ArrayBuffer>[] {
  const described = sections.map(({ kind, bytes }) => ({
    kind,
    length: bytes.length,
    checksum: crc32c(bytes),
  }));
  const { head, gaps } = containerHead(described);
  return [
    head,
    ...sections.flatMap(({ bytes }, i) => [
      new Uint8Array(gaps[i] as number),
      bytes as Uint8Array<ArrayBuffer>,
    ]),
  ];
}

/** What stands before the sections of a file, and how many zeros before each. */
export function containerHead(sections: readonly { kind: number; length: number; checksum: number }[]): {
  head: Uint8Array<ArrayBuffer>;
  gaps: number[];
} {
  if (sections.length > MOST_SECTIONS) {
    const message = `a file has ${MOST_SECTIONS} sections at most, got ${sections.length}`;
    throw new GossamerError("TooLarge", message);
  }
  const head = new Uint8Array(HEADER_BYTES + ENTRY_BYTES * sections.length);
  const view = new DataView(head.buffer);
  let end = head.length;
  const gaps = sections.map(({ kind, length, checksum }, i) => {
    const at = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    const entry = HEADER_BYTES + ENTRY_BYTES * i;
    view.setUint32(entry, kind, true);
    view.setUint32(entry + 4, checksum, true);
    view.setBigUint64(entry + 8, BigInt(at), true);
    view.setBigUint64(entry + 16, BigInt(length), true);
    const gap = at - end;
    end = at + length;
    return gap;
  });
  MAGIC.forEach((byte, i) => (head[i] = byte));
  view.setUint32(8, VERSION, true);
  view.setUint32(12, sections.length, true);
  view.setBigUint64(16, BigInt(end), true);
  view.setUint32(24, crc32c(head.subarray(HEADER_BYTES)), true);
  view.setUint32(28, crc32c(head.subarray(0, 28)), true);
  return { head, gaps };
}

/** A part of a source as a source of its own; closing it leaves the source open. */
function sliceSource(source: ByteSource, from: number, size: number): ByteSource {
  const shifted = ({ at, length }: ByteRange): ByteRange => {
    if (!(at >= 0 && length >= 0 && at + length <= size)) {
      const message = `bytes ${at} to ${at + length} were wanted of ${size}; get the file again`;
      throw new GossamerError("Truncated", message);
    }
    return { at: from + at, length };
  };
  const slice: ByteSource = {
    size,
    read: async (at, length, signal) => source.read(shifted({ at, length }).at, length, signal),
    readMany: async (ranges, signal) => readMany(source, ranges.map(shifted), signal),
    close: () => undefined,
  };
  if (!source.readNow) return slice;
  const readNow = source.readNow.bind(source);
  return { ...slice, readNow: (at, into) => readNow(shifted({ at, length: into.length }).at, into) };
}

const MAGIC = new TextEncoder().encode("GOSSAMER");
const VERSION = 1;
const HEADER_BYTES = 64;
const ENTRY_BYTES = 32;
const ALIGNMENT = 64;
const MOST_SECTIONS = 64;
const FIRST_READ = 1 << 16;
const MOST_WHOLE = 2 ** 30;

/** What is to be in memory all at once has a limit, whatever a file says of itself. */
function checkWhole(places: readonly SectionPlace[]): void {
  const bytes = places.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= MOST_WHOLE) return;
  const what = `${bytes} bytes of the file would have to be in memory, ${MOST_WHOLE} are the most`;
  throw new GossamerError("TooLarge", `${what}; use a smaller index, or one that keeps fewer vectors`);
}

/** Where the sections lie, once header and table were found whole. */
function parseHead(head: Uint8Array, fileSize: number): Map<number, SectionPlace> {
  checkMagic(head);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    throw new GossamerError(
      "UnknownVersion",
      `the file has format version ${version}, this release reads version ${VERSION}; ` +
        "upgrade, or build again",
    );
  }
  if (crc32c(head.subarray(0, 28)) !== view.getUint32(28, true)) {
    throw damaged("the header does not match its checksum");
  }
  const stated = view.getBigUint64(16, true);
  if (stated !== BigInt(fileSize)) {
    throw new GossamerError(
      stated > BigInt(fileSize) ? "Truncated" : "Damaged",
      `the file should have ${stated} bytes and has ${fileSize}; copy or build it again`,
    );
  }
  const count = view.getUint32(12, true);
  const end = HEADER_BYTES + ENTRY_BYTES * count;
  if (count > MOST_SECTIONS || end > fileSize) throw damaged("the table of sections does not fit the file");
  if (crc32c(head.subarray(HEADER_BYTES, end)) !== view.getUint32(24, true)) {
    throw damaged("the table of sections does not match its checksum");
  }
  const places = new Map<number, SectionPlace>();
  for (let at = HEADER_BYTES; at < end; at += ENTRY_BYTES) {
    const [kind, place] = parseEntry(view, at, fileSize);
    if (places.has(kind)) throw damaged("a section appears twice");
    places.set(kind, place);
  }
  return places;
}

function parseEntry(view: DataView, entry: number, fileSize: number): [number, SectionPlace] {
  const kind = view.getUint32(entry, true);
  if (!((kind >= 1 && kind <= 10) || (kind >= 32 && kind <= 63))) {
    throw new GossamerError("UnknownVersion", `section kind ${kind} is unknown to this release; upgrade`);
  }
  // Rounding beyond 2^53 changes nothing: no file is that long.
  const at = Number(view.getBigUint64(entry + 8, true));
  const length = Number(view.getBigUint64(entry + 16, true));
  if (at % ALIGNMENT !== 0 || at > fileSize || length > fileSize - at) {
    throw damaged("a section lies outside the file");
  }
  return [kind, { at, length, checksum: view.getUint32(entry + 4, true) }];
}

function checkMagic(head: Uint8Array): void {
  if (!MAGIC.subarray(0, head.length).every((byte, i) => head[i] === byte)) {
    throw new GossamerError("NotGossamer", "this is not a Gossamer index: it does not start with GOSSAMER");
  }
  if (head.length >= HEADER_BYTES) return;
  throw new GossamerError(
    "Truncated",
    `the file has ${head.length} bytes, fewer than a header; copy or build it again`,
  );
}

/** The same source, whose first bytes are in memory. */
function withStart(source: ByteSource, first: Uint8Array): ByteSource {
  const isHere = ({ at, length }: ByteRange) => at + length <= first.length;
  const part = ({ at, length }: ByteRange) => first.subarray(at, at + length);
  return {
    ...(source.readNow ? { readNow: source.readNow.bind(source) } : {}),
    size: source.size,
    read: async (at, length, signal) =>
      isHere({ at, length }) ? part({ at, length }) : source.read(at, length, signal),
    readMany: async (ranges, signal) => {
      const far = ranges.filter((range) => !isHere(range));
      const parts = far.length > 0 ? await readMany(source, far, signal) : [];
      let next = 0;
      return ranges.map((range) => (isHere(range) ? part(range) : partAt(parts, next++)));
    },
    close: () => source.close(),
  };
}

function verified(kind: number, bytes: Uint8Array, place: SectionPlace): Uint8Array {
  if (bytes.length !== place.length || crc32c(bytes) !== place.checksum) {
    throw damaged(`the section of kind ${kind} does not match its checksum`);
  }
  return bytes;
}

function partAt(parts: readonly Uint8Array[], i: number): Uint8Array {
  const part = parts[i];
  if (!part) throw damaged("fewer bytes came than were asked for");
  return part;
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; copy or build the file again`);
}
