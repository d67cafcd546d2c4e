// One state of an index, with what questions need of it: parts are read when first needed.

import { roundToHalf } from "../bytes/half.ts";
import type { Engine, EngineIndex, EngineSearch } from "../core/engine.ts";
import { GossamerError } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import type { Container } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import { loadPart } from "../lazy.ts";
import type { WordRanking } from "../lexical/ranking.ts";
import { rankByScan } from "../lexical/scan.ts";
import { rankByPostings } from "../lexical/words.ts";
import type { OpenOptions, OptimiseOptions } from "../options.ts";
import type { VectorSource } from "../records.ts";
import { makeElsewhere } from "../server/elsewhere.ts";
import type { Elsewhere } from "../server/elsewhere.ts";
import type { VectorTiers } from "../tiers/interface.ts";
import type { CacheWatch } from "../tiers/optimiser.ts";
import type { CacheReport } from "./cache_report.ts";
import { parseFilter } from "./filters/expression.ts";
import { allowedDocuments } from "./filters/scope.ts";
import { layOut } from "./layout.ts";
import type { ChunkLayout } from "./layout.ts";
import type { Meter } from "./meter.ts";
import { modelOf } from "./models.ts";
import type { IndexModel } from "./models.ts";
import { once, queue, waitFor } from "./once.ts";
import { Passages } from "./passages.ts";
import type { AskChunks } from "./passages.ts";
import type { Query, Searchable } from "./run.ts";
import type { Services } from "./services.ts";
import { supplyAll } from "./supply.ts";
import type { AskVectors, SupplyCounts } from "./supply.ts";
import type { OpenedTarget } from "./targets.ts";
import { vectorCache } from "./vector_cache.ts";
import type { VectorCache } from "./vector_cache.ts";

/** What stays when another state of the index is opened. */
export interface Kept {
  readonly options: OpenOptions;
  readonly services: Services;
  readonly meter: Meter;
  budget: number;
  watch: CacheWatch | null; // over what the optimiser of the cache found
}

interface OpenedEngine {
  readonly engine: Engine;
  readonly index: EngineIndex;
  readonly ownBytes: number; // of Wasm memory, without vectors
  readonly tiers: VectorTiers | null; // null where vectors are not read from the file
}

// Texts that are downloaded to look for words in them, where they are not here.
const MOST_DOWNLOADED = 2 * 1024 * 1024;
// Memory that is given back by opening another instance, where it is most of what there is.
const WORTH_MOVING = 1024 * 1024;
const MOST_QUESTIONS = 64; // whose vectors are remembered
const MOST_FILTERS = 16; // whose answers are remembered

/** A state of an index that is open for questions. */
export class OpenedState {
  readonly target: OpenedTarget;
  readonly model: IndexModel;
  readonly cache: VectorCache; // of vectors that do not come from the file
  readonly #kept: Kept;
  readonly #elsewhere: Elsewhere | null;
  readonly #alone = queue();
  readonly #questions = new Map<string, Float32Array>();
  readonly #allowed = new Map<string, Uint8Array>();
  #layout: ChunkLayout | null = null;
  #engine = once(() => this.#openEngine());
  #users = 0;
  #closing: Promise<void> | null = null; // now, or when nobody uses it any more
  #closed: Promise<void> | null = null;
  #whenLeft: (() => void) | null = null;

  constructor(target: OpenedTarget, kept: Kept) {
    this.target = target;
    this.#kept = kept;
    this.cache = vectorCache(kept.budget);
    const { model } = target.parts.manifest;
    const { server } = target;
    this.#elsewhere = server && makeElsewhere(server, model.dim);
    // Beside a server that is followed there are no files.
    const beside = target.isLocal ? "" : target.origin;
    const options = server ? { ...kept.options, server } : kept.options;
    this.model = modelOf(model, beside, options, kept.services, kept.meter);
  }

  /** Whether it was closed, or will be when nobody uses it any more. */
  get isRetired(): boolean {
    return this.#closing !== null;
  }

  /** Runs `work`; until it is over, retire() does not close the state. */
  async use<T>(work: (state: OpenedState) => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work(this);
    } finally {
      this.#users--;
      if (this.#users === 0) this.#whenLeft?.();
    }
  }

  /** Closes when those who use the state are done. */
  retire(): Promise<void> {
    const left = this.#users === 0 ? Promise.resolve() : new Promise<void>((done) => (this.#whenLeft = done));
    this.#closing ??= left.then(() => this.close());
    return this.#closing;
  }

  get layout(): ChunkLayout {
    this.#layout ??= layOut(this.target.parts.catalogue);
    return this.#layout;
  }

  /** The engine if it is there already; null if nothing asked for it yet. */
  get loadedEngine(): Promise<OpenedEngine> | null {
    return this.#engine.begun;
  }

