// An index as the worker holds it: opened, searched, changed, closed. It also runs directly in node.

import type { ChunkReader, Passage } from "../core/query.ts";
import { GossamerError } from "../errors.ts";
import { readManifest } from "../format/manifest.ts";
import type { OpenOptions, OptimiseOptions, StoredName } from "../options.ts";
import type { ChunkContext, IndexStatus, Results, SearchOptions } from "../records.ts";
import type { Storage } from "../storage/storage.ts";
import type { CacheReport } from "./cache_report.ts";
import { makeMeter } from "./meter.ts";
import { queue } from "./once.ts";
import { OpenedState } from "./opened.ts";
import type { Kept } from "./opened.ts";
import { checkOpenOptions } from "./options.ts";
import { askQuestion, checkQuery } from "./question.ts";
import type { Query } from "./question.ts";
import type { Services } from "./services.ts";
import { MOST_TRIES, explainedLoss, isLoss, openTarget } from "./targets.ts";
import type { TargetTools } from "./targets.ts";
import type { TextSource } from "./texts.ts";

const DEFAULT_BUDGET = 32 * 1024 * 1024;
const LEAST_BUDGET = 64 * 1024;
const DEFAULT_K = 10;
const DEFAULT_RECALL = 0.9;
const MOST_MARGIN = 1 << 20;
const MOST_LATEST = 100;
// Questions after which the cache is optimised where that was asked for at opening.
const ENOUGH_QUESTIONS = 16;

/** An open index. Another tab's or this page's own changes are seen by the next search. */
export class WebIndex {
  readonly #target: string | Blob | StoredName;
  readonly #kept: Kept;
  readonly #storage: Storage;
  readonly #reopening = queue();
  readonly #latest: string[] = []; // questions, for the optimiser of the cache
  readonly #isUnnamed: boolean;
  #state: OpenedState;
  #isClosed = false;
  #isTuned: boolean; // what was asked for at opening is done

  private constructor(
    target: string | Blob | StoredName,
    state: OpenedState,
    kept: Kept,
    storage: Storage,
    isUnnamed: boolean,
  ) {
    this.#target = target;
    this.#isUnnamed = isUnnamed;
    this.#isTuned = kept.options.optimise === undefined;
    this.#state = state;
    this.#kept = kept;
    this.#storage = storage;
  }

  /** Opens an address (with "://"), a file that was picked, or a name in storage. NoIndex if there is
   * none. Nothing but what describes the index is read before the first search, unless `warm` is asked
   * for. `isUnnamed`: the storage is this index's own, and its name there nobody's business. */
  static async open(
    target: string | Blob | StoredName,
    options: OpenOptions,
    services: Services,
    isUnnamed = false,
  ): Promise<WebIndex> {
    await checkOpenOptions(options);
    const budget = checkBudget(options.memoryBudget ?? DEFAULT_BUDGET);
    const kept: Kept = { options, services, meter: makeMeter(), budget, watch: null };
    const storage = await services.storage();
    const opened = await openTarget(target, options, toolsOf(kept, storage));
    const state = await OpenedState.open(opened, kept);
    if (options.warm) void state.use(() => state.warm()).catch(() => undefined); // searches say what is wrong
    return new WebIndex(target, state, kept, storage, isUnnamed);
  }

  /** Its name in storage; "" where it is not kept. */
  get name(): string {
    return this.#isUnnamed ? "" : this.#state.target.name;
  }

