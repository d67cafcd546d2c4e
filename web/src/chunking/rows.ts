// Rows, as of CSV: cut between rows only, the header before each chunk.

import { cutsAt, NO_SPANS, SECTION, type ByteText, type Outline } from "./outline.ts";
import { lengthWithoutSpace } from "./bytes.ts";

const QUOTE = 34;
const NEWLINE = 10;

/** Finds the header and the rows; a newline within quotes ends no row.
 *
 * A lone quote in the text makes rows and quotes change places; then the cuts that are added where
 * rows seem too long fall on lines again. */
export function rowsOutline(text: ByteText, begin: number): Outline {
  const { bytes } = text;
  const rows: number[] = [];
  let isQuoted = false;
  bytes.forEach((byte, place) => {
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === NEWLINE && !isQuoted) rows.push(place + 1);
  });
  const first = rows[0];
  if (first === undefined) {
    return { cuts: cutsAt([], SECTION), headings: [], whole: NO_SPANS, tied: [], isProse: false };
  }
  const end = begin + lengthWithoutSpace(bytes, begin, first);
  const later = rows.slice(1);
  return {
    cuts: cutsAt(later, SECTION),
    headings: [{ at: begin, level: 1, start: begin, end }],
    whole: { starts: rows, ends: [...later, bytes.length] },
    tied: [],
    isProse: false,
  };
}
