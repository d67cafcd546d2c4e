// The catalogue: every source, document and chunk of an index. The twin of
// python/gossamer/store/catalogue.py.
import { GossamerError } from "../errors.ts";
import type { Span, Value } from "../records.ts";
import { CatalogueView } from "./catalogue_view.ts";
import { emptyTable } from "./columns.ts";
import type { Schema, Table } from "./columns.ts";
import { packTable, unpackTable } from "./planes.ts";
import { decodeText, encodeText } from "./text.ts";
import { byteWriter } from "./varint.ts";
import { verifyTables } from "./verify.ts";

export { AWAY, VERBATIM } from "./verify.ts";

/** What became of a source. */
export type Status = "indexed" | "skipped" | "failed";

/** A file that was looked at, or a text that a page gave. */
export interface SourceRecord {
  readonly root: string; // the folder that was given; "" for a text
  readonly name: string; // the path below it, or the id of a text
  readonly size: number; // bytes of the file
  readonly mtimeNs: bigint;
  readonly contentHash: bigint; // hashOfBytes of it; 0 where it was not read
  readonly kind: string;
  readonly status: Status;
  readonly reason: string; // why it was skipped or failed
  readonly readerVersion: number;
}

/** What is known of a document besides its chunks. */
export interface DocumentRecord {
  readonly textLength: number; // bytes; for verbatim documents those of the file
  readonly kind: string;
  readonly segment: number; // VERBATIM, AWAY, or the segment of the text store
  readonly offset: number; // where the text begins in its segment
  readonly key: string;
  readonly title: string; // where the text does not hold it
  readonly titleSpan: Span | null; // where the text holds it
  readonly unit: string;
  readonly places: readonly (readonly [offset: number, number: number])[];
  readonly metadata: Readonly<Record<string, Value>>;
}

/** Rows or ids that follow each other. */
export interface Run {
  readonly first: number;
  readonly count: number;
}

/** What an index holds. Never changed once made: changeCatalogue makes the next one. Sources and documents
 * are numbered by row, in the order of their paths; chunks are known by their ids. */
export interface Catalogue {
  readonly words: readonly string[]; // roots, kinds, units and reasons, which the columns name by number
  readonly tables: Table;

  readonly sourceCount: number; // skipped and failed ones included
  readonly paths: readonly string[]; // of every source, or the id of a text, by row
  /** The row of a source by its path as it is kept, or the id of a text; null if it is not there. */
  find(isFile: boolean, path: string): number | null;
  source(row: number): SourceRecord;
  isFile(sourceRow: number): boolean;
  documentsOf(sourceRow: number): Run;
  /** The ids of a source's chunks. */
  chunksOf(sourceRow: number): number[];

  readonly documentCount: number;
  readonly sourceRows: Uint32Array; // the row of the source of every document
  readonly textLengths: Float64Array; // of every document
  readonly textPlaces: { readonly segments: Float64Array; readonly offsets: Float64Array };
  /** Where the text of every document holds its title; start and end are equal if it does not. */
  readonly titleSpans: { readonly starts: Float64Array; readonly ends: Float64Array };
  document(row: number): DocumentRecord;
  /** Words without making a whole record. */
  kindOf(documentRow: number): string;
  unitOf(documentRow: number): string;
  /** The metadata of every document, for filters; equal ones may be one object. */
  metadata(): readonly Readonly<Record<string, Value>>[];
  /** The ids of a document's chunks. */
  chunksIn(documentRow: number): Run;

  readonly chunkCount: number;
  readonly chunkIds: Float64Array; // of all chunks, rising
  /** The row of the document of each chunk; UnknownId if there is no such chunk. */
  documentRows(ids: ArrayLike<number>): Uint32Array;
  /** Where each chunk starts and ends in the text of its document. */
  spans(ids: ArrayLike<number>): { readonly starts: Float64Array; readonly ends: Float64Array };
  /** The check of each chunk's embedded text. */
  checks(ids: ArrayLike<number>): Uint32Array;
  /** The headings that each chunk stands under, outermost first, as spans. */
  contexts(ids: ArrayLike<number>): Span[][];
}

