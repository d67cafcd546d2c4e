// The model of an index: found where the page says, in storage, beside the index or on its server, and
// never another one than the index was built with.

import { openRemote } from "../bytes/remote.ts";
import type { Embedder } from "../embed/embedder.ts";
import { serverEmbedder } from "../embed/server.ts";
import { staticEmbedder } from "../embed/static.ts";
import { GossamerError } from "../errors.ts";
import type { ModelStamp } from "../format/manifest.ts";
import type { Storage } from "../storage/storage.ts";
import type { OpenOptions } from "../worker/messages.ts";
import { loadEncoder } from "./encoder.ts";
import type { Meter } from "./meter.ts";
import { once } from "./once.ts";
import type { Services } from "./services.ts";

/** The model of one index, loaded when first asked for. */
export interface IndexModel {
  /** ModelMismatch if it is another one, MissingModel if there is none. */
  embedder(): Promise<Embedder>;
  /** The model file, which holds codebook and calibration; MissingModel if there is none. */
  file(): Promise<Uint8Array>;
}

// Folders of models stand in storage beside those of indexes.
const MODEL_PREFIX = "gossamer model ";
const MODEL_FILE = "model.gossamer";
const MOST_MODEL_BYTES = 256 * 1024 * 1024;

/** Whether this is a folder of a model, which is no index. */
export function isModelFolder(name: string): boolean {
  return name.startsWith(MODEL_PREFIX);
}

/** The model that `stamp` names. `origin` is the address of the index, "" where it has none. */
export function modelOf(
  stamp: ModelStamp,
  origin: string,
  options: Pick<OpenOptions, "model" | "encoder" | "server">,
  services: Services,
  meter: Meter,
): IndexModel {
  const file = once(() => findFile(stamp, origin, options, services, meter));
  const embedder = once(async () => {
    const { encoder, server } = options;
    if (encoder) return checked(stamp, await loadEncoder(encoder, stamp, await services.text()));
    try {
      const model = (await services.text()).model(await file());
      return checked(stamp, staticEmbedder(model));
    } catch (error) {
      const isMissing = error instanceof GossamerError && error.reason === "MissingModel";
      // Questions can be embedded where the index is.
      if (isMissing && server) return serverEmbedder(server.url, server.token ?? "", stamp);
      throw error;
    }
  });
  return { embedder, file };
}

/** A model file by its address, for a new index. */
export async function fetchModel(url: string, meter: Meter): Promise<Uint8Array> {
  const remote = await openRemote(url, { headBytes: 1 << 22 });
  try {
    if (remote.size > MOST_MODEL_BYTES) {
      const limit = `${MOST_MODEL_BYTES} bytes are the most`;
      throw new GossamerError("TooLarge", `${url} has ${remote.size} bytes, and ${limit} for a model`);
    }
    return await remote.read(0, remote.size);
  } finally {
    meter.add(remote.bytesFetched, remote.requests);
    remote.close();
  }
}

/** Keeps a model in storage, so that the next time nothing is fetched. Storage that is full keeps none. */
export async function keepModel(storage: Storage, fingerprint: string, bytes: Uint8Array): Promise<void> {
  try {
    const folder = await storage.folder(folderOf(fingerprint));
    await folder.whileWriting(async () => {
      const sink = await folder.create(MODEL_FILE);
      await sink.write(bytes);
      await sink.close();
    });
  } catch (error) {
    if (!(error instanceof GossamerError)) throw error;
  }
}

async function findFile(
  stamp: ModelStamp,
  origin: string,
  options: Pick<OpenOptions, "model" | "server">,
  services: Services,
  meter: Meter,
): Promise<Uint8Array> {
  const storage = await services.storage();
  const kept = await readKept(storage, stamp.fingerprint);
  if (kept) return kept;
  const tried: string[] = [];
  for (const url of addressesOf(stamp, origin, options)) {
    const bytes = await fetchModel(url, meter).catch((error: unknown) => {
      // What the page asked for by name must be there; elsewhere the model may well not be.
      if (options.model !== undefined || !isAbsent(error)) throw error;
      tried.push(url);
      return null;
    });
    if (bytes) {
      await checkFile(stamp, bytes, services);
      await keepModel(storage, stamp.fingerprint, bytes);
      return bytes;
    }
  }
  const where = tried.length > 0 ? `not found at ${tried.join(" nor ")}` : "not to be found here";
  throw new GossamerError(
    "MissingModel",
    `the model ${stamp.name} of this index is ${where}; put ${fileNameOf(stamp.name)} beside the index, ` +
      "or give its address as `model`",
  );
}

function addressesOf(
  stamp: ModelStamp,
  origin: string,
  options: Pick<OpenOptions, "model" | "server">,
): string[] {
  if (options.model !== undefined) return [String(options.model)];
  const beside = origin === "" ? [] : [new URL(fileNameOf(stamp.name), origin).href];
  const served = options.server ? [`${options.server.url.replace(/\/+$/, "")}/v1/model`] : [];
  return [...beside, ...served];
}

/** What a model's file is called beside an index. */
export function fileNameOf(model: string): string {
  return `${encodeURIComponent(model)}.model.gossamer`;
}

function isAbsent(error: unknown): boolean {
  return error instanceof GossamerError && ["NoIndex", "Unreachable", "WrongState"].includes(error.reason);
}

async function readKept(storage: Storage, fingerprint: string): Promise<Uint8Array | null> {
  const name = folderOf(fingerprint);
  if (!(await storage.names()).includes(name)) return null;
  try {
    const source = await (await storage.folder(name)).open(MODEL_FILE);
    const bytes = await source.read(0, source.size);
    source.close();
    return bytes;
  } catch (error) {
    if (error instanceof GossamerError) return null; // evicted, or never complete
    throw error;
  }
}

function folderOf(fingerprint: string): string {
  return `${MODEL_PREFIX}${fingerprint.slice(0, 40)}`;
}

async function checkFile(stamp: ModelStamp, bytes: Uint8Array, services: Services): Promise<void> {
  const model = (await services.text()).model(bytes);
  try {
    checked(stamp, model);
  } finally {
    model.free();
  }
}

function checked<T extends { name: string; fingerprint: string }>(stamp: ModelStamp, model: T): T {
  if (model.fingerprint === stamp.fingerprint) return model;
  throw new GossamerError(
    "ModelMismatch",
    `this index was built with '${stamp.name}' (${stamp.fingerprint.slice(0, 12)}), but '${model.name}' ` +
      `(${model.fingerprint.slice(0, 12)}) was given; use the model it was built with, or make a new index`,
  );
}
