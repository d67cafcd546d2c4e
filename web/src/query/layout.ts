// Where all chunks of an index stand, laid out for a pass over their texts. The twin of
// python/gossamer/query/layout.py.

import type { Catalogue } from "../format/catalogue.ts";
import { AWAY, VERBATIM } from "../format/catalogue.ts";
import type { Piece } from "../lexical/scan.ts";

// Stored text that is unpacked at one time.
const PIECE_BYTES = 1 << 20;
// A title far off is left out: it would have to be read for its own sake.
const NEAR_BYTES = 1 << 16;

/** The chunks of an index by number: their place among all ids, which rise. */
export interface ChunkLayout {
  readonly ids: Float64Array;
  readonly documentRows: Uint32Array;
  readonly hasAwayTexts: boolean; // kept by a server alone, so that a pass leaves them out
  readonly bytes: Float64Array; // of each chunk: what a pass counts, title and body
  readonly textBytes: number; // of all chunks that a pass reads
  /** Turns an answer for each document into one for each chunk. */
  numbersOf(isAllowed: Uint8Array): Uint8Array;
  /** The ids of the chunks that a mask lets through. */
  idsOf(allowed: Uint8Array): number[];
  /** The chunks whose text is stored here, in pieces; of `allowed` ones alone if given. */
  pieces(allowed?: Uint8Array): Generator<Piece>;
}

/** Lays out the chunks of a catalogue. */
export function layOut(catalogue: Catalogue): ChunkLayout {
  const ids = catalogue.chunkIds;
  const documentRows = catalogue.documentRows(ids);
  const { segments } = catalogue.textPlaces;
  const spans = spansWithTitles(catalogue, ids, documentRows);
  const bytes = new Float64Array(ids.length);
  spans.numbers.forEach((number, i) => {
    bytes[number] = (bytes[number] ?? 0) + at(spans.ends, i) - at(spans.starts, i);
  });
  return {
    ids,
    documentRows,
    hasAwayTexts: segments.includes(AWAY),
    bytes,
    textBytes: bytes.reduce((sum, some) => sum + some, 0),
    numbersOf: (isAllowed) => Uint8Array.from(documentRows, (row) => isAllowed[row] ?? 0),
    idsOf: (allowed) => Array.from(ids).filter((_, number) => allowed[number] === 1),
    pieces: (allowed) => piecesOf(catalogue, documentRows, spans, allowed),
  };
}

interface Spans {
  readonly numbers: Uint32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** Number, start and end of every span to count: of each chunk its title and itself. */
function spansWithTitles(catalogue: Catalogue, ids: Float64Array, rows: Uint32Array): Spans {
  const { starts, ends } = catalogue.spans(ids);
  const titles = catalogue.titleSpans;
  const spans = {
    numbers: new Uint32Array(2 * ids.length),
    starts: new Float64Array(2 * ids.length),
    ends: new Float64Array(2 * ids.length),
  };
  let count = 0;
  const push = (number: number, start: number, end: number) => {
    [spans.numbers[count], spans.starts[count], spans.ends[count]] = [number, start, end];
    count += 1;
  };
  for (let number = 0; number < ids.length; number += 1) {
    const row = at(rows, number);
    const [titleStart, titleEnd] = [at(titles.starts, row), at(titles.ends, row)];
    const isNear = Math.abs(titleStart - at(starts, number)) < NEAR_BYTES;
    if (titleStart < titleEnd && isNear) push(number, titleStart, titleEnd);
    push(number, at(starts, number), at(ends, number));
  }
  return {
    numbers: spans.numbers.slice(0, count),
    starts: spans.starts.slice(0, count),
    ends: spans.ends.slice(0, count),
  };
}

function* piecesOf(
  catalogue: Catalogue,
  rows: Uint32Array,
  spans: Spans,
  allowed?: Uint8Array,
): Generator<Piece> {
  const { segments, offsets } = catalogue.textPlaces;
  const rowOf = (span: number) => at(rows, at(spans.numbers, span));
  const bySegment = new Map<number, number[]>();
  spans.numbers.forEach((number, span) => {
    const segment = at(segments, rowOf(span));
    const isRead = segment !== VERBATIM && segment !== AWAY && (!allowed || allowed[number] === 1);
    if (!isRead) return;
    const members = bySegment.get(segment);
    if (members) members.push(span);
    else bySegment.set(segment, [span]);
  });
  for (const [segment, members] of [...bySegment].sort(([a], [b]) => a - b)) {
    const offsetOf = (span: number) => at(offsets, rowOf(span));
    members.sort((a, b) => offsetOf(a) - offsetOf(b) || a - b);
    for (const piece of groups(members, spans, offsetOf)) {
      yield makePiece(segment, piece, spans, offsetOf);
    }
  }
}

/** Cuts spans, in the order of the text, where a piece is full; those of a chunk stay together. */
function* groups(
  members: readonly number[],
  spans: Spans,
  offsetOf: (span: number) => number,
): Generator<number[]> {
  let group: number[] = [];
  let begin = 0;
  for (const span of members) {
    const isNew = group.length > 0 && at(spans.numbers, span) !== at(spans.numbers, group.at(-1) ?? 0);
    const start = offsetOf(span) + at(spans.starts, span);
    if (isNew && offsetOf(span) + at(spans.ends, span) - begin > PIECE_BYTES) {
      yield group;
      group = [];
    }
    begin = group.length === 0 ? start : Math.min(begin, start);
    group.push(span);
  }
  if (group.length > 0) yield group;
}

function makePiece(
  segment: number,
  group: readonly number[],
  spans: Spans,
  offsetOf: (span: number) => number,
): Piece {
  const starts = group.map((span) => offsetOf(span) + at(spans.starts, span));
  const ends = group.map((span) => offsetOf(span) + at(spans.ends, span));
  const begin = starts.reduce((least, start) => Math.min(least, start), Infinity);
  return {
    segment,
    begin,
    end: ends.reduce((most, end) => Math.max(most, end), 0),
    starts: Uint32Array.from(starts, (start) => start - begin),
    ends: Uint32Array.from(ends, (end) => end - begin),
    numbers: Uint32Array.from(group, (span) => at(spans.numbers, span)),
  };
}

function at(values: ArrayLike<number>, place: number): number {
  return values[place] ?? 0;
}