  /** Where vectors come from that are not in memory. */
  get vectorSource(): VectorSource {
    const { options } = this.#kept;
    const { parts, isLocal } = this.target;
    const hasVectors = (parts.engine?.sectionAt(SECTIONS.vectors)?.length ?? 0) > 0;
    const hasCodes = Boolean(parts.engine?.sectionAt(SECTIONS.codes));
    const isStored = hasVectors && (parts.manifest.settings.keep === "all" || !hasCodes);
    const own = isLocal ? "stored" : "ranges";
    const wanted = options.vectors ?? (isStored ? own : this.#computed());
    if ((wanted === "stored" || wanted === "ranges") && !isStored) {
      const chosen = `vectors: "${wanted}" was asked for`;
      throw new GossamerError("InvalidArgument", `${chosen}, but this index keeps none; use "recompute"`);
    }
    if (wanted === "server" && !this.target.server) {
      throw new GossamerError("InvalidArgument", 'vectors: "server" needs the address of one as `server`');
    }
    return wanted;
  }

  /** What a query reads: a new look at the texts. */
  async searchable(): Promise<Searchable> {
    const text = await this.#kept.services.text();
    const said = new Set(this.target.notes);
    const passages = this.passages(said);
    return {
      text,
      layout: this.layout,
      passages,
      notes: () => [...said],
      hasVectors: this.target.parts.engine !== null,
      engine: async (signal) => (await waitFor(this.#workingEngine(), signal)).index,
      questionVector: (question, signal) => this.#questionVector(question, signal),
      supply: (search, counts, signal) => this.#supply(search, passages, said, counts, signal),
      rankWords: (query, best) => this.#rankWords(query, best),
      alone: this.#alone,
      bytesFetched: () => this.#kept.meter.bytes,
    };
  }

  /** A new look at the texts; what is to be known of a server that is away goes to `said`. */
  passages(said = new Set<string>()): Passages {
    const { parts } = this.target;
    return new Passages(parts.catalogue, parts.texts, this.#chunkAsker(said));
  }

  /** Says of each chunk whether a filter lets it through; undefined without a filter. */
  allowed(filter: string | undefined): Uint8Array | undefined {
    if (filter === undefined) return undefined;
    const known = this.#allowed.get(filter);
    if (known) return known;
    const documents = allowedDocuments(this.target.parts.catalogue, parseFilter(filter));
    const allowed = this.layout.numbersOf(documents);
    if (this.#allowed.size >= MOST_FILTERS) this.#allowed.clear();
    this.#allowed.set(filter, allowed);
    return allowed;
  }

  async setBudget(bytes: number): Promise<void> {
    this.cache.setBudget(bytes);
    this.#kept.budget = bytes;
    this.#kept.watch = null;
    const opened = await this.#engine.begun?.catch(() => null);
    if (!opened?.tiers) return;
    try {
      opened.tiers.setBudget(bytes);
    } finally {
      this.#kept.budget = opened.tiers.budget;
    }
    await this.#alone(() => this.#giveBack());
  }

  /** Reads vectors into memory before they are asked for, as far as the budget goes. */
  async warm(): Promise<void> {
    await (await this.#engine()).tiers?.warm();
  }

  /** Finds how little memory does for these questions, and takes it. */
  async optimise(
    questions: readonly string[],
    { share, accessMs }: OptimiseOptions,
    signal?: AbortSignal,
  ): Promise<CacheReport> {
    const { tiers, engine } = await this.#engine();
    if (!tiers) {
      const where = `vectors come from ${this.vectorSource} here`;
      throw new GossamerError("WrongState", `only the cache of stored vectors is optimised; ${where}`);
    }
    const vectors = await Promise.all(questions.map((question) => this.#questionVector(question, signal)));
    const target = {
      ...(share === undefined ? {} : { share }),
      ...(accessMs === undefined ? {} : { accessMs }),
      ...(signal ? { signal } : {}),
      fills: this.vectorSource === "stored",
    };
    return this.#alone(async () => {
      const wasmBytesBefore = engine.memoryBytes();
      const report = await tiers.optimise(vectors, target);
      this.#kept.watch = tiers.watch;
      this.#kept.budget = tiers.budget;
      await this.#giveBack();
      return { ...report, wasmBytesBefore, wasmBytesAfter: engine.memoryBytes() };
    });
  }

  /** Lets go of everything; a search under way fails with WrongState. */
  close(): Promise<void> {
    this.#closed ??= this.#letGo();
    this.#closing ??= this.#closed;
    return this.#closed;
  }

  async #letGo(): Promise<void> {
    this.cache.clear();
    const opening = await this.#engine.begun?.catch(() => null);
    opening?.tiers?.close(); // ends what optimises the cache
    await this.#alone(async () => {
      const opened = await this.#engine.begun?.catch(() => null);
      opened?.index.free();
      await this.target.flush();
      this.target.parts.close();
    });
  }

  #computed(): VectorSource {
    const isAway = this.layout.hasAwayTexts && this.target.server !== null;
    return isAway ? "server" : "recompute";
  }

  async #openEngine(): Promise<OpenedEngine> {
    const { engine: container } = this.target.parts;
    if (!container) throw new GossamerError("Empty", "the index holds nothing yet; add something to it");
    const source = this.vectorSource;
    const isOutside = source === "stored" || source === "ranges";
    const { engine, index } = await this.#openIndex(this.#kept.services.newEngine(), container);
    const ownBytes = engine.memoryBytes();
    if (!isOutside) return { engine, index, ownBytes, tiers: null };
    const { loadEviction, openVectors, storedRows } = await loadPart(import("../tiers/tiers.ts"));
    const rows = storedRows(container.slice(SECTIONS.vectors), 0, index.rowBytes);
    const { budget, watch, options } = this.#kept;
    const eviction = await loadEviction(String(options.eviction ?? "lru"));
    const onBudget = (bytes: number) => {
      this.#kept.budget = bytes;
    };
    const tiers = openVectors(index, rows, { budget, watch, onBudget, eviction });
    return { engine, index, ownBytes, tiers };
  }

  /** The engine; another one where that which there was failed in a way that it does not survive. */
  async #workingEngine(): Promise<OpenedEngine> {
    const opened = await this.#engine();
    if (!opened.index.isBroken || this.isRetired) return opened;
    if ((await this.#engine.begun) === opened) {
      opened.tiers?.close();
      opened.index.free();
      this.#engine = once(() => this.#openEngine());
    }
    return this.#engine();
  }

  /** Wasm memory never shrinks: where most of it is not used any longer, the index goes over to another
   * instance, with the vectors that are in memory. Not where that would have to be fetched again. */
  async #giveBack(): Promise<void> {
    const { parts, isLocal, folder } = this.target;
    const opened = await this.#engine.begun;
    if (!opened?.tiers || !parts.engine || !(isLocal || folder) || opened.index.isBroken) return;
    const { engine, index, ownBytes, tiers } = opened;
    const used = ownBytes + tiers.stats.wasm.bytes;
    if (engine.memoryBytes() < Math.max(2 * used, used + WORTH_MOVING)) return;
    const { index: next } = await this.#openIndex(Promise.resolve(engine), parts.engine);
    tiers.moveTo(next);
    index.free();
    const moved = { engine, index: next, ownBytes, tiers };
    this.#engine = once(async () => moved);
    await this.#engine();
  }

