// Ranking by words from postings: the same scores as a pass over the texts, without reading them.

import type { TextCore } from "../core/text.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Postings, Words } from "../format/words.ts";
import { rankingOf } from "./ranking.ts";
import type { WordRanking } from "./ranking.ts";

/** What is asked: `bytes` are those of each chunk, `allowed` says which take part (1), all without it. */
export interface WordQuery {
  readonly question: string;
  readonly best: number;
  readonly bytes: Float64Array;
  readonly allowed?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Ranks chunks by the postings of the question's terms. */
export async function rankByPostings(text: TextCore, words: Words, query: WordQuery): Promise<WordRanking> {
  if (words.chunks !== query.bytes.length) {
    const expected = `${query.bytes.length} chunks, its words are of ${words.chunks}`;
    throw new GossamerError("Damaged", `the index has ${expected}; export it again`);
  }
  const pass = text.lexicalPass(query.question, query.allowed);
  try {
    const postings = pass.terms.length > 0 ? await words.find(pass.terms, query.signal) : [];
    throwIfAborted(query.signal);
    const isAllowed = (number: number) => !query.allowed || query.allowed[number] === 1;
    let [chunks, bytes] = [0, 0]; // of those that hold a term
    for (const { number, terms, counts } of merged(postings)) {
      if (!isAllowed(number)) continue;
      const length = query.bytes[number] ?? 0;
      pass.addCounts(number, length, terms, counts);
      chunks += 1;
      bytes += length;
    }
    const all = total(query.bytes, isAllowed);
    pass.addOthers(all.chunks - chunks, all.bytes - bytes);
    return rankingOf(pass, query.best);
  } finally {
    pass.free();
  }
}

/** The chunks of several lists, rising, with the terms that each holds. */
function* merged(
  postings: readonly Postings[],
): Generator<{ number: number; terms: number[]; counts: number[] }> {
  const next = postings.map(() => 0);
  for (;;) {
    let number = Infinity;
    postings.forEach(({ chunks }, term) => {
      number = Math.min(number, chunks[next[term] ?? 0] ?? Infinity);
    });
    if (number === Infinity) return;
    const terms: number[] = [];
    const counts: number[] = [];
    postings.forEach((list, term) => {
      const place = next[term] ?? 0;
      if (list.chunks[place] !== number) return;
      terms.push(term);
      counts.push(list.counts[place] ?? 0);
      next[term] = place + 1;
    });
    yield { number, terms, counts };
  }
}

function total(
  bytes: Float64Array,
  isAllowed: (number: number) => boolean,
): { chunks: number; bytes: number } {
  const sum = { chunks: 0, bytes: 0 };
  bytes.forEach((some, number) => {
    if (!isAllowed(number)) return;
    sum.chunks += 1;
    sum.bytes += some;
  });
  return sum;
}
