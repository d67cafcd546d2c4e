// What gossamer.wasm does besides questions: tokens, token-table models, and where texts lie.
// `loadText` (load.ts) gives it.

import type { BlockReader } from "./sources.ts";

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
  /** The vectors of a text's tokens, of any length, and the byte at which each begins. */
  embedTokens(text: string): { tokens: Float32Array; starts: Uint32Array };
}

export interface TextCore extends BlockReader {
  tokenizer(vocabulary: Uint8Array, isLowercase: boolean): Tokenizer;
  /** A model file (docs/format.md, models). */
  model(file: Uint8Array): StaticModel;
  crc32c(bytes: Uint8Array): number;
  memoryBytes(): number;
}
