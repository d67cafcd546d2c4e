// A whole query, top to bottom: rankings by meaning and by words, fused, read and cited. The twin of
// python/gossamer/query/run.py.

import type { EngineIndex, EngineSearch } from "../core/engine.ts";
import type { TextCore } from "../core/text.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { WordRanking } from "../lexical/ranking.ts";
import type { Explanation, Hit, Mode, Results } from "../records.ts";
import { fuse } from "./fusion.ts";
import type { Fused } from "./fusion.ts";
import { locate } from "./hits.ts";
import type { ChunkLayout } from "./layout.ts";
import type { Passages } from "./passages.ts";
import type { SupplyCounts } from "./supply.ts";

/** What is asked. `vector` stands in for a question that is itself a chunk. */
export interface Query {
  readonly question: string;
  readonly k: number;
  readonly mode: Mode;
  readonly recall: number;
  readonly allowed?: Uint8Array | undefined; // by chunk number: 1 for those that may be hits
  readonly vector?: Float32Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An opened index: what a query reads. */
export interface Searchable {
  readonly text: TextCore;
  readonly layout: ChunkLayout;
  readonly passages: Passages;
  readonly hasVectors: boolean; // false while nothing is indexed
  /** What there is to know of the index and of a server that is away. */
  notes(): string[];
  /** Loaded when first asked for. */
  engine(signal?: AbortSignal): Promise<EngineIndex>;
  /** The vector of a question, rounded as kept ones are. */
  questionVector(question: string, signal?: AbortSignal): Promise<Float32Array>;
  /** Supplies a search until nothing is wanted. */
  supply(search: EngineSearch, counts: SupplyCounts, signal?: AbortSignal): Promise<void>;
  /** Ranks by words; null where that would mean to download all texts. */
  rankWords(query: Query, best: number): Promise<WordRanking | null>;
  /** Runs one search of the engine at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  bytesFetched(): number;
}

// How far down a ranking a chunk may stand and still gain from another one. Beyond the exact hits,
// ranks come from the codes alone and cost nothing.
const DEPTH = 100;

/** Chunks nearest first; the exact ones have a distance. */
interface Near {
  readonly ids: number[];
  readonly distances: ReadonlyMap<number, number>;
  readonly strategy: string;
  readonly codesTouched: number;
  readonly rounds: number;
  readonly counts: SupplyCounts;
}

interface Rankings {
  readonly near: Near | null;
  readonly words: WordRanking | null;
  readonly hasNoWords: boolean; // they were wanted, and not to be had
}

/** The k best chunks; fewer only where fewer match. A chunk whose text is not what was indexed is never a
 * hit, and another takes its place. */
export async function runQuery(index: Searchable, query: Query): Promise<Results> {
  const started = performance.now();
  const fetched = index.bytesFetched();
  const stages = new Stages();
  let asked = query;
  for (;;) {
    const knownStale = index.passages.staleRows.size;
    const rankings = await rank(index, asked, stages);
    const fused = fuseRankings(index, rankings);
    const hits = await stages.time("read", () => readHits(index, fused, rankings.near, asked));
    if (hits.length < query.k && index.passages.staleRows.size > knownStale) {
      asked = withoutStale(index, query);
      continue;
    }
    return {
      question: query.question,
      hits,
      explanation: explain(index, asked, rankings, stages, index.bytesFetched() - fetched),
      notes: notesOf(index, rankings, hits),
      tookMs: performance.now() - started,
    };
  }
}

async function rank(index: Searchable, query: Query, stages: Stages): Promise<Rankings> {
  const wantsWords = query.mode !== "semantic";
  const byWords = wantsWords
    ? stages.time("words", () => index.rankWords(query, DEPTH + query.k))
    : Promise.resolve(null);
  // Words are counted while the model and the codes load.
  const wantsNear = query.mode !== "lexical" && index.hasVectors;
  const byMeaning = wantsNear ? rankByMeaning(index, query, stages) : Promise.resolve(null);
  const [words, near] = await bothOf(byWords, byMeaning);
  return { near, words, hasNoWords: wantsWords && words === null };
}

/** Waits for both, also when one fails: nothing goes on behind an error. */
async function bothOf<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

/** Ranks by distance: exactly down to the k-th, by codes below. */
async function rankByMeaning(index: Searchable, query: Query, stages: Stages): Promise<Near> {
  const { signal } = query;
  const loading = stages.time("load", () => index.engine(signal));
  const vectorOf = () => index.questionVector(query.question, signal);
  const embedding = query.vector ? Promise.resolve(query.vector) : stages.time("question", vectorOf);
  const [, vector] = await bothOf(loading, embedding);
  const allowed = query.allowed && index.layout.idsOf(query.allowed);
  if (allowed?.length === 0) return NOTHING_NEAR;
  return index.alone(async () => {
    throwIfAborted(signal);
    const engine = await index.engine(signal); // another instance perhaps, while this waited
    const filter = allowed ? { allowed } : {};
    const open = () => engine.search(vector, { k: query.k, recall: query.recall, ...filter });
    const search = stages.timeNow("codes", open);
    try {
      const counts = { ...NO_COUNTS };
      await stages.time("vectors", () => index.supply(search, counts, signal));
      const wantsMore = query.mode === "hybrid" || counts.outOfReach > 0;
      const estimate = () => engine.estimate(vector, DEPTH + query.k, allowed).ids;
      const more = wantsMore && engine.codeBytes > 0 ? stages.timeNow("codes", estimate) : [];
      return nearOf(search, counts, more);
    } finally {
      search.free();
    }
  });
}

const NO_COUNTS: Readonly<SupplyCounts> = { embedded: 0, cached: 0, read: 0, asked: 0, outOfReach: 0 };
const NOTHING_NEAR: Near = {
  ids: [],
  distances: new Map(),
  strategy: "",
  codesTouched: 0,
  rounds: 0,
  counts: NO_COUNTS,
};

function nearOf(search: EngineSearch, counts: SupplyCounts, estimated: readonly number[]): Near {
  const { ids, distances } = search.nearest();
  const exact = new Map(ids.map((id, i) => [id, distances[i] ?? 0]));
  const { rounds, codesTouched } = search.counters();
  return {
    ids: [...ids, ...estimated.filter((id) => !exact.has(id))],
    distances: exact,
    strategy: search.strategy,
    codesTouched,
    rounds,
    counts,
  };
}

function fuseRankings(index: Searchable, { near, words }: Rankings): Fused[] {
  const rankings: Record<string, readonly number[]> = {};
  if (near) rankings["semantic"] = near.ids;
  if (words) rankings["lexical"] = words.numbers.map((number) => index.layout.ids[number] ?? 0);
  return fuse(rankings);
}

/** Reads the best until k of them are there, leaving out those whose text has changed. */
async function readHits(
  index: Searchable,
  fused: readonly Fused[],
  near: Near | null,
  { k, question, signal }: Query,
): Promise<Hit[]> {
  const hits: Hit[] = [];
  for (let start = 0; start < fused.length && hits.length < k; start += k) {
    const some = fused.slice(start, start + k);
    const passages = await index.passages.read(some.map((one) => one.id), true, signal);
    some.forEach((one, i) => {
      const isOutOfReach = !passages[i] && index.passages.isAway(one.id);
      const passage = isOutOfReach ? index.passages.withoutText(one.id) : passages[i];
      if (!passage || hits.length >= k) return;
      const distance = near?.distances.get(one.id) ?? null;
      hits.push(locate(index.text, passage, question, one, distance));
    });
  }
  return hits;
}

/** The question without the sources whose text turned out not to be what was indexed. */
function withoutStale(index: Searchable, query: Query): Query {
  const isStale = index.layout.numbersOf(index.passages.staleDocuments());
  const allowed = isStale.map((stale, number) => (stale === 0 ? (query.allowed?.[number] ?? 1) : 0));
  return { ...query, allowed };
}

function notesOf(index: Searchable, { near, words, hasNoWords }: Rankings, hits: readonly Hit[]): string[] {
  const notes = index.notes();
  if (near && near.counts.outOfReach > 0) {
    notes.push(
      `${near.counts.outOfReach} of the nearest chunks were ranked by their codes alone: ` +
        "their vectors are to be had from the server only",
    );
  }
  if (hasNoWords) {
    notes.push("words were not looked for: all texts would have to be downloaded");
  } else if (words && index.layout.hasAwayTexts) {
    notes.push("words were looked for only in the texts that are kept here");
  }
  const without = hits.filter((hit) => hit.text === "").length;
  if (without > 0) {
    notes.push(`${without} of the hits have no text here: it is to be had from the server only`);
  }
  const stale = index.passages.staleRows.size;
  if (stale > 0) {
    notes.push(`the texts of ${stale} of the sources are not what was indexed; they were left out`);
  }
  return notes;
}

function explain(
  index: Searchable,
  query: Query,
  { near, words }: Rankings,
  stages: Stages,
  bytesFetched: number,
): Explanation {
  const counts = near?.counts ?? NO_COUNTS;
  return {
    mode: query.mode,
    strategy: near?.strategy ?? "",
    chunks: index.layout.ids.length,
    allowedChunks: query.allowed ? query.allowed.reduce((sum, one) => sum + one, 0) : null,
    codesTouched: near?.codesTouched ?? 0,
    chunksEmbedded: counts.embedded,
    chunksCached: counts.cached,
    chunksRead: counts.read,
    chunksAsked: counts.asked,
    rounds: near?.rounds ?? 0,
    bytesFetched,
    lexicalTerms: words?.chunksWith ?? {},
    stages: stages.ms,
  };
}

/** Milliseconds by stage, in the order in which they were first entered. */
class Stages {
  readonly ms: Record<string, number> = {};

