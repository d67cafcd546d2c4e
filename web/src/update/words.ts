// The words of all chunks, counted for a single file.

import type { TextCore } from "../core/text.ts";
import type { IndexParts } from "../format/parts.ts";
import { writeWords, type Postings } from "../format/words.ts";
import { layOut, type Piece } from "../query/layout.ts";
import type { Pause } from "./pause.ts";

/** The words of an index: which chunks hold a term, and how often, as the lexical pass counts. */
export async function countWords(
  parts: Pick<IndexParts, "catalogue" | "texts">,
  text: Pick<TextCore, "termsOfText">,
  pause: Pause,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const lists = new Map<string, number[]>(); // chunk and count by turns
  const layout = layOut(parts.catalogue);
  for (const piece of layout.pieces()) {
    await pause();
    const bytes = await parts.texts.read(piece.segment, piece.begin, piece.end, signal);
    for (const [number, counts] of countsOf(piece, bytes, text)) {
      for (const [term, count] of counts) {
        const list = lists.get(term);
        if (list) list.push(number, count);
        else lists.set(term, [number, count]);
      }
    }
  }
  return writeWords(layout.ids.length, postingsOf(lists));
}

function countsOf(
  piece: Piece,
  bytes: Uint8Array,
  text: Pick<TextCore, "termsOfText">,
): Map<number, Map<string, number>> {
  const found = new Map<number, Map<string, number>>();
  piece.numbers.forEach((number, place) => {
    const counts = found.get(number) ?? new Map<string, number>();
    found.set(number, counts);
    const span = bytes.subarray(piece.starts[place], piece.ends[place]);
    for (const term of text.termsOfText(span)) counts.set(term, (counts.get(term) ?? 0) + 1);
  });
  return found;
}

function* postingsOf(lists: ReadonlyMap<string, readonly number[]>): Generator<Postings> {
  for (const [term, list] of lists) {
    // Pieces come by segment, and numbers rise only within one.
    const places = Array.from({ length: list.length / 2 }, (_, place) => 2 * place);
    places.sort((one, other) => (list[one] as number) - (list[other] as number));
    yield {
      term,
      chunks: Uint32Array.from(places, (place) => list[place] as number),
      counts: Uint32Array.from(places, (place) => list[place + 1] as number),
    };
  }
}
