// An index as the worker holds it: opened, searched, changed, closed. It also runs directly in node.

import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import type { OpenOptions, OptimiseOptions } from "../options.ts";
import type { ChunkContext, IndexStatus, Results, SearchOptions, SimilarOptions } from "../records.ts";
import type { Storage } from "../storage/storage.ts";
import type { CacheReport } from "./cache_report.ts";
import type { IndexContext } from "./context.ts";
import { Attempts, CurrentSnapshot, type TargetName } from "./current.ts";
import { Meter } from "./meter.ts";
import { checkOpenOptions } from "./options.ts";
import { askQuestion, checkQuery, type Query } from "./question.ts";
import type { Services } from "./services.ts";
import type { Snapshot } from "./snapshot.ts";

const DEFAULT_BUDGET = 32 * 1024 * 1024;
const LEAST_BUDGET = 64 * 1024;
const DEFAULT_K = 10;
const MOST_MARGIN = 1 << 20;
const MOST_LATEST = 100;
// Questions after which the cache is optimised where that was asked for at opening.
const ENOUGH_QUESTIONS = 16;

// What no question needs.
const passages = () => loadPart(import("./passages.ts"));

/** An open index. Another tab's or this page's own changes are seen by the next search. */
export class WebIndex {
  readonly #current: CurrentSnapshot;
  readonly #context: IndexContext;
  readonly #storage: Storage;
  readonly #latest: string[] = []; // questions, for the optimiser of the cache
  #isTuned: boolean; // what was asked for at opening is done

  private constructor(current: CurrentSnapshot, context: IndexContext, storage: Storage) {
    this.#current = current;
    this.#context = context;
    this.#storage = storage;
    this.#isTuned = context.options.optimise === undefined;
  }

  /** Opens an address (with "://"), a file that was picked, or a name in storage. NoIndex if there is
   * none. Nothing but what describes the index is read before the first search, unless `warm` is asked
   * for. `isUnnamed`: the storage is this index's own, and its name there nobody's business. */
  static async open(
    target: TargetName,
    options: OpenOptions,
    services: Services,
    isUnnamed = false,
  ): Promise<WebIndex> {
    await checkOpenOptions(options);
    const budget = checkBudget(options.memoryBudget ?? DEFAULT_BUDGET);
    const context: IndexContext = { options, services, meter: new Meter(), budget, watch: null };
    const storage = await services.storage();
    const index = new WebIndex(await CurrentSnapshot.open(target, context, storage, isUnnamed), context, storage);
    if (options.warm) void index.#warm().catch(() => undefined); // searches say what is wrong
    return index;
  }

  /** Its name in storage; "" where it is not kept. */
  get name(): string {
    return this.#current.name;
  }

  /** The snapshot that was committed last, for those who change it. */
  snapshot(): Promise<Snapshot> {
    return this.#current.latest();
  }