  /** The state that was committed last, for those who change it. */
  async state(): Promise<OpenedState> {
    const state = await this.#openState();
    if (!(await this.#isCurrent(state))) await this.reopen(state);
    return this.#state;
  }

  /** Runs `work` on the state that was committed last; once more where that was replaced meanwhile. */
  withState<T>(work: (state: OpenedState) => Promise<T>): Promise<T> {
    return this.#withState(work);
  }

  /** The chunks that answer a question best; fewer than k only where fewer match. */
  async search(question: string, options: SearchOptions = {}): Promise<Results> {
    const { k = DEFAULT_K, recall = DEFAULT_RECALL, mode = "hybrid", signal } = options;
    checkQuery({ question, k, mode, recall });
    this.#latest.push(question);
    this.#latest.splice(0, this.#latest.length - MOST_LATEST);
    const asked = { question, k, mode, recall, filter: filterOf(options), signal };
    const results = await this.#withState((state) => this.#run(state, asked));
    this.#tune();
    return results;
  }

  /** Chunks like the one with this id, without itself. */
  async similar(id: number, options: Omit<SearchOptions, "mode"> = {}): Promise<Results> {
    const { k = DEFAULT_K, recall = DEFAULT_RECALL, signal } = options;
    checkQuery({ question: "similar", k, mode: "semantic", recall });
    return this.#withState(async (state) => {
      const passage = await this.#passage(state, id, signal, async (one) => one);
      const embedder = await state.model.embedder();
      const vector = (await embedder.embed([passage.embedded], signal)).slice(0, embedder.dim);
      return this.#run(state, {
        question: passage.body,
        k,
        mode: "semantic",
        recall,
        filter: filterOf(options),
        excluded: [id],
        highlight: "",
        vector,
        signal,
      });
    });
  }

  /** A chunk with up to `margin` bytes of the text before and after it. UnknownId if it is gone. */
  async context(id: number, margin = 600, signal?: AbortSignal): Promise<ChunkContext> {
    if (!(margin >= 0 && margin <= MOST_MARGIN)) {
      throw new GossamerError("InvalidArgument", `margin must be 0 to ${MOST_MARGIN} bytes, got ${margin}`);
    }
    return this.#withState((state) =>
      this.#passage(state, id, signal, async ({ body, is_away, around }, texts) => {
        const spans = is_away ? [] : await texts.read(around[0].documents);
        const [before, after] = [0, 1].map((place) => decodeWhole(spans[place] ?? new Uint8Array()));
        return { before: before ?? "", text: body, after: after ?? "" };
      }, Math.floor(margin)),
    );
  }

  /** Titles of documents at even distances; a document without text has none. */
  async titles(most: number, signal?: AbortSignal): Promise<string[]> {
    return this.#withState(async (state) => {
      const ids = (await state.collection()).sample(most);
      const titlesOf = async (reader: ChunkReader) =>
        ids.flatMap((id) => reader.passage(id, 0)?.title || []);
      return [...new Set(await state.read(ids, titlesOf, signal))];
    });
  }

  /** What the index is and takes. */
  async status(): Promise<IndexStatus> {
    const state = await this.state();
    const { parts, origin, folder, isLocal } = state.target;
    const opened = await state.loadedEngine?.catch(() => null);
    const { counts } = await state.collection();
    const text = await this.#kept.services.text();
    const wasmBytes = (opened?.engine.memoryBytes() ?? 0) + text.memoryBytes();
    const files = (await folder?.files()) ?? [];
    const tiers = opened?.tiers?.stats;
    const jsBytes = state.cache.bytes + (tiers?.js.bytes ?? 0);
    return {
      name: this.name,
      origin,
      follows: isLocal && origin !== "",
      model: parts.manifest.model.name,
      dim: parts.manifest.model.dim,
      chunks: counts.chunks,
      documents: counts.documents,
      vectors: state.vectorSource,
      memoryBytes: wasmBytes + jsBytes,
      wasmBytes,
      cacheBytes: jsBytes + (tiers?.wasm.bytes ?? 0),
      cacheBudget: this.#kept.budget,
      storageBytes: files.reduce((sum, file) => sum + file.size, 0),
      storageKind: folder ? this.#storage.kind : "none",
      bytesFetched: this.#kept.meter.bytes,
      requests: this.#kept.meter.requests,
    };
  }

  /** How many bytes of vectors may be in memory; those over it go. */
  async setMemoryBudget(bytes: number): Promise<void> {
    await (await this.#openState()).setBudget(checkBudget(bytes));
  }

  /** Finds how little memory keeps searches as fast as asked (WebANNS, algorithm 2). WrongState where
   * vectors are not read from the file. */
  async optimiseCache(options: OptimiseOptions, signal?: AbortSignal): Promise<CacheReport> {
    this.#isTuned = true;
    const questions = options.questions ?? [...this.#latest];
    return this.#withState((state) => state.optimise(questions, options, signal));
  }

  /** Opens the state that was committed last, in place of `old`, which is closed when its users are done. */
  async reopen(old: OpenedState): Promise<void> {
    await this.#reopening(async () => {
      if (this.#state !== old || this.#isClosed) return; // another search was first
      // What is kept of a remote file is in use as long as it is open, and may have to go.
      if (!old.target.isLocal) await old.retire();
      const opened = await openTarget(this.#target, this.#kept.options, toolsOf(this.#kept, this.#storage));
      const state = await OpenedState.open(opened, this.#kept);
      if (this.#isClosed) return state.close();
      this.#state = state;
      void old.retire().catch(() => undefined);
    });
  }

  /** Lets go of memory and files. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#state.close();
  }

  async #run(state: OpenedState, query: Query): Promise<Results> {
    const { chunks } = (await state.collection()).counts;
    const asked = { ...query, k: Math.min(query.k, Math.max(1, chunks)) };
    const results = await state.ask((index) => askQuestion(index, asked), query.signal, query.filter);
    void state.target.flush().catch(() => undefined); // storage that fails keeps nothing, and says so
    return results;
  }

  /** What `use` makes of a chunk, with where so many bytes around it are. */
  async #passage<T>(
    state: OpenedState,
    id: number,
    signal: AbortSignal | undefined,
    use: (passage: Passage, texts: TextSource) => Promise<T>,
    margin = 0,
  ): Promise<T> {
    if (!Number.isSafeInteger(id) || id < 0) {
      throw new GossamerError("UnknownId", `there is no chunk ${id} in the index`);
    }
    return state.read([id], async (reader, texts) => {
      const passage = reader.passage(id, margin);
      if (passage) return use(passage, texts);
      if (reader.isOutOfReach(id)) {
        const said = `the text of chunk ${id} is not kept here, and its server is away`;
        throw new GossamerError("Unreachable", said);
      }
      throw new GossamerError("UnknownId", `the text of chunk ${id} is not what was indexed; add it again`);
    }, signal);
  }

  async #withState<T>(work: (state: OpenedState) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const state = await this.#openState();
      // Whether another tab changed the index is found out meanwhile: it hardly ever did.
      const [isCurrent, result] = await Promise.allSettled([
        tries === 1 ? this.#isCurrent(state) : true,
        state.use(work),
      ]);
      const isOld = isCurrent.status === "fulfilled" && !isCurrent.value;
      if (result.status === "fulfilled" && !isOld) return result.value;
      const why = result.status === "rejected" ? result.reason : null;
      if (!isOld && !(await this.#isReplaced(state, why))) {
        throw state.target.isLocal && !this.#isUnnamed ? explainedLoss(this.name, why) : why;
      }
      if (tries >= MOST_TRIES) throw busy(this.name);
      await this.reopen(state);
    }
  }

  /** Whether what failed may do on another state: one that was committed meanwhile, or a remote file that
   * turned out to be another one or damaged. */
  async #isReplaced(state: OpenedState, error: unknown): Promise<boolean> {
    if (this.#isClosed || !(error instanceof GossamerError)) return false;
    const { reason } = error;
    if (!isLoss(error) && reason !== "WrongState") return false;
    if (this.#state !== state) return true;
    if (!state.target.isLocal) return reason === "Damaged" || reason === "Truncated";
    return !(await this.#isCurrent(state).catch(() => true));
  }

  async #openState(): Promise<OpenedState> {
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw new GossamerError("WrongState", "the index was closed; open it again");
      const state = this.#state;
      if (!state.isRetired || tries >= MOST_TRIES) return state;
      await this.reopen(state); // it is under way, or failed before
    }
  }

  /** Optimises the cache in the background, once there are questions to do it with. */
  #tune(): void {
    const { optimise } = this.#kept.options;
    if (this.#isTuned || !optimise) return;
    if (!optimise.questions && this.#latest.length < ENOUGH_QUESTIONS) return;
    void this.optimiseCache(optimise).catch(() => undefined); // memory stays as it is
  }

  async #isCurrent(state: OpenedState): Promise<boolean> {
    const { folder, isLocal, parts } = state.target;
    const bytes = folder && isLocal ? await folder.readManifest() : null;
    if (!bytes) return true; // if storage was cleared, reading what is missing says so
    const now = readManifest(bytes);
    return now.generation === parts.manifest.generation && now.uuid === parts.manifest.uuid;
  }
}

function busy(name: string): GossamerError {
  const how = "ask again when those changes are done";
  return new GossamerError("Locked", `the index ${name} changed faster than it could be read; ${how}`);
}

/** A filter as the core takes it; undefined where nothing is asked. */
function filterOf({ filter: where, paths, types, after, before }: SearchOptions): object | undefined {
  const given = Object.entries({ where, paths, types, after, before });
  const isNothing = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  const asked = given.filter(([, value]) => !isNothing(value));
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

/** The text of bytes that may begin or end within a character. */
function decodeWhole(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start), { stream: true });
}

function checkBudget(bytes: number): number {
  if (Number.isFinite(bytes) && bytes >= LEAST_BUDGET) return Math.floor(bytes);
  throw new GossamerError(
    "InvalidArgument",
    `the memory budget must be at least ${LEAST_BUDGET} bytes, got ${bytes}`,
  );
}

function toolsOf({ meter, services }: Kept, storage: Storage): TargetTools {
  return { storage, meter, readers: services };
}
