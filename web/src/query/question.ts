// A question: a session of the core says what it needs, and here is where that comes from. The same of
// python/gossamer/query/run.py.

import { explanationOf, hitOf, type HitRecord } from "../answers.ts";
import { readMany, type ByteSource } from "../bytes/source.ts";
import { NO_TOKENS, type Collection, type Need, type QuerySession, type QuestionVectors } from "../core/query.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Mode, Rerank, Results, Span } from "../records.ts";
import { nextTurn } from "../turns.ts";
import type { LoadedEngine, Words } from "./engine_memory.ts";
import { waitFor } from "./promises.ts";
import type { Snapshot } from "./snapshot.ts";
import { Stages } from "./stages.ts";
import { TextSource } from "./texts.ts";
import { isRead } from "./vector_source.ts";
import { VectorSource } from "./vectors.ts";

/** What is asked. `vector` stands in for a question that is itself a chunk. */
export interface Query {
  readonly question: string;
  readonly k: number;
  readonly mode: Mode;
  readonly rerank?: Rerank; // in hybrid mode
  readonly recall?: number | undefined; // what is usual without it
  readonly minScore?: number | undefined; // the least probability of a hit
  readonly filter?: object | undefined; // what the core's filters take
  readonly isPlain?: boolean; // quotes, signs and fields of the question are text
  readonly isDistinct?: boolean; // passages that say the same are one hit
  readonly perFile?: number; // hits of a document; 0 for any number
  readonly excluded?: readonly number[]; // chunks that are no answers
  readonly highlight?: string; // words to mark in hits, where they are not the question's
  readonly vector?: Float32Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

type NeedOf<Name> = Extract<Need, { need: Name }>;

/** What the core gives in the end. */
interface AnswerRecord {
  readonly hits: readonly HitRecord[];
  readonly stale: readonly string[]; // paths of sources whose text is not what was indexed
  readonly explanation: Readonly<Record<string, unknown>> & {
    readonly out_of_reach: number;
    readonly absent: readonly string[];
  };
}

/** The k best chunks; fewer only where fewer match. A chunk whose text is not what was indexed is never a
 * hit, and another takes its place. */
export async function askQuestion(snapshot: Snapshot, query: Query): Promise<Results> {
  const question = await Question.open(snapshot, query);
  try {
    const results = await question.answer();
    void snapshot.target.flush().catch(() => undefined); // storage that fails keeps nothing, and says so
    return results;
  } finally {
    question.free();
  }
}

class Question {
  readonly #snapshot: Snapshot;
  readonly #query: Query;
  readonly #collection: Collection;
  readonly #session: QuerySession;
  readonly #words: Words;
  readonly #notes: Set<string>;
  readonly #texts: TextSource;
  readonly #vectors: VectorSource;
  readonly #stages = new Stages();
  readonly #started = performance.now();
  readonly #fetched: number;

  /** Begins a question in the memory of a snapshot, which stays where it is until the question is freed. */
  static async open(snapshot: Snapshot, query: Query): Promise<Question> {
    const { memory } = snapshot;
    memory.retain();
    try {
      const collection = await memory.collection();
      const words = await waitFor(memory.words(), query.signal);
      await snapshot.allow(collection, filtersOf(query, collection));
      return new Question(snapshot, query, collection, words);
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  private constructor(snapshot: Snapshot, query: Query, collection: Collection, words: Words) {
    const { target, cache, model, server, vectorSource } = snapshot;
    const { parts, notes } = target;
    const { question, mode, rerank, recall, filter, excluded = [], highlight, signal } = query;
    const { minScore, isPlain = false, isDistinct = false, perFile = 0 } = query;
    this.#snapshot = snapshot;
    this.#query = query;
    this.#collection = collection;
    this.#words = words;
    this.#fetched = snapshot.bytesFetched;
    this.#notes = new Set(notes);
    this.#texts = new TextSource(parts.texts, server, this.#notes, signal);
    this.#vectors = new VectorSource({
      dim: parts.manifest.model.dim,
      cache,
      model: vectorSource === "server" ? null : model,
      server,
      notes: this.#notes,
      signal,
    });
    const k = Math.min(query.k, Math.max(1, collection.counts.chunks));
    const by = words === null ? "texts" : words === "none" ? "none" : "postings";
    const reranks = rerank !== "none";
    const shown = { is_plain: isPlain, is_distinct: isDistinct, per_file: perFile, min_score: minScore, highlight };
    const rest = { reranks, excluded, words: by, reads_rows: isRead(vectorSource), ...shown };
    this.#session = collection.session({ question, k, mode, recall, filter, ...rest }, parts.engine !== null);
  }

  free(): void {
    this.#session.free();
    this.#snapshot.memory.release();
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

  #supply(need: Need): Promise<void> {
    switch (need.need) {
      case "question":
        return this.#supplyQuestion(need.text);
      case "words":
        return this.#countWords(need.pieces);
      case "postings":
        return this.#supplyPostings(need.ranges);
      case "vectors":
        return this.#supplyVectors(need);
      case "embeddings":
        return this.#supplyEmbeddings(need);
      case "rows":
        return this.#supplyRows();
      default:
        return this.#supplyTexts(need);
    }
  }

  async #supplyQuestion(asked: string): Promise<void> {
    const [loading, embedding] = [this.#loadEngine(), this.#embedQuestion(asked)];
    await Promise.allSettled([loading, embedding]);
    const [{ index }, vectors] = [await loading, await embedding];
    const leave = this.#stages.enter("codes");
    this.#session.supplyQuestion(index.handle, vectors);
    leave();
  }

  async #loadEngine(): Promise<LoadedEngine> {
    const leave = this.#stages.enter("load");
    const loaded = await waitFor(this.#snapshot.memory.engine(), this.#query.signal);
    leave();
    return loaded;
  }