/** Reads a catalogue; NotGossamer, UnknownVersion or Damaged for anything else. */
export function readCatalogue(bytes: Uint8Array): Catalogue {
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw new GossamerError("NotGossamer", "this is no catalogue of a Gossamer index");
  }
  if (bytes.length < HEADER_BYTES) {
    throw new GossamerError("Damaged", "the catalogue ends within its header; get the index again");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    throw new GossamerError(
      "UnknownVersion",
      `the catalogue is of version ${version}, and this release reads ${VERSION}; use a newer release`,
    );
  }
  const end = Math.min(bytes.length, HEADER_BYTES + Number(view.getBigUint64(12, true)));
  const words = readWords(unpackTable(bytes.subarray(HEADER_BYTES, end), WORDS));
  const tables = unpackTable(bytes.subarray(end), SOURCES);
  verifyTables(tables, words.length);
  return new CatalogueView(words, tables);
}

/** The catalogue as bytes that every reader takes; columns are not compressed. */
export function writeCatalogue(catalogue: Catalogue): Uint8Array {
  const encoded = catalogue.words.map(encodeText);
  const content = byteWriter();
  for (const word of encoded) content.bytes(word);
  const lengths = Float64Array.from(encoded, (word) => word.length);
  const letters = { ...emptyTable(BYTES), count: content.length, content: content.finish() };
  const words = packTable({
    ...emptyTable(WORDS),
    count: encoded.length,
    columns: new Map([["word", lengths]]),
    children: new Map([["word", letters]]),
  });
  const whole = byteWriter();
  whole.bytes(MAGIC);
  whole.u32(VERSION);
  whole.u64(words.length);
  whole.bytes(words);
  whole.bytes(packTable(catalogue.tables));
  return whole.finish();
}

/** The catalogue of an index that holds nothing. */
export function emptyCatalogue(): Catalogue {
  return new CatalogueView([""], emptyTable(SOURCES));
}

const MAGIC = new TextEncoder().encode("GSMCATAL");
const VERSION = 1;
const HEADER_BYTES = 20;

const BYTES: Schema = { columns: [], children: [], isBytes: true };
const WORDS: Schema = { columns: [], children: [["word", BYTES]] };
const HEADINGS: Schema = { columns: [{ name: "before", isSigned: true }, { name: "length" }], children: [] };
const CHUNKS: Schema = {
  // `gap` is from the end of the chunk before; `shared` the headings both stand under.
  columns: [
    { name: "gap", isSigned: true },
    { name: "length" },
    { name: "shared" },
    { name: "check", width: 4 },
  ],
  children: [["headings", HEADINGS]],
};
const PLACES: Schema = { columns: [{ name: "gap" }, { name: "number", after: "" }], children: [] };
const DOCUMENTS: Schema = {
  columns: [
    { name: "kind" },
    { name: "unit" },
    { name: "length" }, // 0 for verbatim documents: it is their file's
    { name: "segment" },
    { name: "offset", after: "length" },
    { name: "title_start" },
    { name: "title_length" },
    { name: "first_chunk", after: "chunks" },
  ],
  children: [
    ["key", BYTES],
    ["title", BYTES],
    ["metadata", BYTES],
    ["places", PLACES],
    ["chunks", CHUNKS],
  ],
};

/** The columns of the table of sources, and of all it owns. */
export const SOURCES: Schema = {
  columns: [
    { name: "root" },
    { name: "kind" },
    { name: "status" },
    { name: "reason" },
    { name: "reader_version" },
    { name: "size" },
    { name: "mtime_ns", after: "", isWide: true },
    { name: "content_hash", width: 8, isWide: true },
  ],
  children: [
    ["name", BYTES],
    ["documents", DOCUMENTS],
  ],
};

function readWords(table: Table): string[] {
  const content = table.children.get("word")?.content ?? new Uint8Array();
  let at = 0;
  const words = Array.from(table.columns.get("word") ?? [], (length) => {
    const word = decodeText(content.subarray(at, at + length));
    at += length;
    if (word !== null) return word;
    throw new GossamerError("Damaged", "a word in the catalogue is no text; get the index again");
  });
  if (words[0] === "") return words;
  throw new GossamerError("Damaged", "the first word of the catalogue is not empty; get the index again");
}
