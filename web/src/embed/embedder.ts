import type { QuestionVectors, TextVectors } from "../core/query.ts";

/** What an embedder has besides, if its model gives vectors of tokens: both or none. Special tokens and those
 * of prompts are left out. */
export interface TokenEmbedder {
  /** As `embed`, with the vectors of tokens too. */
  embedTokens(texts: readonly string[], signal?: AbortSignal): Promise<TextVectors>;
  /** As `embedQuestion`, with the vectors of tokens too. */
  embedQuestionTokens(text: string, signal?: AbortSignal): Promise<QuestionVectors>;
}

/** Makes vectors from texts: the same text gives the same vector, whatever comes with it. Vectors
 * have length 1. */
export interface Embedder extends Partial<TokenEmbedder> {
  readonly name: string;
  /** Hex digits that change when weights, tokenizer, pooling or prompts change: an index is only
   * searched with the model it was built with. */
  readonly fingerprint: string;
  readonly dim: number;
  /** How many tokens one text may hold, special tokens not counted. */
  readonly maxTokens: number;
  /** Where each token begins, in bytes of the text. */
  tokenStarts(bytes: Uint8Array): Uint32Array;
  /** A row for each text, end to end. InvalidArgument for a text of more than maxTokens: nothing is
   * ever cut off. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array>;
  /** The vector of a question, which may be of any length. */
  embedQuestion(text: string, signal?: AbortSignal): Promise<Float32Array>;
}
