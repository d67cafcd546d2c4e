// The catalogue: every source, document and chunk of an index.
import type { CatalogueOrigin } from "../core/sources.ts";
import type { Span, Value } from "../records.ts";

/** Where a text is, in place of the number of a segment: it is the file itself, or a server has it. */
export const VERBATIM = 0;
export const AWAY = 2 ** 31;

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

/** What an index holds, never changed once made. Sources and documents are numbered by row; chunks are
 * known by their ids. */
export interface Catalogue {
  readonly origin: CatalogueOrigin; // what it was read from
  readonly words: readonly string[]; // roots, kinds, units and reasons

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
