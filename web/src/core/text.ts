// What gossamer-text.wasm does: words, tokens, token-table models, and what a search reads of a catalogue.
// `loadText` (load.ts) gives it.

import type { SegmentReader } from "./sources.ts";
import type { WordReader } from "./words.ts";

export interface LexicalTop {
  readonly numbers: number[]; // of chunks, best first
  readonly scores: number[];
  readonly chunksWith: number[]; // how many chunks hold each term
}

/** One question on its way through texts or postings: add all chunks, then take the top. */
export interface LexicalPass {
  readonly terms: readonly string[]; // folded, without endings; empty: nothing is looked for
  /** Counts the chunks of a text: spans of bytes, neighbors with one number are one chunk. */
  addBuffer(text: Uint8Array, starts: Uint32Array, ends: Uint32Array, numbers: Uint32Array): void;
  /** The same from postings: how often each term stands in a chunk of so many bytes. Chunks rising. */
  addCounts(number: number, bytes: number, terms: readonly number[], counts: readonly number[]): void;
  /** Chunks without any term count for the averages too. */
  addOthers(chunks: number, bytes: number): void;
  top(best: number): LexicalTop;
  free(): void;
}

/** A tokenizer of WordPiece's kind. */
export interface Tokenizer {
  /** Where each token begins, in bytes of the text. */
  tokenStarts(text: Uint8Array): Uint32Array;
  tokenIds(text: Uint8Array): Uint32Array;
  idOf(piece: string): number; // -1 if the vocabulary does not hold it
  free(): void;
}

/** A model that is a table of tokens. Vectors have length 1 and are the same bits everywhere. */
export interface StaticModel extends Tokenizer {
  readonly name: string;
  readonly fingerprint: string;
  readonly dim: number;
  readonly maxTokens: number;
  /** A row for each text, end to end. InvalidArgument for a text of more than maxTokens. */
  embed(texts: readonly string[]): Float32Array;
  /** The vector of a question of any length. */
  embedQuestion(text: string): Float32Array;
}

export interface TextCore extends SegmentReader, WordReader {
  lexicalPass(question: string, allowed?: Uint8Array): LexicalPass;
  termsOf(question: string): string[];
  /** Where words of the question stand in a text: bytes, start and end by turns. */
  findTerms(text: Uint8Array, question: string): Uint32Array;
  tokenizer(vocabulary: Uint8Array, isLowercase: boolean): Tokenizer;
  /** A model file (docs/format.md, models). */
  model(file: Uint8Array): StaticModel;
  crc32c(bytes: Uint8Array): number;
  memoryBytes(): number;
}
