// Calls that change indexes: what the page gives meets what is open.

import { blobSource } from "../bytes/blob.ts";
import { staticEmbedder } from "../embed/static.ts";
import { GossamerError } from "../errors.ts";
import type { BuildOptions, PickedFile } from "../options.ts";
import { Meter } from "../query/meter.ts";
import { fetchModel, keepModel, loadModel } from "../query/models.ts";
import type { Services } from "../query/services.ts";
import type { Snapshot } from "../query/snapshot.ts";
import { WebIndex } from "../query/web_index.ts";
import { openStorage } from "../storage/open.ts";
import type { Folder, Storage } from "../storage/storage.ts";
import { applyChange } from "../update/change.ts";
import type { Change, ChangeReport, FailedSource, Input } from "../update/change.ts";
import { exportFile } from "../update/export.ts";
import { importFile } from "../update/import.ts";
import type { Job } from "./job.ts";

// A model file that ships with the package.
const DEFAULT_MODEL = "pocket.model.gossamer";
// What an index in memory is called there: nobody sees it.
const IN_MEMORY = "index";
const MOST_FILE_BYTES = 256 * 1024 * 1024;

/** Makes an index of the texts that the page gives; in memory where `name` is null. InvalidArgument if
 * the name is taken. */
export async function buildIndex(
  services: Services,
  name: string | null,
  options: BuildOptions,
  job: Job,
): Promise<{ index: WebIndex; report: ChangeReport }> {
  const storage = await (name === null ? openStorage("memory") : services.storage());
  const url = String(options.model ?? services.addressOf(DEFAULT_MODEL));
  const { file, model } = await loadModel(await fetchModel(url, new Meter(), "", job.signal), services);
  const folder = await storage.folder(name ?? IN_MEMORY);
  if (await folder.readManifest()) {
    const how = "open it and add to it, or remove it first";
    throw new GossamerError("InvalidArgument", `there is an index named ${folder.name} already; ${how}`);
  }
  const { chunkTokens } = options;
  let report: ChangeReport;
  try {
    await keepModel(storage, model.fingerprint, file);
    report = await applyChange(null, { adds: job.texts() }, {
      folder,
      embedder: staticEmbedder(model),
      builder: services.newBuilder,
      chunks: services.chunks,
      pack: file,
      ...(chunkTokens === undefined ? {} : { chunkTokens }),
      onProgress: job.progress,
      signal: job.signal,
    });
  } catch (error) {
    await removeUnmade(storage, folder, error);
    throw error;
  }
  const open = { ...services, storage: async () => storage };
  const index = await WebIndex.open(folder.name, { signal: job.signal }, open, name === null);
  return { index, report };
}

/** Removes a folder that did not become an index because of an error, unless another tab is making one
 * in it just now. */
async function removeUnmade(storage: Storage, folder: Folder, error: unknown): Promise<void> {
  if (error instanceof GossamerError && error.reason === "Locked") return;
  const remove = async () => {
    if (!(await folder.readManifest())) await storage.remove(folder.name);
  };
  await folder.whileWriting(remove).catch(() => {}); // the error before says what is wrong
}

/** Puts the page's texts into an index. */
export function addTexts(services: Services, index: WebIndex, job: Job): Promise<ChangeReport> {
  return change(services, index, { adds: job.texts() }, job);
}

/** Puts files into an index, one after the other in memory. */
export async function addFiles(
  services: Services,
  index: WebIndex,
  files: readonly PickedFile[],
  job: Job,
): Promise<ChangeReport> {
  const failed: FailedSource[] = [];
  const adds = contentsOf(files, failed);
  const report = await change(services, index, { adds, total: files.length }, job);
  return { ...report, failed: [...report.failed, ...failed] };
}

/** Takes sources out of an index. */
export function removeSources(
  services: Services,
  index: WebIndex,
  sources: readonly string[],
  job: Job,
): Promise<ChangeReport> {
  return change(services, index, { removes: sources }, job);
}

/** The index as one file. */
export async function exportIndex(services: Services, index: WebIndex, job: Job): Promise<Blob> {
  const attempts = index.attempts();
  let file: Promise<Blob>;
  do {
    const { target, model } = await attempts.next();
    file = exportFile(target.parts, {
      chunks: services.chunks,
      builder: services.newBuilder,
      pack: () => model.file(),
      signal: job.signal,
      onProgress: job.progress,
    });
  } while (!(await attempts.isFinal(file)));
  return file;
}

/** Puts a picked file into storage under a name; gives the name. */
export async function importIndex(services: Services, name: string, file: Blob, job: Job): Promise<string> {
  const storage = await services.storage();
  const folder = await storage.folder(name);
  try {
    await importFile(blobSource(file), folder, {
      chunks: services.chunks,
      signal: job.signal,
      onProgress: job.progress,
    });
  } catch (error) {
    await removeUnmade(storage, folder, error);
    throw error;
  }
  return name;
}

async function change(services: Services, index: WebIndex, wanted: Change, job: Job): Promise<ChangeReport> {
  const snapshot = await index.snapshot();
  const folder = changeable(snapshot);
  const report = await applyChange({ manifest: snapshot.target.parts.manifest }, wanted, {
    folder,
    embedder: await snapshot.model.embedder(),
    builder: services.newBuilder,
    chunks: services.chunks,
    pack: await snapshot.model.file(),
    onProgress: job.progress,
    signal: job.signal,
  });
  await index.snapshot(); // the next search need not wait for the new one to open
  return report;
}

function changeable({ target }: Snapshot): Folder {
  if (target.folder && target.isLocal) return target.folder;
  const what = target.origin === "" ? "a file that was picked" : `read from ${target.origin}`;
  throw new GossamerError(
    "WrongState",
    `this index is ${what}, and cannot be changed there; open its file under a name of its own first`,
  );
}

/** The files one by one; those that cannot be had are listed in `failed`. */
async function* contentsOf(files: readonly PickedFile[], failed: FailedSource[]): AsyncGenerator<Input> {
  for (const { file, path, mtime } of files) {
    if (file.size > MOST_FILE_BYTES) {
      const message = `${path} has ${file.size} bytes, ${MOST_FILE_BYTES} are the most`;
      failed.push({ source: path, reason: "LeftOut", message });
      continue;
    }
    const bytes = await file.arrayBuffer().catch((error: unknown) => {
      const message = `${path} cannot be read (${String(error)}); pick it again`;
      failed.push({ source: path, reason: "Unreadable", message });
      return null;
    });
    if (bytes) yield { path, bytes: new Uint8Array(bytes), mtime };
  }
}
