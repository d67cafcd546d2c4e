// The Wasm memory of one snapshot: its collection, its engine with rows of vectors, and how it moves to
// another instance when most of it is not used any longer.

import type { ByteSource } from "../bytes/source.ts";
import type { Engine, EngineIndex, OpenCollection } from "../core/engine.ts";
import type { QuerySession } from "../core/query.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import type { Container } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import { loadPart } from "../lazy.ts";
import type { VectorTiers } from "../tiers/interface.ts";
import type { OptimiseOptions } from "../tiers/optimise_tiers.ts";
import type { CacheReport } from "./cache_report.ts";
import type { IndexContext } from "./context.ts";
import type { Lifetime } from "./lifetime.ts";
import type { IndexModel } from "./models.ts";
import { Lock } from "./promises.ts";
import type { OpenedTarget } from "./targets.ts";
import { isRead, vectorSourceOf } from "./vector_source.ts";

/** The memory that questions are answered in. */
interface Base {
  readonly engine: Engine;
  readonly collection: OpenCollection;
}

export interface LoadedEngine extends Base {
  readonly index: EngineIndex;
  readonly ownBytes: number; // of Wasm memory, without vectors
  readonly tiers: VectorTiers | null; // null where vectors are not read from the file
}

/** Postings; null where texts are read instead, "none" where that would mean to download all of them. */
export type Words = ByteSource | null | "none";

// Texts that are downloaded to look for words in them, where they are not here.
const MOST_DOWNLOADED = 2 * 1024 * 1024;
// Memory that is given back by opening another instance, where it is most of what there is.
const WORTH_MOVING = 1024 * 1024;
// What is read of words at first: mostly all that tells where they lie.
const FIRST_WORDS = 1 << 15;

export class EngineMemory {
  readonly #target: OpenedTarget;
  readonly #context: IndexContext;
  readonly #model: IndexModel;
  readonly #lifetime: Lifetime;
  readonly #rowLock = new Lock(); // for searches of stored vectors, and for what moves them
  #questions = 0; // that hold on to the memory
  #base: Promise<Base>;
  #loaded: Promise<LoadedEngine> | null = null;
  #words: Promise<Words> | null = null;

  private constructor(
    base: Base,
    target: OpenedTarget,
    context: IndexContext,
    model: IndexModel,
    lifetime: Lifetime,
  ) {
    this.#base = Promise.resolve(base);
    this.#target = target;
    this.#context = context;
    this.#model = model;
    this.#lifetime = lifetime;
  }

  /** Reads the catalogue; Damaged if it is. */
  static async open(
    target: OpenedTarget,
    context: IndexContext,
    model: IndexModel,
    lifetime: Lifetime,
  ): Promise<EngineMemory> {
    return new EngineMemory(await openBase(target, context), target, context, model, lifetime);
  }

  /** Keeps the memory where it is until release(). */
  retain(): void {
    this.#questions += 1;
  }

  release(): void {
    this.#questions -= 1;
  }

