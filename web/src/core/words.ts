// The words of an index, counted in the core: which chunks hold a term, and how often.

import { type Core, freeOnce } from "./memory.ts";
import { readList, using } from "./sources.ts";

/** Counts the words of the chunks of a catalogue. */
export interface WordCounter {
  /** The text of a document, which is known by its first chunk. */
  add(firstChunk: number, text: Uint8Array): void;
  /** The words of all chunks as bytes. */
  finish(): Uint8Array;
  free(): void;
}

/** Counts words with a module that can: those of a catalogue in one piece. */
export function countWords(core: Core, catalogue: Uint8Array): WordCounter {
  const counter = using(core, "sources_free", readList(core, catalogue, true), (list) =>
    core.call("counting_new", list),
  );
  return {
    add: (firstChunk, text) => void core.call("counting_add", counter, firstChunk, text, text.length),
    finish: () => core.bytes(core.call("counting_finish", counter)),
    free: freeing(core, "counting_free", counter),
  };
}

/** Frees what a module holds, once; one that is broken holds nothing any more. */
function freeing(core: Core, name: string, address: number): () => void {
  return freeOnce(() => {
    if (!core.isBroken()) core.call(name, address);
  });
}
