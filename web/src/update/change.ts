// A change to an index folder in storage: sources read, cut, embedded and written, all or nothing.
// The twin of python/gossamer/update.

import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { readManifest, type Manifest } from "../format/manifest.ts";
import { joinSegments, type ChangeParts } from "../format/edit.ts";
import type { ChunkedDocument } from "../format/put.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { commitIndex, nextCatalogue } from "./commit.ts";
import { openToChange } from "./convert.ts";
import { newFiles, removeUnnamed, type NewFiles } from "./files.ts";
import { labelOf, type Input } from "./inputs.ts";
import { nextManifest } from "./manifest.ts";
import { safeProgress } from "./pause.ts";
import { embeddedOf, lookAt, withoutText, type Cutter, type Looked, type PreparedDocument } from "./prepare.ts";
import { NewSegments, type OldState } from "./segments.ts";
import { Sources } from "./sources.ts";
import { GrowingVectors, type ChunkEmbedder } from "./vectors.ts";

export type { ChunkEmbedder } from "./vectors.ts";
export type { FileInput, Input, TextInput } from "./inputs.ts";

/** What is to be different: sources to take out, and then texts and files to put in. One that is
 * there already takes its place, unless it says the same. Of one given twice the last counts. */
export interface Change {
  readonly adds?: AsyncIterable<Input> | Iterable<Input>;
  readonly total?: number; // how many adds there are, where it is known; for progress
  readonly removes?: readonly string[]; // ids, paths, or folders with all below them
}

/** The index that a page has open: a change to it never makes another one in its place. */
export interface OpenState {
  readonly manifest: Manifest;
}

export interface ChangeTools {
  readonly folder: Folder;
  readonly embedder: ChunkEmbedder;
  readonly builder: () => Promise<Engine>; // an engine that builds, for this change alone
  readonly chunks: () => Promise<ChunkCore>; // what cuts documents
  readonly pack: Uint8Array; // codebook and calibration of the model
  readonly chunkTokens?: number; // of a new index; all that the model takes without it
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

export interface ChangeReport {
  readonly added: number; // sources
  readonly replaced: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly failed: readonly FailedSource[]; // left out, and why
  readonly chunks: number; // in the index now
  readonly embedded: number; // chunks, by this change
  readonly generation: number;
}

export interface FailedSource {
  readonly source: string;
  readonly reason: string; // of the GossamerError
  readonly message: string;
}

// What is wrong with one input alone: all others go on.
const FAULTS_OF_INPUT = ["InvalidArgument", "Unreadable", "LeftOut"];

/** Makes a change the state of the index in a folder, at once or not at all.
 *
 * `state` is the index as it is open, null for a new one or whatever is there. Locked if another tab
 * changes it, ModelMismatch if it was built with another model, NoIndex if storage was cleared,
 * Cancelled if the signal says so before the end, Unwritable if storage is full. One bad input never
 * stops the others: it is listed in `failed`. */
export async function applyChange(
  state: OpenState | null,
  change: Change,
  tools: ChangeTools,
): Promise<ChangeReport> {
  const { folder } = tools;
  const safe = { ...tools, onProgress: safeProgress(tools.onProgress) };
  return folder.whileWriting(async () => {
    throwIfAborted(tools.signal);
    const parts = await openParts(state, tools);
    try {
      await removeUnnamed(folder, parts?.manifest.files ?? []);
      const files = await newFiles(folder);
      return await run(parts, change, safe, files).catch(async (error: unknown) => {
        await files.abandon();
        throw error;
      });
    } finally {
      parts?.close();
    }
  });
}

async function openParts(
  state: OpenState | null,
  { folder, chunks, embedder, signal }: ChangeTools,
): Promise<ChangeParts | null> {
  const bytes = await folder.readManifest();
  const manifest = bytes === null ? null : readManifest(bytes);
  if (state && state.manifest.uuid !== manifest?.uuid) {
    throw new GossamerError(
      "NoIndex",
      `the index ${folder.name} is not in this browser's storage any more; open it again, or make it anew`,
    );
  }
  if (!manifest) return null;
  checkFits(manifest, embedder);
  return openToChange(folder, chunks, signal);
}

function checkFits({ model, origin }: Manifest, embedder: ChunkEmbedder): void {
  if (Object.keys(origin).length) {
    throw new GossamerError(
      "WrongState",
      "this index follows a server: change it there, and it comes with the next pull",
    );
  }
  if (model.fingerprint === embedder.fingerprint) return;
  throw new GossamerError(
    "ModelMismatch",
    `this index was built with '${model.name}' (${model.fingerprint.slice(0, 12)}), but ` +
      `'${embedder.name}' (${embedder.fingerprint.slice(0, 12)}) was given; use the model it was ` +
      "built with, or make a new index with the other one",
  );
}

async function run(
  parts: ChangeParts | null,
  change: Change,
  tools: ChangeTools,
  files: NewFiles,
): Promise<ChangeReport> {
  const { onProgress, signal } = tools;
  const engine = await tools.builder();
  const plan = { chunks: 0 };
  const vectors = await GrowingVectors.open(
    engine,
    parts,
    tools.pack,
    tools.embedder,
    (done) => onProgress?.({ phase: "embedding", done, total: plan.chunks }),
    signal,
  );
  const chunks = await tools.chunks();
  const news = new NewSegments(chunks, files, tools.folder);
  try {
    const updater = new Updater(parts, tools, chunks, vectors, news, plan);
    updater.remove(change.removes ?? []);
    let done = 0;
    // The first of them may be large: it is being read already.
    onProgress?.({ phase: "reading", done, total: change.total ?? 0 });
    for await (const input of change.adds ?? []) {
      await updater.add(input);
      done += 1;
      onProgress?.({ phase: "reading", done, total: change.total ?? 0 });
    }
    await updater.finish();
    if (parts && updater.sources.isUnchanged) {
      return updater.report(parts.catalogue, parts.manifest.generation);
    }
    return await commit(parts, tools, files, updater);
  } finally {
    news.close();
    vectors.close();
  }
}

/** Puts sources in and takes them out, one by one. */
class Updater {
  readonly sources: Sources;
  readonly old: OldState;
  readonly failed: FailedSource[] = [];
  readonly chunkTokens: number;

