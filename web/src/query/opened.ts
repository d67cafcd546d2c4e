// One state of an index, with what questions need of it: parts are read when first needed.

import { roundToHalf } from "../bytes/half.ts";
import type { ByteSource } from "../bytes/source.ts";
import type { Engine, EngineIndex, OpenCollection } from "../core/engine.ts";
import type { ChunkReader } from "../core/query.ts";
import { GossamerError } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import type { Container } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import { loadPart } from "../lazy.ts";
import type { OpenOptions, OptimiseOptions } from "../options.ts";
import type { VectorSource } from "../records.ts";
import { makeElsewhere } from "../server/elsewhere.ts";
import type { Elsewhere } from "../server/elsewhere.ts";
import type { VectorTiers } from "../tiers/interface.ts";
import type { CacheWatch } from "../tiers/optimiser.ts";
import type { CacheReport } from "./cache_report.ts";
import type { Meter } from "./meter.ts";
import { modelOf } from "./models.ts";
import type { IndexModel } from "./models.ts";
import { once, queue, waitFor } from "./once.ts";
import type { Asked } from "./question.ts";
import type { Services } from "./services.ts";
import type { OpenedTarget } from "./targets.ts";
import { TextSource } from "./texts.ts";
import { VectorSource as ChunkVectors } from "./vectors.ts";
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

/** The memory that questions are answered in. */
interface Base {
  readonly engine: Engine;
  readonly collection: OpenCollection;
}

interface OpenedEngine extends Base {
  readonly index: EngineIndex;
  readonly ownBytes: number; // of Wasm memory, without vectors
  readonly tiers: VectorTiers | null; // null where vectors are not read from the file
}

// Texts that are downloaded to look for words in them, where they are not here.
const MOST_DOWNLOADED = 2 * 1024 * 1024;
// Memory that is given back by opening another instance, where it is most of what there is.
const WORTH_MOVING = 1024 * 1024;
const MOST_QUESTIONS = 64; // whose vectors are remembered
// What is read of words at first: mostly all that tells where they lie.
const FIRST_WORDS = 1 << 15;

/** A state of an index that is open for questions. */
export class OpenedState {
  readonly target: OpenedTarget;
  readonly model: IndexModel;
  readonly cache: VectorCache; // of vectors that do not come from the file
  readonly #kept: Kept;
  readonly #elsewhere: Elsewhere | null;
  readonly #alone = queue();
  readonly #questions = new Map<string, Float32Array>();
  readonly #sessions = { count: 0 }; // that hold on to the memory of the engine
  readonly #hasAwayTexts: boolean;
  #base: Promise<Base>;
  #engine = once(() => this.#openEngine());
  #words = once(() => this.#attachWords());
  #users = 0;
  #closing: Promise<void> | null = null; // now, or when nobody uses it any more
  #closed: Promise<void> | null = null;
  #whenLeft: (() => void) | null = null;

  /** Opens a state; Damaged if its catalogue is. */
  static async open(target: OpenedTarget, kept: Kept): Promise<OpenedState> {
    try {
      return new OpenedState(target, kept, await openBase(target, kept));
    } catch (error) {
      target.parts.close();
      throw error;
    }
  }