  async #embedQuestion(asked: string): Promise<QuestionVectors> {
    const { vector, mode, rerank, signal } = this.#query;
    if (vector) return { row: vector, ...NO_TOKENS };
    const leave = this.#stages.enter("question");
    // Tokens are compared with those of texts that are embedded here.
    const withTokens = mode === "hybrid" && rerank !== "none" && this.#vectors.embeds;
    const embedded = await this.#snapshot.questionVectors(asked, withTokens, signal);
    leave();
    return embedded;
  }

  async #countWords(pieces: number): Promise<void> {
    const { signal } = this.#query;
    const leave = this.#stages.enter("words");
    for (let number = 0; number < pieces; ++number) {
      const { segment, begin, end } = this.#session.piece(number);
      const text = await this.#snapshot.target.parts.texts.read(segment, begin, end, signal);
      this.#session.count(number, text);
      await nextTurn(); // others get a turn between pieces
      throwIfAborted(signal);
    }
    this.#session.finishWords();
    leave();
  }

  async #supplyPostings(wanted: readonly Span[]): Promise<void> {
    const leave = this.#stages.enter("words");
    const ranges = wanted.map(([at, length]) => ({ at, length }));
    this.#session.supplyPostings(await readMany(this.#words as ByteSource, ranges, this.#query.signal));
    leave();
  }

  async #supplyVectors({ ids, away, tokens }: NeedOf<"vectors">): Promise<void> {
    const leave = this.#stages.enter("vectors");
    const { states, rows } = await this.#vectors.find(ids, away, tokens);
    leave();
    const leaveCodes = this.#stages.enter("codes");
    this.#session.supplyVectors(states, rows);
    leaveCodes();
  }

  async #supplyEmbeddings({ ids, texts, tokens }: NeedOf<"embeddings">): Promise<void> {
    const leave = this.#stages.enter("vectors");
    const made = await this.#vectors.embed(ids, texts, tokens);
    leave();
    const leaveCodes = this.#stages.enter("codes");
    this.#session.supplyEmbeddings(made);
    leaveCodes();
  }

  async #supplyRows(): Promise<void> {
    const leave = this.#stages.enter("vectors");
    const { read, cached } = await this.#snapshot.memory.supplyRows(this.#session, this.#query.signal);
    leave();
    this.#vectors.read += read;
    this.#vectors.cached += cached;
    this.#session.finishRows();
  }

  async #supplyTexts(need: Need): Promise<void> {
    const leave = this.#stages.enter("read");
    await this.#texts.supply(this.#session, need);
    leave();
  }

  #read(): Results {
    const leave = this.#stages.enter("read");
    const answer = this.#session.answer() as AnswerRecord;
    leave();
    const hits = answer.hits.map(hitOf);
    const { mode, question } = this.#query;
    const { embedded, cached, asked, read } = this.#vectors;
    const explanation = {
      ...explanationOf(answer.explanation),
      mode,
      chunksEmbedded: embedded,
      chunksCached: cached,
      chunksAsked: asked,
      chunksRead: read,
      bytesFetched: this.#snapshot.bytesFetched - this.#fetched,
      stages: this.#stages.ms,
    };
    return {
      question,
      hits,
      absent: answer.explanation.absent,
      explanation,
      notes: this.#notesOn(answer, hits.filter((hit) => hit.text === "").length),
      tookMs: performance.now() - this.#started,
    };
  }

  #notesOn({ explanation, stale }: AnswerRecord, withoutText: number): string[] {
    const notes = [...this.#notes];
    if (explanation.out_of_reach > 0) {
      notes.push(
        `${explanation.out_of_reach} of the nearest chunks were ranked by their codes alone: ` +
          "their vectors are to be had from the server only",
      );
    }
    if (this.#query.mode !== "semantic" && this.#words === "none") {
      notes.push("words were not looked for: all texts would have to be downloaded");
    } else if (this.#query.mode !== "semantic" && this.#collection.counts.hasAwayTexts) {
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

/** The filters of a question, those that it names among them, as JSON. */
function filtersOf({ question, filter, isPlain }: Query, collection: Collection): string[] {
  const named = isPlain ? [] : collection.filtersIn(question);
  return filter ? [JSON.stringify(filter), ...named] : named;
}

/** Checks what a search is asked; InvalidArgument for what no search can answer. */
export function checkQuery(query: Omit<Query, "vector" | "signal">): void {
  const { question, k, mode, rerank = "auto", recall = 1, perFile = 0, minScore = 0 } = query;
  if (typeof question !== "string" || !/[\p{L}\p{N}]/u.test(question)) {
    const got = JSON.stringify(question);
    throw new GossamerError("InvalidArgument", `a question needs a word or a number, got ${got}`);
  }
  if (!Number.isSafeInteger(k) || k < 1) {
    throw new GossamerError("InvalidArgument", `k must be at least 1, got ${k}`);
  }
  if (!Number.isSafeInteger(perFile) || perFile < 0) {
    throw new GossamerError("InvalidArgument", `perFile must be 0 (any number) or more, got ${perFile}`);
  }
  checkName("mode", mode, ["hybrid", "semantic", "lexical"]);
  checkName("rerank", rerank, ["auto", "none"]);
  if (!(recall > 0 && recall <= 1)) {
    throw new GossamerError("InvalidArgument", `recall must be above 0 and at most 1, got ${recall}`);
  }
  if (!(minScore >= 0 && minScore <= 1)) {
    throw new GossamerError("InvalidArgument", `minScore must be from 0 to 1, got ${minScore}`);
  }
}

function checkName(what: string, name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  throw new GossamerError("InvalidArgument", `${what} must be one of ${names.join(", ")}, got ${name}`);
}
