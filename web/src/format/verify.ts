// What must hold in a catalogue before any number of it is used as an index: the twin of
// python/gossamer/store/verify.py.
import { GossamerError } from "../errors.ts";
import { childOf, columnOf, startsOf } from "./columns.ts";
import type { Table } from "./columns.ts";

/** The segment of documents whose text is their file's own bytes. */
export const VERBATIM = 0;
/** The segment of documents whose text the server has. */
export const AWAY = 2 ** 31;
/** Headings that a chunk stands under, at most. */
export const MOST_HEADINGS = 255;

/** Throws Damaged unless every number of the catalogue is within its bounds. */
export function verifyTables(sources: Table, wordCount: number): void {
  const documents = childOf(sources, "documents");
  for (const name of ["root", "kind", "reason"]) within(sources, name, 0, wordCount, "source");
  for (const name of ["kind", "unit"]) within(documents, name, 0, wordCount, "document");
  within(sources, "status", 0, 3, "source");
  within(sources, "size", 0, LARGEST, "source");
  within(documents, "chunks", 1, LARGEST_LENGTH, "document");
  within(documents, "segment", 0, AWAY + 1, "document");
  within(documents, "offset", 0, LARGEST, "document");
  within(documents, "length", 0, LARGEST_LENGTH, "document");
  verifyIds(documents);
  const lengths = textLengths(sources);
  verifyTitles(documents, lengths);
  verifyPlaces(documents, lengths);
  verifyChunks(documents, lengths);
}

/** The bytes of text of every document. */
export function textLengths(sources: Table): Float64Array {
  const documents = childOf(sources, "documents");
  const [sizes, segments] = [columnOf(sources, "size"), columnOf(documents, "segment")];
  const lengths = columnOf(documents, "length").slice();
  const starts = startsOf(columnOf(sources, "documents"));
  for (let source = 0; source < sources.count; ++source) {
    for (let row = starts[source]!; row < starts[source + 1]!; ++row) {
      if (segments[row] === VERBATIM) lengths[row] = sizes[source]!;
    }
  }
  return lengths;
}

/** Where every chunk ends in the text of its document, by row. */
export function chunkEnds(documents: Table): Float64Array {
  const chunks = childOf(documents, "chunks");
  const [gaps, lengths] = [columnOf(chunks, "gap"), columnOf(chunks, "length")];
  const counts = columnOf(documents, "chunks");
  const ends = new Float64Array(chunks.count);
  for (let document = 0, row = 0; document < documents.count; ++document) {
    let end = 0;
    for (const beyond = row + counts[document]!; row < beyond; ++row) {
      end += gaps[row]! + lengths[row]!;
      ends[row] = end;
    }
  }
  return ends;
}

// Sums of as many of these as memory can hold are compared with lengths below it as they grow.
const LARGEST_LENGTH = 2 ** 36;
// Python takes numbers up to 2^62; here they are exact up to this.
const LARGEST = 2 ** 53;

function within(table: Table, name: string, least: number, beyond: number, what: string): void {
  for (const value of columnOf(table, name)) {
    if (!(value >= least && value < beyond)) {
      throw damaged(`${value} as ${name} of a ${what}, where ${least} to ${beyond - 1} can be`);
    }
  }
}

function verifyIds(documents: Table): void {
  within(documents, "first_chunk", 0, LARGEST, "document");
  const [firsts, counts] = [columnOf(documents, "first_chunk"), columnOf(documents, "chunks")];
  const order = Uint32Array.from(firsts.keys()).sort((a, b) => firsts[a]! - firsts[b]!);
  for (let i = 1; i < order.length; ++i) {
    const before = order[i - 1]!;
    if (firsts[before]! + counts[before]! > firsts[order[i]!]!) {
      throw damaged("two chunks of the same id");
    }
  }
}

function verifyTitles(documents: Table, lengths: Float64Array): void {
  within(documents, "title_start", 0, LARGEST_LENGTH, "document");
  within(documents, "title_length", 0, LARGEST_LENGTH, "document");
  const [starts, sizes] = [columnOf(documents, "title_start"), columnOf(documents, "title_length")];
  for (let row = 0; row < documents.count; ++row) {
    if (sizes[row]! > 0 && starts[row]! + sizes[row]! > lengths[row]!) {
      throw damaged("a title that lies beyond its document");
    }
  }
}

function verifyPlaces(documents: Table, lengths: Float64Array): void {
  const places = childOf(documents, "places");
  within(places, "gap", 0, LARGEST_LENGTH, "place");
  within(places, "number", 0, LARGEST, "place");
  const [gaps, counts] = [columnOf(places, "gap"), columnOf(documents, "places")];
  for (let document = 0, row = 0; document < documents.count; ++document) {
    let at = 0;
    for (const beyond = row + counts[document]!; row < beyond; ++row) at += gaps[row]!;
    if (at > lengths[document]!) throw damaged("a place that lies beyond its document");
  }
}

function verifyChunks(documents: Table, lengths: Float64Array): void {
  const chunks = childOf(documents, "chunks");
  const headings = childOf(chunks, "headings");
  within(chunks, "gap", 1 - LARGEST_LENGTH, LARGEST_LENGTH, "chunk");
  within(chunks, "length", 1, LARGEST_LENGTH, "chunk");
  within(chunks, "shared", 0, MOST_HEADINGS + 1, "chunk");
  within(chunks, "headings", 0, MOST_HEADINGS + 1, "chunk");
  within(headings, "before", -LARGEST_LENGTH, LARGEST_LENGTH, "heading");
  within(headings, "length", 0, LARGEST_LENGTH, "heading");
  const ends = chunkEnds(documents);
  const [sizes, shared] = [columnOf(chunks, "length"), columnOf(chunks, "shared")];
  const [owned, counts] = [columnOf(chunks, "headings"), columnOf(documents, "chunks")];
  for (let document = 0, row = 0, heading = 0; document < documents.count; ++document) {
    let available = 0;
    for (const beyond = row + counts[document]!; row < beyond; ++row) {
      const start = ends[row]! - sizes[row]!;
      if (start < 0 || ends[row]! > lengths[document]!) {
        throw damaged("a chunk that lies beyond its document");
      }
      if (shared[row]! > available) {
        throw damaged("a chunk that shares headings which the one before has not");
      }
      available = shared[row]! + owned[row]!;
      if (available > MOST_HEADINGS) throw damaged(`a chunk under ${available} headings`);
      heading = verifyHeadings(headings, heading, owned[row]!, start, lengths[document]!);
    }
  }
}

/** Compares the headings of a chunk with their bounds; gives the row of the next one. */
function verifyHeadings(headings: Table, first: number, count: number, start: number, most: number): number {
  if (count === 0) return first;
  const [before, lengths] = [columnOf(headings, "before"), columnOf(headings, "length")];
  for (let row = first; row < first + count; ++row) {
    const end = start - before[row]!;
    if (end < lengths[row]! || end > most) throw damaged("a heading that lies beyond its document");
  }
  return first + count;
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `the catalogue has ${what}; get the index again`);
}
