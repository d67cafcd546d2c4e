// The words of all chunks, counted for a single file.

import type { WordCounter } from "../core/words.ts";
import type { IndexParts } from "../format/parts.ts";
import { layOut } from "../query/layout.ts";
import type { Pause } from "./pause.ts";

/** The words of an index: which chunks hold a term, and how often, as the lexical pass counts. */
export async function countWords(
  { catalogue, texts }: Pick<IndexParts, "catalogue" | "texts">,
  counter: WordCounter,
  pause: Pause,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const layout = layOut(catalogue);
  try {
    for (const { segment, begin, end, numbers, starts, ends } of layout.pieces()) {
      await pause();
      const bytes = await texts.read(segment, begin, end, signal);
      numbers.forEach((number, place) => counter.add(number, bytes.subarray(starts[place], ends[place])));
    }
    return counter.finish(layout.ids.length);
  } finally {
    counter.free();
  }
}