  async #openIndex(loading: Promise<Engine>, container: Container): Promise<{ engine: Engine; index: EngineIndex }> {
    const needsPack = container.sectionAt(SECTIONS.codes) && !container.sectionAt(SECTIONS.codebook);
    const [engine, parts, pack] = await Promise.all([
      loading,
      openEngineParts(container, { withVectors: false }),
      needsPack ? this.model.file() : Promise.resolve(null),
    ]);
    return { engine, index: engine.open(parts, { ...(pack ? { pack } : {}), residentBytes: 0 }) };
  }

  async #questionVector(question: string, signal?: AbortSignal): Promise<Float32Array> {
    const known = this.#questions.get(question);
    if (known) return known;
    const embedder = await waitFor(this.model.embedder(), signal);
    const vector = roundToHalf((await embedder.embedQuestion(question, signal)).slice());
    if (this.#questions.size >= MOST_QUESTIONS) this.#questions.clear();
    this.#questions.set(question, vector);
    return vector;
  }

  async #supply(
    search: EngineSearch,
    passages: Passages,
    said: Set<string>,
    counts: SupplyCounts,
    signal?: AbortSignal,
  ): Promise<void> {
    const { index, tiers } = await this.#engine();
    if (tiers) {
      const before = tiers.stats;
      await tiers.run(search, signal);
      const { wasm, js, storage } = tiers.stats;
      counts.read += storage.rows - before.storage.rows;
      counts.cached += wasm.hits + js.hits - before.wasm.hits - before.js.hits;
      return;
    }
    const isAsked = this.vectorSource === "server";
    const suppliers = {
      dim: index.dim,
      cache: this.cache,
      passages,
      embedder: isAsked ? null : this.model.embedder,
      ask: isAsked ? this.#vectorAsker(said) : null,
    };
    await supplyAll(search, suppliers, counts, signal);
  }

  async #rankWords(query: Query, best: number): Promise<WordRanking | null> {
    const text = await this.#kept.services.text();
    const { parts, isLocal } = this.target;
    const { question, allowed, signal } = query;
    if (parts.words) {
      const { bytes } = this.layout;
      return rankByPostings(text, parts.words, { question, best, bytes, allowed, signal });
    }
    if (!isLocal && this.layout.textBytes > MOST_DOWNLOADED) return null;
    return rankByScan(text, parts.texts, this.layout, { question, best, allowed, signal });
  }

  #vectorAsker(said: Set<string>): AskVectors | null {
    const elsewhere = this.#elsewhere;
    return elsewhere && ((ids, signal) => elsewhere.vectors(ids, said, signal));
  }

  #chunkAsker(said: Set<string>): AskChunks | null {
    const elsewhere = this.#elsewhere;
    return elsewhere && ((ids, signal) => elsewhere.chunks(ids, said, signal));
  }
}