  /** For work that is to be done on one snapshot: see Attempts. */
  attempts(): Attempts {
    return new Attempts(this.#current);
  }

  /** The chunks that answer a question best; fewer than k only where fewer match. */
  async search(question: string, options: SearchOptions = {}): Promise<Results> {
    const { k = DEFAULT_K, recall, mode = "hybrid", rerank = "auto", plain: isPlain = false } = options;
    const { distinct: isDistinct = true, perFile = 2, minScore, signal } = options;
    const shown = { isPlain, isDistinct, perFile, minScore };
    const query = { question, k, mode, rerank, recall, filter: filterOf(options), signal, ...shown };
    checkQuery(query);
    this.#latest.push(question);
    this.#latest.splice(0, this.#latest.length - MOST_LATEST);
    const attempts = this.attempts();
    let answer: Promise<Results>;
    do answer = answerOf(await attempts.next(), query);
    while (!(await attempts.isFinal(answer)));
    this.#tune();
    return answer;
  }

  /** Chunks like the one with this id, without itself. */
  async similar(id: number, options: SimilarOptions = {}): Promise<Results> {
    const { k = DEFAULT_K, recall, signal } = options;
    const query = { k, mode: "semantic", recall, filter: filterOf(options), signal } as const;
    checkQuery({ question: "similar", ...query });
    const { askSimilar } = await passages();
    const attempts = this.attempts();
    let answer: Promise<Results>;
    do answer = askSimilar(await attempts.next(), id, query);
    while (!(await attempts.isFinal(answer)));
    return answer;
  }

  /** A chunk with up to `margin` bytes of the text before and after it. UnknownId if it is gone. */
  async context(id: number, margin = 600, signal?: AbortSignal): Promise<ChunkContext> {
    if (!(margin >= 0 && margin <= MOST_MARGIN)) {
      throw new GossamerError("InvalidArgument", `margin must be 0 to ${MOST_MARGIN} bytes, got ${margin}`);
    }
    const { readContext } = await passages();
    const attempts = this.attempts();
    let context: Promise<ChunkContext>;
    do context = readContext(await attempts.next(), id, Math.floor(margin), signal);
    while (!(await attempts.isFinal(context)));
    return context;
  }

  /** Titles of documents at even distances; a document without text has none. */
  async titles(most: number, signal?: AbortSignal): Promise<string[]> {
    const { readTitles } = await passages();
    const attempts = this.attempts();
    let titles: Promise<string[]>;
    do titles = readTitles(await attempts.next(), most, signal);
    while (!(await attempts.isFinal(titles)));
    return titles;
  }

  /** What the index is and takes. */
  async status(): Promise<IndexStatus> {
    const { readStatus } = await loadPart(import("./status.ts"));
    return readStatus(await this.snapshot(), this.name, this.#context, this.#storage);
  }

  /** How many bytes of vectors may be in memory; those over it go. */
  async setMemoryBudget(bytes: number): Promise<void> {
    await (await this.#current.get()).setBudget(checkBudget(bytes));
  }

  /** Finds how little memory keeps searches as fast as asked (WebANNS, algorithm 2). WrongState where
   * vectors are not read from the file. */
  async optimiseCache(options: OptimiseOptions, signal?: AbortSignal): Promise<CacheReport> {
    this.#isTuned = true;
    const questions = options.questions ?? [...this.#latest];
    const attempts = this.attempts();
    let report: Promise<CacheReport>;
    do report = (await attempts.next()).optimise(questions, options, signal);
    while (!(await attempts.isFinal(report)));
    return report;
  }

  /** Lets go of memory and files. */
  close(): Promise<void> {
    return this.#current.close();
  }

  async #warm(): Promise<void> {
    const { lifetime, memory } = await this.#current.get();
    lifetime.retain();
    await memory.warm().finally(() => lifetime.release());
  }

  /** Optimises the cache in the background, once there are questions to do it with. */
  #tune(): void {
    const { optimise } = this.#context.options;
    if (this.#isTuned || !optimise) return;
    if (!optimise.questions && this.#latest.length < ENOUGH_QUESTIONS) return;
    void this.optimiseCache(optimise).catch(() => undefined); // memory stays as it is
  }
}

/** What answers a question: words alone where meaning was to be looked for too and the model is not to be had. */
async function answerOf(snapshot: Snapshot, query: Query): Promise<Results> {
  try {
    return await askQuestion(snapshot, query);
  } catch (error) {
    if (query.mode !== "hybrid" || !(error instanceof GossamerError) || error.reason !== "MissingModel") throw error;
    const results = await askQuestion(snapshot, { ...query, mode: "lexical" });
    return { ...results, notes: [...results.notes, `found by words only: ${error.message}`] };
  }
}

/** A filter as the core takes it; undefined where nothing is asked. */
function filterOf({ filter: where, paths, types, after, before }: SearchOptions): object | undefined {
  const given = Object.entries({ where, paths, types, after, before });
  const isNothing = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  const asked = given.filter(([, value]) => !isNothing(value));
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

function checkBudget(bytes: number): number {
  if (Number.isFinite(bytes) && bytes >= LEAST_BUDGET) return Math.floor(bytes);
  throw new GossamerError(
    "InvalidArgument",
    `the memory budget must be at least ${LEAST_BUDGET} bytes, got ${bytes}`,
  );
}
