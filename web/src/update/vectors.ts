// The codes of an index while it changes: texts are embedded in batches and their vectors let go.

import { roundToHalf } from "../bytes/half.ts";
import type { Engine, EngineIndex } from "../core/engine.ts";
import { throwIfAborted } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import { openEngineParts, type IndexParts } from "../format/parts.ts";
import { makePause, type Pause } from "./pause.ts";

/** What a change needs of an embedder. */
export interface ChunkEmbedder {
  readonly name: string;
  readonly fingerprint: string;
  readonly dim: number;
  readonly maxTokens: number;
  tokenStarts(text: Uint8Array): Uint32Array;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array>;
}

// Texts embedded at one time.
const BATCH = 64;

interface Waiting {
  readonly id: number;
  readonly text: string;
}

/** Takes texts in under new ids, and ids out. Nothing counts before its file is committed. */
export class GrowingVectors {
  embedded = 0; // texts so far
  private waiting: Waiting[] = [];
  /** Lets the worker answer others, now and then. */
  readonly letOthersRun: Pause;

  private constructor(
    private readonly index: EngineIndex,
    private readonly isOwn: boolean, // the file has a codebook of its own
    private readonly embedder: ChunkEmbedder,
    private readonly onEmbedded: (done: number) => void,
    private readonly signal?: AbortSignal,
  ) {
    this.letOthersRun = makePause(signal);
  }

  static async open(
    engine: Engine,
    parts: IndexParts | null,
    pack: Uint8Array,
    embedder: ChunkEmbedder,
    onEmbedded: (done: number) => void,
    signal?: AbortSignal,
  ): Promise<GrowingVectors> {
    const container = parts?.engine ?? null;
    if (!container) return new GrowingVectors(engine.create(pack), false, embedder, onEmbedded, signal);
    const options = { withVectors: true, ...(signal ? { signal } : {}) };
    const isOwn = container.sectionAt(SECTIONS.codebook) !== null;
    const index = engine.open(await openEngineParts(container, options), isOwn ? {} : { pack });
    return new GrowingVectors(index, isOwn, embedder, onEmbedded, signal);
  }

  get codeBytes(): number {
    return this.index.codeBytes;
  }

  /** Takes a text in, to be embedded with others. */
  async add(id: number, text: string): Promise<void> {
    this.waiting.push({ id, text });
    if (this.waiting.length >= BATCH) await this.flush();
  }

  /** Whether what old ids hold can be given to new ones. */
  get canMove(): boolean {
    return this.index.codeBytes > 0 && this.index.keep === "none" && this.index.graph === "none";
  }

  /** Gives what the old ids hold to new ids as well; nothing is embedded anew. */
  async move(oldIds: readonly number[], newIds: readonly number[]): Promise<void> {
    if (!oldIds.length) return;
    await this.settle(oldIds);
    this.index.addCodes(newIds, this.index.codesOf(oldIds));
  }

  /** Takes ids out. */
  async remove(ids: readonly number[]): Promise<void> {
    if (!ids.length) return;
    await this.settle(ids);
    this.index.remove(ids);
  }

  /** Embeds what waits. */
  async flush(): Promise<void> {
    throwIfAborted(this.signal);
    const batch = this.waiting;
    if (!batch.length) return;
    const texts = batch.map((one) => one.text);
    const vectors = await this.embedder.embed(texts, this.signal);
    throwIfAborted(this.signal);
    // Rounded as Python keeps them for the next run, so that both make the same codes.
    this.index.add(batch.map((one) => one.id), roundToHalf(vectors.slice()));
    this.waiting = [];
    this.embedded += batch.length;
    this.onEmbedded(this.embedded);
    await this.letOthersRun();
  }

  /** The engine's file; what ships with the model is not saved with every index. */
  save(): Uint8Array {
    return this.index.save({ codebook: this.isOwn, calibration: this.isOwn });
  }

  close(): void {
    this.index.free();
  }

  /** Embeds what waits if one of these ids is among it. */
  private async settle(ids: readonly number[]): Promise<void> {
    const waiting = new Set(this.waiting.map((one) => one.id));
    if (ids.some((id) => waiting.has(id))) await this.flush();
  }
}
