// The words of an index in the core: which chunks hold a term, and how often, read by ranges and counted.

import { joinBytes } from "../bytes/join.ts";
import { encodeText } from "../text/text.ts";
import { once, type Core } from "./memory.ts";

/** A stretch of the words of an index. */
export interface WordRange {
  readonly at: number;
  readonly length: number;
}

/** Where the postings of a term are. */
export interface WordPlace extends WordRange {
  readonly chunks: number; // how many hold it
  readonly checksum: number;
}

/** What tells where words lie; what is read is checked. */
export interface WordTable {
  readonly chunks: number;
  /** The block that may hold a term; null if none does. */
  blockOf(term: string): (WordRange & { readonly number: number }) | null;
  /** Where the postings of a term are; null if the block, whose bytes these are, does not hold it. */
  find(block: number, bytes: Uint8Array, term: string): WordPlace | null;
  /** Rising chunks, and how often each holds the term. */
  read(place: WordPlace, bytes: Uint8Array): { chunks: Uint32Array; counts: Uint32Array };
  free(): void;
}

export interface WordReader {
  /** How many bytes of words must be at hand to open them, by the first of them. */
  wordHeadBytes(start: Uint8Array, size: number): number;
  openWords(head: Uint8Array, size: number): WordTable;
}

/** Counts the words of chunks. */
export interface WordCounter {
  /** A chunk may come in several parts. */
  add(chunk: number, text: Uint8Array): void;
  /** The words of so many chunks as bytes. */
  finish(chunks: number): Uint8Array;
  free(): void;
}

/** Reads words with a module that can. */
export function wordReader(core: Core): WordReader {
  return {
    wordHeadBytes: (start, size) =>
      core.lend([start], (at) => core.call("words_head_bytes", at as number, start.length, size)),
    openWords: (head, size) => {
      const words = core.lend([head], (at) => core.call("words_open", at as number, head.length, size));
      return wordTable(core, words);
    },
  };
}

/** Counts words with a module that can. */
export function countWords(core: Core): WordCounter {
  const counter = core.call("counting_new");
  return {
    add: (chunk, text) =>
      core.lend([text], (at) => void core.call("counting_add", counter, chunk, at as number, text.length)),
    finish: (chunks) => core.bytes(core.call("counting_finish", counter, chunks)),
    free: freeing(core, "counting_free", counter),
  };
}

/** Frees what a module holds, once; one that is broken holds nothing any more. */
function freeing(core: Core, name: string, address: number): () => void {
  return once(() => {
    if (!core.isBroken()) core.call(name, address);
  });
}

function wordTable(core: Core, words: number): WordTable {
  return {
    chunks: core.call("words_chunks", words),
    blockOf: (term) => {
      const bytes = encodeText(term);
      const count = core.lend([bytes], (at) => core.call("words_block", words, at as number, bytes.length));
      if (count === 0) return null;
      const [number, at, length] = core.numbers(count) as unknown as [number, number, number];
      return { number, at, length };
    },
    find: (block, bytes, term) => {
      const wanted = encodeText(term);
      const count = core.lend([joinBytes([bytes, wanted])], (at) =>
        core.call("words_find", words, block, at as number, bytes.length, wanted.length),
      );
      if (count === 0) return null;
      const [at, length, chunks, checksum] = core.numbers(count) as unknown as [number, number, number, number];
      return { at, length, chunks, checksum };
    },
    read: ({ at, length, chunks, checksum }, bytes) => {
      const count = core.lend([bytes], (address) =>
        core.call("words_read", words, at, length, chunks, checksum, address as number, bytes.length),
      );
      const both = core.words(2 * count);
      return { chunks: both.slice(0, count), counts: both.slice(count) };
    },
    free: freeing(core, "words_free", words),
  };
}