  /** What questions are asked of. */
  async collection(): Promise<OpenCollection> {
    return (await this.#workingBase()).collection;
  }

  /** The engine if it is there already; null if nothing asked for it yet. */
  get loaded(): Promise<LoadedEngine> | null {
    return this.#loaded;
  }

  /** The engine; another one where that which there was failed in a way that it does not survive. */
  async engine(): Promise<LoadedEngine> {
    const loading = this.#load();
    const loaded = await loading;
    if (!loaded.index.isBroken || this.#lifetime.isEnding) return loaded;
    if (this.#loaded === loading) {
      loaded.tiers?.close();
      this.#loaded = null;
    }
    return this.#load();
  }

  /** The postings, of which the collection has the beginning; what ranks by words without them. */
  words(): Promise<Words> {
    if (this.#words) return this.#words;
    const attaching = this.#attachWords();
    this.#words = attaching;
    attaching.catch(() => {
      if (this.#words === attaching) this.#words = null; // the next question tries again
    });
    return attaching;
  }

  /** Supplies the search of a session with rows that are stored, one search at a time; says how many were
   * read, and how many were in memory. */
  async supplyRows(session: QuerySession, signal?: AbortSignal): Promise<{ read: number; cached: number }> {
    const release = await this.#rowLock.acquire();
    try {
      throwIfAborted(signal);
      const { index, tiers } = await this.engine();
      if (!tiers) throw new GossamerError("WrongState", "the vectors of the index are not at hand; open it again");
      const before = tiers.stats;
      await tiers.run(index.searchAt(session.search()), signal);
      this.#context.budget = tiers.budget; // more than before where searches read too much
      const { wasm, js, storage } = tiers.stats;
      const cached = wasm.hits + js.hits - before.wasm.hits - before.js.hits;
      return { read: storage.rows - before.storage.rows, cached };
    } finally {
      release();
    }
  }

  async setBudget(bytes: number): Promise<void> {
    this.#context.budget = bytes;
    this.#context.watch = null;
    const loaded = await this.#loaded?.catch(() => null);
    if (!loaded?.tiers) return;
    try {
      loaded.tiers.setBudget(bytes);
    } finally {
      this.#context.budget = loaded.tiers.budget;
    }
    const release = await this.#rowLock.acquire();
    await this.#giveBack().finally(release);
  }

  /** Reads vectors into memory before they are asked for, as far as the budget goes. */
  async warm(): Promise<void> {
    await (await this.#load()).tiers?.warm();
  }

  /** Finds how little memory does for these questions, and takes it. */
  async optimise(
    { tiers, engine }: LoadedEngine & { readonly tiers: VectorTiers },
    questions: readonly Float32Array[],
    options: OptimiseOptions,
  ): Promise<CacheReport> {
    const release = await this.#rowLock.acquire();
    try {
      const wasmBytesBefore = engine.memoryBytes();
      const report = await tiers.optimise(questions, options);
      this.#context.watch = tiers.watch;
      this.#context.budget = tiers.budget;
      await this.#giveBack();
      return { ...report, wasmBytesBefore, wasmBytesAfter: engine.memoryBytes() };
    } finally {
      release();
    }
  }

  /** Lets go of all of it, when the search of rows that is under way is over. */
  async close(): Promise<void> {
    const loaded = await this.#loaded?.catch(() => null);
    loaded?.tiers?.close(); // ends what optimises the cache
    const release = await this.#rowLock.acquire();
    try {
      (await this.#base).collection.free();
    } finally {
      release();
    }
  }

  #load(): Promise<LoadedEngine> {
    if (this.#loaded) return this.#loaded;
    const loading = this.#openEngine();
    this.#loaded = loading;
    loading.catch(() => {
      if (this.#loaded === loading) this.#loaded = null; // the next question tries again
    });
    return loading;
  }

  async #openEngine(): Promise<LoadedEngine> {
    const { engine: container } = this.#target.parts;
    if (!container) throw new GossamerError("Empty", "the index holds nothing yet; add something to it");
    const base = await this.#workingBase();
    const index = await this.#openIndex(base.collection, container);
    const ownBytes = base.engine.memoryBytes();
    const source = vectorSourceOf(this.#target, this.#context.options, base.collection.counts.hasAwayTexts);
    const tiers = isRead(source) ? await this.#openTiers(index, container) : null;
    return { ...base, index, ownBytes, tiers };
  }

  async #openTiers(index: EngineIndex, container: Container): Promise<VectorTiers> {
    const { loadEviction, openVectors, storedRows } = await loadPart(import("../tiers/tiers.ts"));
    const rows = storedRows(container.slice(SECTIONS.vectors), 0, index.rowBytes);
    const { budget, watch, options } = this.#context;
    const eviction = await loadEviction(String(options.eviction ?? "lru"));
    return openVectors(index, rows, { budget, watch, eviction });
  }

  async #openIndex(collection: OpenCollection, container: Container): Promise<EngineIndex> {
    const needsPack = container.sectionAt(SECTIONS.codes) && !container.sectionAt(SECTIONS.codebook);
    const [parts, pack] = await Promise.all([
      openEngineParts(container, { withVectors: false }),
      needsPack ? this.#model.file() : Promise.resolve(null),
    ]);
    return collection.openIndex(parts, { ...(pack ? { pack } : {}), residentBytes: 0 });
  }

  /** Another one where that which there was failed in a way that it does not survive. */
  async #workingBase(): Promise<Base> {
    const opening = this.#base;
    const base = await opening;
    if (!base.collection.isBroken || this.#lifetime.isEnding) return base;
    if (this.#base === opening) {
      this.#base = openBase(this.#target, this.#context);
      this.#words = null;
    }
    return this.#base;
  }

  /** Wasm memory never shrinks: where most of it is not used any longer, the index goes over to another
   * instance, with the vectors that are in memory. Not where that would have to be fetched again. */
  async #giveBack(): Promise<void> {
    const { parts, isLocal, folder } = this.#target;
    const loaded = await this.#loaded;
    if (!loaded?.tiers || !parts.engine || !(isLocal || folder) || loaded.index.isBroken) return;
    const { engine, collection: before, ownBytes, tiers } = loaded;
    const used = ownBytes + tiers.stats.wasm.bytes;
    if (engine.memoryBytes() < Math.max(2 * used, used + WORTH_MOVING)) return;
    const collection = openCollection(engine, parts);
    const index = await this.#openIndex(collection, parts.engine);
    if (this.#questions > 0) return collection.free(); // they hold on to what there was
    tiers.moveTo(index);
    before.free();
    this.#base = Promise.resolve({ engine, collection });
    this.#loaded = Promise.resolve({ engine, collection, index, ownBytes, tiers });
    this.#words = null;
  }

  async #attachWords(): Promise<Words> {
    const { parts, isLocal } = this.#target;
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

async function openBase(target: OpenedTarget, { services }: IndexContext): Promise<Base> {
  const engine = await services.newEngine();
  return { engine, collection: openCollection(engine, target.parts) };
}

function openCollection(engine: Engine, { origin, manifest: { site } }: OpenedTarget["parts"]): OpenCollection {
  const collection = engine.openCollection(origin);
  collection.setSite(site.baseUrl, site.urlStyle);
  return collection;
}