  async time<T>(name: string, work: () => Promise<T>): Promise<T> {
    const start = this.#enter(name);
    try {
      return await work();
    } finally {
      this.#leave(name, start);
    }
  }

  timeNow<T>(name: string, work: () => T): T {
    const start = this.#enter(name);
    try {
      return work();
    } finally {
      this.#leave(name, start);
    }
  }

  #enter(name: string): number {
    this.ms[name] ??= 0;
    return performance.now();
  }

  #leave(name: string, start: number): void {
    this.ms[name] = (this.ms[name] ?? 0) + performance.now() - start;
  }
}

/** Checks what a search is asked; InvalidArgument for what no search can answer. */
export function checkQuery(query: Pick<Query, "question" | "k" | "mode" | "recall">): void {
  const { question, k, mode, recall } = query;
  const modes: readonly string[] = ["hybrid", "semantic", "lexical"];
  if (typeof question !== "string" || !/[\p{L}\p{N}]/u.test(question)) {
    const got = JSON.stringify(question);
    throw new GossamerError("InvalidArgument", `a question needs a word or a number, got ${got}`);
  }
  if (!Number.isSafeInteger(k) || k < 1) {
    throw new GossamerError("InvalidArgument", `k must be at least 1, got ${k}`);
  }
  if (!modes.includes(mode)) {
    throw new GossamerError("InvalidArgument", `mode must be one of ${modes.join(", ")}, got ${mode}`);
  }
  if (!(recall > 0 && recall <= 1)) {
    throw new GossamerError("InvalidArgument", `recall must be above 0 and at most 1, got ${recall}`);
  }
}
