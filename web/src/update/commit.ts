// The last step of every change: what was made becomes the state of the index, at once or not at all.

import { throwIfAborted } from "../errors.ts";
import type { SourceEditor } from "../core/sources.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { readManifest, writeManifest, type FileEntry, type Manifest } from "../format/manifest.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { removeUnnamed, type NewFiles } from "./files.ts";
import { safeProgress } from "./pause.ts";
import { segmentsOf, settleTexts, type NewTexts } from "./segments.ts";

/** What is to be the next state. */
export interface NextIndex {
  readonly catalogue: Catalogue;
  readonly texts: NewTexts;
  /** The engine's file; asked for if there are chunks. */
  vectors(): Uint8Array;
  /** Says what the state is, with the files that it names. */
  manifest(catalogue: Catalogue, named: readonly FileEntry[]): Manifest;
}

export interface CommitTools {
  readonly folder: Folder;
  readonly files: NewFiles;
  readonly editor: SourceEditor;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Writes the files of the next state and its manifest; `old` is that of the state before. To be called
 * while writing (Folder.whileWriting). */
export async function commitIndex(
  old: Manifest | null,
  next: NextIndex,
  { folder, files, editor, onProgress, signal }: CommitTools,
): Promise<{ catalogue: Catalogue; manifest: Manifest }> {
  const tell = safeProgress(onProgress);
  const written = (done: number): void => tell({ phase: "writing", done, total: 4 });
  written(0);
  const segment = await next.texts.finish();
  const entries = [...segmentsOf(old), ...(segment ? [segment] : [])];
  const { catalogue, entries: settled } = await settleTexts(
    { folder, files, editor },
    next.catalogue,
    entries,
    signal,
  );
  written(1);
  const named: FileEntry[] = [...settled];
  if (catalogue.chunkCount) named.push(await files.write("vectors", [next.vectors()]));
  written(2);
  named.push(await files.write("catalogue", [catalogue.bytes]));
  written(3);
  const manifest = next.manifest(catalogue, named);
  const bytes = writeManifest(manifest);
  readManifest(bytes); // nothing is committed that could not be read
  throwIfAborted(signal);
  await folder.writeManifest(bytes);
  files.keep();
  await removeUnnamed(folder, named).catch(() => {}); // they go another time
  written(4);
  return { catalogue, manifest };
}
