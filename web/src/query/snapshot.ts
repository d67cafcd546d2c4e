// One committed state of an index, and what questions read of it: parts are opened when first needed.

import { roundToHalf } from "../bytes/half.ts";
import type { OpenCollection } from "../core/engine.ts";
import { NO_TOKENS, type QuestionVectors } from "../core/query.ts";
import { GossamerError } from "../errors.ts";
import type { OptimiseOptions } from "../options.ts";
import type { VectorSource } from "../records.ts";
import { RemoteChunks } from "../server/remote_chunks.ts";
import type { CacheReport } from "./cache_report.ts";
import type { IndexContext } from "./context.ts";
import { EngineMemory } from "./engine_memory.ts";
import { Lifetime } from "./lifetime.ts";
import { IndexModel } from "./models.ts";
import { waitFor } from "./promises.ts";
import type { OpenedTarget } from "./targets.ts";
import { VectorCache } from "./vector_cache.ts";
import { vectorSourceOf } from "./vector_source.ts";

const MOST_QUESTIONS = 64; // whose vectors are remembered

export class Snapshot {
  readonly target: OpenedTarget;
  readonly model: IndexModel;
  readonly memory: EngineMemory;
  readonly cache: VectorCache; // of vectors that do not come from the file
  readonly server: RemoteChunks | null; // has chunks that are not here
  readonly lifetime: Lifetime;
  readonly #context: IndexContext;
  readonly #questions = new Map<string, Float32Array>();
  readonly #hasAwayTexts: boolean;
  #retired: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  /** Opens a snapshot; Damaged if its catalogue is. */
  static async open(target: OpenedTarget, context: IndexContext): Promise<Snapshot> {
    try {
      const lifetime = new Lifetime();
      const model = modelOf(target, context);
      const memory = await EngineMemory.open(target, context, model, lifetime);
      const { hasAwayTexts } = (await memory.collection()).counts;
      return new Snapshot(target, context, model, memory, lifetime, hasAwayTexts);
    } catch (error) {
      target.parts.close();
      throw error;
    }
  }

  private constructor(
    target: OpenedTarget,
    context: IndexContext,
    model: IndexModel,
    memory: EngineMemory,
    lifetime: Lifetime,
    hasAwayTexts: boolean,
  ) {
    this.target = target;
    this.model = model;
    this.memory = memory;
    this.lifetime = lifetime;
    this.cache = new VectorCache(context.budget);
    this.server = target.server && new RemoteChunks(target.server, target.parts.manifest.model.dim);
    this.#context = context;
    this.#hasAwayTexts = hasAwayTexts;
  }

  /** Closes when those who use the snapshot are done. */
  retire(): Promise<void> {
    this.#retired ??= this.lifetime.end().then(() => this.close());
    return this.#retired;
  }

  /** Lets go of everything; a search under way fails with WrongState. */
  close(): Promise<void> {
    this.lifetime.isEnding = true;
    this.#closed ??= this.#letGo();
    return this.#closed;
  }

  /** Bytes that came over the network, for this and for other snapshots of the index. */
  get bytesFetched(): number {
    return this.#context.meter.bytes;
  }

  /** Where vectors come from that are not in memory. */
  get vectorSource(): VectorSource {
    return vectorSourceOf(this.target, this.#context.options, this.#hasAwayTexts);
  }

  /** Lets a collection know what filters let through. */
  async allow(collection: OpenCollection, filters: readonly string[]): Promise<void> {
    if (filters.every((filter) => collection.knows(filter))) return;
    const { allow } = await this.#context.services.filters();
    // All of them: it forgets the oldest, which may be one that it knew.
    for (const filter of filters) collection.remember(filter, allow(this.target.parts.origin, filter));
  }

  /** The vector of a question, and those of its tokens, if they are wanted and the model gives them. */
  async questionVectors(question: string, withTokens: boolean, signal?: AbortSignal): Promise<QuestionVectors> {
    const embedder = withTokens ? await waitFor(this.model.embedder(), signal) : null;
    const found = await embedder?.embedQuestionTokens?.(question, signal);
    if (found) return { ...found, row: roundToHalf(found.row.slice()) };
    return { row: await this.questionVector(question, signal), ...NO_TOKENS };
  }

  async questionVector(question: string, signal?: AbortSignal): Promise<Float32Array> {
    const known = this.#questions.get(question);
    if (known) return known;
    const embedder = await waitFor(this.model.embedder(), signal);
    const vector = roundToHalf((await embedder.embedQuestion(question, signal)).slice());
    if (this.#questions.size >= MOST_QUESTIONS) this.#questions.clear();
    this.#questions.set(question, vector);
    return vector;
  }

  async setBudget(bytes: number): Promise<void> {
    this.cache.setBudget(bytes);
    await this.memory.setBudget(bytes);
  }

  /** Finds how little memory does for these questions, and takes it. */
  async optimise(
    questions: readonly string[],
    { share, accessMs }: OptimiseOptions,
    signal?: AbortSignal,
  ): Promise<CacheReport> {
    const loaded = await this.memory.engine();
    const { tiers } = loaded;
    if (!tiers) {
      const where = `vectors come from ${this.vectorSource} here`;
      throw new GossamerError("WrongState", `only the cache of stored vectors is optimised; ${where}`);
    }
    const vectors = await Promise.all(questions.map((question) => this.questionVector(question, signal)));
    return this.memory.optimise({ ...loaded, tiers }, vectors, {
      ...(share === undefined ? {} : { share }),
      ...(accessMs === undefined ? {} : { accessMs }),
      ...(signal ? { signal } : {}),
      fills: this.vectorSource === "stored",
    });
  }

  async #letGo(): Promise<void> {
    this.cache.clear();
    await this.memory.close();
    await this.target.flush();
    this.target.parts.close();
  }
}

function modelOf({ parts, server, isLocal, origin }: OpenedTarget, context: IndexContext): IndexModel {
  const { options, services, meter } = context;
  const where = server ? { ...options, server } : options;
  // Beside a server that is followed there are no files.
  return new IndexModel(parts.manifest.model, isLocal ? "" : origin, where, services, meter);
}
