import type { LexicalPass } from "../core/text.ts";

/** Chunks that hold words of the question, best first. */
export interface WordRanking {
  readonly numbers: readonly number[]; // of chunks
  readonly scores: readonly number[]; // larger is better; comparable within one ranking only
  readonly chunksWith: Readonly<Record<string, number>>; // how many chunks hold each term
}

/** The ranking of a pass that has seen every chunk. */
export function rankingOf(pass: LexicalPass, best: number): WordRanking {
  const { numbers, scores, chunksWith } = pass.top(best);
  const counts = pass.terms.map((term, i) => [term, chunksWith[i] ?? 0] as const);
  return { numbers, scores, chunksWith: Object.fromEntries(counts) };
}
