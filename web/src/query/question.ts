// A question: a session of the core says what it needs, and here is where that comes from. The same of
// python/gossamer/query/run.py.

import { explanationOf, hitOf, type HitRecord } from "../answers.ts";
import { readMany, type ByteSource } from "../bytes/source.ts";
import type { EngineIndex } from "../core/engine.ts";
import type { Collection, Need, QuerySession } from "../core/query.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { TextStore } from "../format/parts.ts";
import type { Mode, Results } from "../records.ts";
import type { VectorTiers } from "../tiers/vectors.ts";
import { nextTurn } from "../turns.ts";
import { Stages } from "./stages.ts";
import type { TextSource } from "./texts.ts";
import type { VectorSource } from "./vectors.ts";

/** What is asked. `vector` stands in for a question that is itself a chunk. */
export interface Query {
  readonly question: string;
  readonly k: number;
  readonly mode: Mode;
  readonly recall: number;
  readonly filter?: object | undefined; // what the core's filters take
  readonly excluded?: readonly number[]; // chunks that are no answers
  readonly highlight?: string; // words to mark in hits, where they are not the question's
  readonly vector?: Float32Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the core gives in the end. */
interface AnswerRecord {
  readonly hits: readonly HitRecord[];
  readonly stale: readonly string[]; // paths of sources whose text is not what was indexed
  readonly explanation: Readonly<Record<string, unknown>> & { readonly out_of_reach: number };
}

/** What a question reads of an open index. */
export interface Asked {
  readonly collection: Collection;
  readonly hasVectors: boolean; // false while nothing is indexed
  readonly readsRows: boolean; // vectors that are stored are read; else computed or asked for
  readonly texts: TextSource;
  readonly store: TextStore;
  readonly vectors: VectorSource;
  /** Postings; null where texts are read instead, "none" where that would mean to download all of them. */
  readonly words: ByteSource | null | "none";
  readonly said: Set<string>;
  /** Loaded when first asked for. */
  engine(signal?: AbortSignal): Promise<{ index: EngineIndex; tiers: VectorTiers | null }>;
  questionVector(question: string, signal?: AbortSignal): Promise<Float32Array>;
  /** Runs one search of stored vectors at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  bytesFetched(): number;
}

/** The k best chunks; fewer only where fewer match. A chunk whose text is not what was indexed is never a
 * hit, and another takes its place. */
export async function askQuestion(index: Asked, query: Query): Promise<Results> {
  const question = new Question(index, query);
  try {
    return await question.answer();
  } finally {
    question.free();
  }
}

class Question {
  readonly #index: Asked;
  readonly #query: Query;
  readonly #stages = new Stages();
  readonly #started = performance.now();
  readonly #fetched: number;
  readonly #session: QuerySession;

  constructor(index: Asked, query: Query) {
    const { question, k, mode, recall, filter, excluded = [], highlight } = query;
    const words = index.words === null ? "texts" : index.words === "none" ? "none" : "postings";
    this.#index = index;
    this.#query = query;
    this.#fetched = index.bytesFetched();
    const asked = { question, k, mode, recall, filter, excluded, highlight, words, reads_rows: index.readsRows };
    this.#session = index.collection.session(asked, index.hasVectors);
  }

  free(): void {
    this.#session.free();
  }

  /** Supplies the session until it needs nothing more: what it needs at one time is got at one time. */
  async answer(): Promise<Results> {
    const running = new Map<string, Promise<void>>();
    try {
      for (let needs = this.#session.needs(); needs.length > 0; needs = this.#session.needs()) {
        throwIfAborted(this.#query.signal);
        for (const need of needs) {
          if (running.has(need.need)) continue;
          running.set(need.need, this.#supply(need).finally(() => running.delete(need.need)));
        }
        await Promise.race(running.values());
      }
    } finally {
      await Promise.allSettled(running.values()); // nothing goes on behind an error
    }
    return this.#read();
  }

  async #supply(need: Need): Promise<void> {
    switch (need.need) {
      case "question":
        return this.#supplyQuestion();
      case "words":
        return this.#stages.time("words", () => this.#countWords(need.pieces));
      case "postings":
        return this.#stages.time("words", async () => {
          const ranges = need.ranges.map(([at, length]) => ({ at, length }));
          const source = this.#index.words as ByteSource;
          this.#session.supplyPostings(await readMany(source, ranges, this.#query.signal));
        });
      case "vectors": {
        const find = () => this.#index.vectors.find(need.ids, need.away);
        const { states, rows } = await this.#stages.time("vectors", find);
        return this.#stages.timeNow("codes", () => this.#session.supplyVectors(states, rows));
      }
      case "embeddings": {
        const embed = () => this.#index.vectors.embed(need.ids, need.texts);
        const rows = await this.#stages.time("vectors", embed);
        return this.#stages.timeNow("codes", () => this.#session.supplyEmbeddings(rows));
      }
      case "rows":
        return this.#supplyRows();
      default:
        await this.#stages.time("read", () => this.#index.texts.supply(this.#session, need));
    }
  }