  private constructor(target: OpenedTarget, kept: Kept, base: Base) {
    this.target = target;
    this.#base = Promise.resolve(base);
    this.#hasAwayTexts = base.collection.counts.hasAwayTexts;
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

  /** What questions are asked of. */
  async collection(): Promise<OpenCollection> {
    return (await this.#workingBase()).collection;
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
    if (isOutside(wanted) && !isStored) {
      const chosen = `vectors: "${wanted}" was asked for`;
      throw new GossamerError("InvalidArgument", `${chosen}, but this index keeps none; use "recompute"`);
    }
    if (wanted === "server" && !this.target.server) {
      throw new GossamerError("InvalidArgument", 'vectors: "server" needs the address of one as `server`');
    }
    return wanted;
  }

  /** Answers with what a question reads of this state. */
  async ask<T>(
    use: (asked: Asked) => Promise<T>,
    signal?: AbortSignal,
    filter?: object,
  ): Promise<T> {
    const { collection } = await this.#workingBase();
    if (filter) await this.#allow(collection, JSON.stringify(filter));
    const said = new Set(this.target.notes);
    const source = this.vectorSource;
    const { parts } = this.target;
    const vectors = new ChunkVectors({
      dim: parts.manifest.model.dim,
      cache: this.cache,
      embedder: source === "server" ? null : this.model.embedder,
      elsewhere: this.#elsewhere,
      said,
      signal,
    });
    this.#sessions.count++;
    try {
      return await use({
        collection,
        hasVectors: parts.engine !== null,
        readsRows: isOutside(source),
        texts: this.texts(said, signal),
        store: parts.texts,
        vectors,
        words: await waitFor(this.#words(), signal),
        said,
        engine: (wish) => waitFor(this.#workingEngine(), wish),
        questionVector: (question, wish) => this.#questionVector(question, wish),
        alone: this.#alone,
        bytesFetched: () => this.#kept.meter.bytes,
      });
    } finally {
      this.#sessions.count--;
    }
  }

  /** Lets a collection know what a filter lets through. */
  async #allow(collection: OpenCollection, filter: string): Promise<void> {
    if (collection.knows(filter)) return;
    const { allow } = await this.#kept.services.filters();
    collection.remember(filter, allow(this.target.parts.origin, filter));
  }

  /** Reads chunks for as long as `use` runs. */
  async read<T>(
    ids: readonly number[],
    use: (reader: ChunkReader, texts: TextSource) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const reader = (await this.collection()).read(ids);
    const texts = this.texts(new Set(), signal);
    this.#sessions.count++;
    try {
      for (let needs = reader.needs(); needs.length > 0; needs = reader.needs()) {
        for (const need of needs) await texts.supply(reader, need);
      }
      return await use(reader, texts);
    } finally {
      reader.free();
      this.#sessions.count--;
    }
  }

  /** A new look at the texts; what is to be known of a server that is away goes to `said`. */
  texts(said = new Set<string>(), signal?: AbortSignal): TextSource {
    return new TextSource(this.target.parts.texts, this.#elsewhere, said, signal);
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
      (await this.#base).collection.free();
      await this.target.flush();
      this.target.parts.close();
    });
  }

  #computed(): VectorSource {
    return this.#hasAwayTexts && this.target.server !== null ? "server" : "recompute";
  }

  async #openEngine(): Promise<OpenedEngine> {
    const { engine: container } = this.target.parts;
    if (!container) throw new GossamerError("Empty", "the index holds nothing yet; add something to it");
    const base = await this.#workingBase();
    const index = await this.#openIndex(base.collection, container);
    const ownBytes = base.engine.memoryBytes();
    if (!isOutside(this.vectorSource)) return { ...base, index, ownBytes, tiers: null };
    const { loadEviction, openVectors, storedRows } = await loadPart(import("../tiers/tiers.ts"));
    const rows = storedRows(container.slice(SECTIONS.vectors), 0, index.rowBytes);
    const { budget, watch, options } = this.#kept;
    const eviction = await loadEviction(String(options.eviction ?? "lru"));
    const onBudget = (bytes: number) => {
      this.#kept.budget = bytes;
    };
    const tiers = openVectors(index, rows, { budget, watch, onBudget, eviction });
    return { ...base, index, ownBytes, tiers };
  }

  /** Another one where that which there was failed in a way that it does not survive. */
  async #workingBase(): Promise<Base> {
    const base = await this.#base;
    if (!base.collection.isBroken || this.isRetired) return base;
    if ((await this.#base) === base) {
      this.#base = openBase(this.target, this.#kept);
      this.#words = once(() => this.#attachWords());
    }
    return this.#base;
  }

  /** The engine; another one where that which there was failed in a way that it does not survive. */
  async #workingEngine(): Promise<OpenedEngine> {
    const opened = await this.#engine();
    if (!opened.index.isBroken || this.isRetired) return opened;
    if ((await this.#engine.begun) === opened) {
      opened.tiers?.close();
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
    const { engine, collection: before, ownBytes, tiers } = opened;
    const used = ownBytes + tiers.stats.wasm.bytes;
    if (engine.memoryBytes() < Math.max(2 * used, used + WORTH_MOVING)) return;
    const collection = engine.openCollection(parts.origin);
    const index = await this.#openIndex(collection, parts.engine);
    if (this.#sessions.count > 0) return collection.free(); // questions hold on to what there was
    tiers.moveTo(index);
    before.free();
    const moved = { engine, collection, index, ownBytes, tiers };
    this.#base = Promise.resolve(moved);
    this.#words = once(() => this.#attachWords());
    this.#engine = once(async () => moved);
    await this.#engine();
  }

  async #openIndex(collection: OpenCollection, container: Container): Promise<EngineIndex> {
    const needsPack = container.sectionAt(SECTIONS.codes) && !container.sectionAt(SECTIONS.codebook);
    const [parts, pack] = await Promise.all([
      openEngineParts(container, { withVectors: false }),
      needsPack ? this.model.file() : Promise.resolve(null),
    ]);
    return collection.openIndex(parts, { ...(pack ? { pack } : {}), residentBytes: 0 });
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

  /** The postings, of which the collection has the beginning; what ranks by words without them. */
  async #attachWords(): Promise<ByteSource | null | "none"> {
    const { parts, isLocal } = this.target;
    const collection = await this.collection();
    const { words } = parts;
    if (!words) return !isLocal && collection.counts.textBytes > MOST_DOWNLOADED ? "none" : null;
    const start = await words.read(0, Math.min(words.size, FIRST_WORDS));
    const needed = collection.postingsHead(start, words.size);
    const head = needed <= start.length ? start.subarray(0, needed) : await words.read(0, needed);
    collection.attachPostings(head, words.size);
    return words;
  }
}

/** Whether vectors stay in the file, and are read from there. */
function isOutside(source: VectorSource): boolean {
  return source === "stored" || source === "ranges";
}

async function openBase(target: OpenedTarget, { services }: Kept): Promise<Base> {
  const engine = await services.newEngine();
  return { engine, collection: engine.openCollection(target.parts.origin) };
}
