// One state of an index, with what questions need of it: parts are read when first needed.

import type { Engine, EngineIndex, EngineSearch } from "../core/engine.ts";
import { GossamerError } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import { rankByScan } from "../lexical/scan.ts";
import type { WordRanking } from "../lexical/ranking.ts";
import { rankByPostings } from "../lexical/words.ts";
import type { VectorSource } from "../records.ts";
import { makeElsewhere } from "../sync/elsewhere.ts";
import type { Elsewhere } from "../sync/elsewhere.ts";
import { storedRows } from "../tiers/rows.ts";
import { openVectors } from "../tiers/vectors.ts";
import type { VectorTiers } from "../tiers/vectors.ts";
import type { CacheReport, OpenOptions, OptimiseOptions } from "../worker/messages.ts";
import { allowedDocuments } from "./filters/scope.ts";
import { parseFilter } from "./filters/expression.ts";
import { roundToHalf } from "./half.ts";
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
}

interface OpenedEngine {
  readonly engine: Engine;
  readonly index: EngineIndex;
  readonly tiers: VectorTiers | null; // null where vectors are not read from the file
}

// Texts that are downloaded to look for words in them, where they are not here.
const MOST_DOWNLOADED = 2 * 1024 * 1024;
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
  readonly #engine = once(() => this.#openEngine());

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
      engine: async (signal) => (await waitFor(this.#engine(), signal)).index,
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
    (await this.#engine.begun)?.tiers?.setBudget(bytes);
  }

  /** Finds how little memory does for these questions, and takes it. */
  async optimise(
    questions: readonly string[],
    { share, accessMs }: OptimiseOptions,
    signal?: AbortSignal,
  ): Promise<CacheReport> {
    const { tiers } = await this.#engine();
    if (!tiers) {
      const where = `vectors come from ${this.vectorSource} here`;
      throw new GossamerError("WrongState", `only the cache of stored vectors is optimised; ${where}`);
    }
    const vectors = await Promise.all(questions.map((question) => this.#questionVector(question, signal)));
    const target = { ...(share ? { share } : {}), ...(accessMs ? { accessMs } : {}) };
    return this.#alone(() => tiers.optimise(vectors, { ...target, ...(signal ? { signal } : {}) }));
  }

  /** Lets go of everything; a search under way fails with WrongState. */
  async close(): Promise<void> {
    this.cache.clear();
    const opened = await this.#engine.begun?.catch(() => null);
    await this.#alone(async () => {
      opened?.tiers?.close();
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
    const needsPack = container.sectionAt(SECTIONS.codes) && !container.sectionAt(SECTIONS.codebook);
    const [engine, parts, pack] = await Promise.all([
      this.#kept.services.newEngine(),
      openEngineParts(container, { withVectors: false }),
      needsPack ? this.model.file() : Promise.resolve(null),
    ]);
    const residentBytes = isOutside ? this.#kept.budget : 0;
    const index = engine.open(parts, { ...(pack ? { pack } : {}), residentBytes });
    if (!isOutside) return { engine, index, tiers: null };
    const rows = storedRows(container.slice(SECTIONS.vectors), 0, index.rowBytes);
    const { eviction } = this.#kept.options;
    const tiers = openVectors(index, rows, { budget: this.#kept.budget, ...(eviction ? { eviction } : {}) });
    return { engine, index, tiers };
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
