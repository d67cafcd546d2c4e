// The last step of every change: what was made becomes the state of the index, at once or not at all.

import { throwIfAborted } from "../errors.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { readManifest, writeManifest, type FileEntry, type Manifest } from "../format/manifest.ts";
import { joinSegments } from "../format/edit.ts";
import type { OpenSegment } from "../format/parts.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { removeUnnamed, type NewFiles } from "./files.ts";
import { safeProgress } from "./pause.ts";
import { settleSegments, type NewSegments } from "./segments.ts";

/** What is to be the next state. */
export interface NextIndex {
  readonly old: readonly OpenSegment[]; // that stay
  readonly news: NewSegments; // which are written
  readonly catalogue: Catalogue; // of all of them
  /** The engine's file; asked for if there are chunks. */
  vectors(): Uint8Array;
  /** Says what the state is, with the files that it names. */
  manifest(named: readonly FileEntry[]): Manifest;
  /** Lets go of all files: one that is open cannot be removed. */
  close(): void;
}

export interface CommitTools {
  readonly folder: Folder;
  readonly files: NewFiles;
  readonly core: ChunkCore;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What segments that are written hold together with those that stay. */
export function nextCatalogue(core: ChunkCore, old: readonly OpenSegment[], news: NewSegments): Catalogue {
  return joinSegments(core, [...old, ...news.made]).catalogue;
}

/** Writes the files of the next state and its manifest, which it gives. To be called while writing
 * (Folder.whileWriting). */
export async function commitIndex(
  { old, news, catalogue, ...next }: NextIndex,
  { folder, files, core, onProgress, signal }: CommitTools,
): Promise<Manifest> {
  const tell = safeProgress(onProgress);
  const written = (done: number): void => tell({ phase: "writing", done, total: 3 });
  written(0);
  const named = await settleSegments(core, files, [...old, ...news.made], news.made.length, signal);
  written(1);
  if (catalogue.chunkCount) named.push(await files.write("vectors", [next.vectors()]));
  written(2);
  const manifest = next.manifest(named);
  await replaceManifest(manifest, { folder, files, signal }, () => next.close());
  written(3);
  return manifest;
}

/** The one step that counts: the files that a manifest names are the index from then on, and all others go.
 * `close` lets go of those that are open. */
export async function replaceManifest(
  manifest: Manifest,
  { folder, files, signal }: Pick<CommitTools, "folder" | "files" | "signal">,
  close: () => void = () => undefined,
): Promise<void> {
  const bytes = writeManifest(manifest);
  readManifest(bytes); // nothing is committed that could not be read
  throwIfAborted(signal);
  await folder.writeManifest(bytes);
  files.keep();
  close();
  await removeUnnamed(folder, manifest.files).catch(() => {}); // they go another time
}