  constructor(
    parts: ChangeParts | null,
    private readonly tools: ChangeTools,
    readonly chunks: ChunkCore,
    readonly vectors: GrowingVectors,
    readonly news: NewSegments,
    private readonly plan: { chunks: number }, // to embed, of the sources so far
  ) {
    const { embedder, chunkTokens } = tools;
    this.chunkTokens = parts?.manifest.model.chunkTokens ?? chunkTokens ?? embedder.maxTokens;
    this.old = parts ?? { segments: [], ...joinSegments(chunks, []) };
    this.sources = new Sources(this.old.catalogue, parts?.manifest.nextChunkId ?? 1, (put, first) =>
      news.put(put, first),
    );
  }

  remove(names: readonly string[]): void {
    for (const name of names) this.sources.remove(name);
  }

  async add(input: Input): Promise<void> {
    throwIfAborted(this.tools.signal);
    const looked = this.orFailed(input, () => lookAt(input));
    if (looked && this.sources.isSame(looked.source)) this.sources.keep(looked.source);
    else if (looked) await this.put(looked, input);
    await this.news.writeLarge();
    await this.vectors.letOthersRun();
  }

  /** Embeds what waits, takes out what is gone, and writes it all. */
  async finish(): Promise<void> {
    await this.vectors.flush();
    await this.vectors.remove(this.sources.leavingIds());
    const pause = this.vectors.letOthersRun;
    await this.news.finish(this.old, this.sources.goneRows(), this.sources.touches(), pause);
  }

  report(catalogue: Catalogue, generation: number): ChangeReport {
    return {
      ...this.sources.counts(),
      failed: this.failed,
      chunks: catalogue.chunkCount,
      embedded: this.vectors.embedded,
      generation,
    };
  }

  private async put({ source, prepare }: Looked, input: Input): Promise<void> {
    const tokenStarts = (text: Uint8Array): Uint32Array => this.tools.embedder.tokenStarts(text);
    const cut: Cutter["cut"] = (text, markup, line) =>
      this.chunks.cut(text, tokenStarts, { size: this.chunkTokens, markup, line });
    const prepared = this.orFailed(
      input,
      () => prepare({ ...this.chunks, cut }),
      (error) => this.sources.leaveOut(withoutText(source, error)),
    );
    if (!prepared) return;
    const documents = this.store(prepared.filter((document) => document.spans.length > 0));
    const kind = prepared[0]?.record.kind ?? source.kind;
    const { ids, known } = this.sources.put({ source: { ...source, kind }, documents });
    const reused = await this.reuse(documents, ids, known);
    this.plan.chunks += ids.length - reused.size;
    let place = 0;
    for (const document of prepared) {
      for (const span of document.spans) {
        const id = ids[place++] as number;
        if (!reused.has(id)) await this.vectors.add(id, embeddedOf(this.chunks, document, span));
      }
    }
  }

  /** What `work` gives; null if this input alone is to blame that it gives nothing. */
  private orFailed<T>(input: Input, work: () => T, note?: (error: GossamerError) => void): T | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof GossamerError) || !FAULTS_OF_INPUT.includes(error.reason)) throw error;
      this.failed.push({ source: labelOf(input), reason: error.reason, message: error.message });
      note?.(error);
      return null;
    }
  }

  /** Gives chunks that say the same as one of the source's old ones its code; the ids of those. */
  private async reuse(
    documents: readonly ChunkedDocument[],
    ids: readonly number[],
    known: ReadonlyMap<number, number>,
  ): Promise<Set<number>> {
    if (!known.size || !this.vectors.canMove) return new Set();
    const checks = documents.flatMap((document) => Array.from(document.checks));
    const pairs = ids.flatMap((id, place) => {
      const old = known.get(checks[place] as number);
      return old === undefined ? [] : [{ old, id }];
    });
    await this.vectors.move(pairs.map(({ old }) => old), pairs.map(({ id }) => id));
    return new Set(pairs.map(({ id }) => id));
  }

  private store(prepared: readonly PreparedDocument[]): ChunkedDocument[] {
    return prepared.map(({ record, spans, checks, text }) => ({
      record: { ...record, offset: this.news.addText(text) },
      spans,
      checks,
    }));
  }
}

async function commit(
  parts: ChangeParts | null,
  tools: ChangeTools,
  files: NewFiles,
  updater: Updater,
): Promise<ChangeReport> {
  const { folder, signal, onProgress, embedder } = tools;
  const { news, vectors, sources, chunks: core, chunkTokens, old } = updater;
  const catalogue = nextCatalogue(core, old.segments, news);
  const { codeBytes } = vectors;
  const { nextChunkId } = sources;
  const next = {
    old: old.segments,
    news,
    catalogue,
    vectors: () => vectors.save(),
    manifest: (named: Manifest["files"]) =>
      nextManifest(parts?.manifest ?? null, catalogue, named, {
        embedder,
        chunkTokens,
        codeBytes,
        nextChunkId,
      }),
    close: () => {
      news.close();
      parts?.close();
    },
  };
  const manifest = await commitIndex(next, { folder, files, core, onProgress, signal });
  return updater.report(catalogue, manifest.generation);
}
