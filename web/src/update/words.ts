// The words of all chunks, counted for a single file.

import type { WordCounter } from "../core/words.ts";
import { textOfDocument, type ChangeParts } from "../format/edit.ts";
import type { Pause } from "./pause.ts";

/** The words of an index: which chunks hold a term, and how often, as the lexical pass counts. */
export async function countWords(
  parts: Pick<ChangeParts, "catalogue" | "texts">,
  counter: WordCounter,
  pause: Pause,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { catalogue } = parts;
  try {
    for (let row = 0; row < catalogue.documentCount; row += 1) {
      const { first, count } = catalogue.chunksIn(row);
      await pause();
      const text = count > 0 ? await textOfDocument(parts, row, signal) : null;
      if (text) counter.add(first, text);
    }
    return counter.finish();
  } finally {
    counter.free();
  }
}