  async #supplyQuestion(): Promise<void> {
    const { signal, vector: known, question } = this.#query;
    const loading = this.#stages.time("load", () => this.#index.engine(signal));
    const embedding = known
      ? Promise.resolve(known)
      : this.#stages.time("question", () => this.#index.questionVector(question, signal));
    await Promise.allSettled([loading, embedding]);
    const [{ index }, vector] = [await loading, await embedding];
    this.#stages.timeNow("codes", () => this.#session.supplyQuestion(index.handle, vector));
  }

  /** Vectors that are stored: the search is supplied with rows, one search at a time. */
  async #supplyRows(): Promise<void> {
    const { signal } = this.#query;
    await this.#index.alone(async () => {
      throwIfAborted(signal);
      const { index, tiers } = await this.#index.engine(signal);
      if (!tiers) throw new GossamerError("WrongState", "the vectors of the index are not at hand; open it again");
      const before = tiers.stats;
      await this.#stages.time("vectors", () => tiers.run(index.searchAt(this.#session.search()), signal));
      const { wasm, js, storage } = tiers.stats;
      this.#index.vectors.read += storage.rows - before.storage.rows;
      this.#index.vectors.cached += wasm.hits + js.hits - before.wasm.hits - before.js.hits;
    });
    this.#session.finishRows();
  }

  async #countWords(pieces: number): Promise<void> {
    for (let number = 0; number < pieces; ++number) {
      const { segment, begin, end } = this.#session.piece(number);
      this.#session.count(number, await this.#index.store.read(segment, begin, end, this.#query.signal));
      await nextTurn(); // others get a turn between pieces
      throwIfAborted(this.#query.signal);
    }
    this.#session.finishWords();
  }

  #read(): Results {
    const answer = this.#stages.timeNow("read", () => this.#session.answer()) as AnswerRecord;
    const hits = answer.hits.map(hitOf);
    const { mode, question } = this.#query;
    const { embedded, cached, asked, read } = this.#index.vectors;
    const explanation = {
      ...explanationOf(answer.explanation),
      mode,
      chunksEmbedded: embedded,
      chunksCached: cached,
      chunksAsked: asked,
      chunksRead: read,
      bytesFetched: this.#index.bytesFetched() - this.#fetched,
      stages: this.#stages.ms,
    };
    return {
      question,
      hits,
      explanation,
      notes: this.#notes(answer, hits.filter((hit) => hit.text === "").length),
      tookMs: performance.now() - this.#started,
    };
  }

  #notes({ explanation, stale }: AnswerRecord, withoutText: number): string[] {
    const notes = [...this.#index.said];
    if (explanation.out_of_reach > 0) {
      notes.push(
        `${explanation.out_of_reach} of the nearest chunks were ranked by their codes alone: ` +
          "their vectors are to be had from the server only",
      );
    }
    if (this.#query.mode !== "semantic" && this.#index.words === "none") {
      notes.push("words were not looked for: all texts would have to be downloaded");
    } else if (this.#query.mode !== "semantic" && this.#index.collection.counts.hasAwayTexts) {
      notes.push("words were looked for only in the texts that are kept here");
    }
    if (withoutText > 0) {
      notes.push(`${withoutText} of the hits have no text here: it is to be had from the server only`);
    }
    if (stale.length > 0) {
      notes.push(`the texts of ${stale.length} of the sources are not what was indexed; they were left out`);
    }
    return notes;
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
