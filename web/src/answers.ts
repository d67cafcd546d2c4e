// What the core says of an answer, from here or from a server, in the words of this package.

import type { Explanation, Hit, Mode, Span } from "./records.ts";

/** A hit as the core writes it; spans are in characters. */
export type HitRecord = Omit<Hit, "source"> & { readonly path: string };

/** How an answer was found, as the core or a server writes it. */
export type ExplanationRecord = Readonly<Record<string, unknown>>;

/** Spans of characters, as spans of UTF-16. */
export function spansInUtf16(text: string, spans: readonly Span[]): Span[] {
  const starts: number[] = [];
  let length = 0;
  for (const character of text) {
    starts.push(length);
    length += character.length;
  }
  return spans.map(([start, end]) => [starts[start] ?? length, starts[end] ?? length]);
}

/** What servers of earlier releases do not say. */
const UNSAID = { copies: 0, reranker: null, nearness: null, coverage: null, probability: null, strength: "", headings: [], url: "" } as const;

const NOWHERE: Span = [0, 0];

export function hitOf({ path, ...hit }: HitRecord): Hit {
  const { snippet, text, code = [], also = [], more = [] } = hit;
  const spans = {
    highlights: spansInUtf16(snippet, hit.highlights),
    code: spansInUtf16(snippet, code),
    best: spansInUtf16(snippet, [hit.best ?? NOWHERE])[0]!,
    answer: spansInUtf16(text, [hit.answer ?? NOWHERE])[0]!,
  };
  return { ...UNSAID, ...hit, ...spans, source: path, also, more };
}

export function explanationOf(said: ExplanationRecord): Explanation {
  const number = (name: string) => Number(said[name] ?? 0);
  const numbers = (name: string) => (said[name] ?? {}) as Record<string, number>;
  return {
    mode: said["mode"] as Mode,
    strategy: String(said["strategy"] ?? ""),
    chunks: number("chunks"),
    allowedChunks: said["allowed_chunks"] === null ? null : number("allowed_chunks"),
    codesTouched: number("codes_touched"),
    chunksEmbedded: number("chunks_embedded"),
    chunksCached: number("chunks_cached"),
    chunksRead: 0,
    chunksAsked: number("chunks_asked"),
    rounds: number("rounds"),
    candidates: number("candidates"),
    copies: number("copies"),
    bytesFetched: 0,
    lexicalTerms: numbers("lexical_terms"),
    stages: numbers("stages"),
  };
}
