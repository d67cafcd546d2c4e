// The model of an index: found where the page says, in storage, beside the index or on its server, and
// never another one than the index was built with.

import { isPage } from "../bytes/answer.ts";
import { openRemote } from "../bytes/remote.ts";
import type { Embedder } from "../embed/embedder.ts";
import { staticEmbedder } from "../embed/static.ts";
import { GossamerError } from "../errors.ts";
import type { ModelStamp } from "../format/manifest.ts";
import { loadPart } from "../lazy.ts";
import type { OpenOptions } from "../options.ts";
import { originOf } from "../server/index_server.ts";
import type { IndexServer } from "../server/index_server.ts";
import type { Storage } from "../storage/storage.ts";
import type { Meter } from "./meter.ts";
import { lazyPromise } from "./promises.ts";
import type { LoadedModel, Services } from "./services.ts";

/** Where a model is looked for. */
export interface ModelOptions extends Pick<OpenOptions, "model" | "encoder"> {
  readonly server?: IndexServer;
}

// Folders of models stand in storage beside those of indexes.
const MODEL_PREFIX = "gossamer model ";
const MODEL_FILE = "model.gossamer";
const MOST_MODEL_BYTES = 256 * 1024 * 1024;

/** Whether this is a folder of a model, which is no index. */
export function isModelFolder(name: string): boolean {
  return name.startsWith(MODEL_PREFIX);
}

/** The model of one index, loaded when first asked for. */
export class IndexModel {
  /** ModelMismatch if it is another one, MissingModel if there is none. */
  readonly embedder = lazyPromise(() => this.#load());
  readonly #find = lazyPromise(() => findModel(this.stamp, this.origin, this.options, this.services, this.meter));

  /** The model that `stamp` names. `origin` is the address of the index, "" where it has none. */
  constructor(
    private readonly stamp: ModelStamp,
    private readonly origin: string,
    private readonly options: ModelOptions,
    private readonly services: Services,
    private readonly meter: Meter,
  ) {}

  /** The model file, which holds codebook and calibration; MissingModel if there is none. */
  async file(): Promise<Uint8Array> {
    return (await this.#find()).file;
  }

  async #load(): Promise<Embedder> {
    const { encoder, server } = this.options;
    if (encoder) {
      const { loadEncoder } = await loadPart(import("./encoder.ts"));
      return checked(this.stamp, await loadEncoder(encoder, await this.services.text()));
    }
    try {
      return staticEmbedder((await this.#find()).model);
    } catch (error) {
      const isMissing = error instanceof GossamerError && error.reason === "MissingModel";
      if (!isMissing || !server) throw error;
      // Questions can be embedded where the index is.
      const { serverEmbedder } = await loadPart(import("../embed/server.ts"));
      return serverEmbedder(server.url, server.token ?? "", { ...this.stamp, ...originOf(server) });
    }
  }
}

/** A model file by its address, for a new index. */
export async function fetchModel(
  url: string,
  meter: Meter,
  token = "",
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const headers: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
  const remote = await openRemote(url, { headBytes: 1 << 22, headers, ...(signal ? { signal } : {}) });
  try {
    if (remote.size > MOST_MODEL_BYTES) {
      const limit = `${MOST_MODEL_BYTES} bytes are the most`;
      throw new GossamerError("TooLarge", `${url} has ${remote.size} bytes, and ${limit} for a model`);
    }
    return await remote.read(0, remote.size, signal);
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

async function findModel(
  stamp: ModelStamp,
  origin: string,
  options: ModelOptions,
  services: Services,
  meter: Meter,
): Promise<LoadedModel> {
  const known = services.models.get(stamp.fingerprint) ?? (await readKept(stamp, services));
  if (known) return known;
  const { server } = options;
  const tried: string[] = [];
  let away: unknown = null; // a host that did not answer may well have it
  for (const url of addressesOf(stamp, origin, options)) {
    const isServed = server !== undefined && new URL(url).origin === new URL(server.url).origin;
    const file = await fetchModel(url, meter, isServed ? server.token : "").catch((error: unknown) => {
      // What the page asked for by name must be there; elsewhere the model may well not be.
      if (options.model !== undefined || !isAbsent(error)) throw error;
      tried.push(url);
      if (error instanceof GossamerError && error.reason === "Unreachable") away ??= error;
      return null;
    });
    if (!file) continue;
    if (options.model === undefined && isPage(file)) {
      tried.push(url);
      continue;
    }
    const loaded = await loadModel(file, services, stamp);
    await keepModel(await services.storage(), stamp.fingerprint, file);
    return loaded;
  }
  if (away !== null && !server) throw away;
  const where = tried.length > 0 ? `not found at ${tried.join(" nor ")}` : "not to be found here";
  throw new GossamerError(
    "MissingModel",
    `the model ${stamp.name} of this index is ${where}; put ${fileNameOf(stamp.name)} beside the index, ` +
      "or give its address as `model`",
  );
}

/** Loads a model for all indexes of the worker; ModelMismatch if it is not the one that `stamp` names. */
export async function loadModel(
  file: Uint8Array,
  services: Services,
  stamp?: ModelStamp,
): Promise<LoadedModel> {
  const model = (await services.text()).model(file);
  try {
    if (stamp) checked(stamp, model);
  } catch (error) {
    model.free();
    throw error;
  }
  const loaded = services.models.get(model.fingerprint) ?? { file, model };
  if (loaded.model !== model) model.free();
  services.models.set(model.fingerprint, loaded);
  return loaded;
}

function addressesOf(
  stamp: ModelStamp,
  origin: string,
  options: ModelOptions,
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

/** The model from storage; null if it is not there, or not whole. */
async function readKept(stamp: ModelStamp, services: Services): Promise<LoadedModel | null> {
  const storage = await services.storage();
  const name = folderOf(stamp.fingerprint);
  if (!(await storage.names()).includes(name)) return null;
  try {
    const source = await (await storage.folder(name)).open(MODEL_FILE);
    const file = await source.read(0, source.size);
    source.close();
    return await loadModel(file, services, stamp);
  } catch (error) {
    if (error instanceof GossamerError) return null; // evicted, damaged, or never complete
    throw error;
  }
}

function folderOf(fingerprint: string): string {
  return `${MODEL_PREFIX}${fingerprint.slice(0, 40)}`;
}

function checked<T extends { name: string; fingerprint: string }>(stamp: ModelStamp, model: T): T {
  if (model.fingerprint === stamp.fingerprint) return model;
  throw new GossamerError(
    "ModelMismatch",
    `this index was built with '${stamp.name}' (${stamp.fingerprint.slice(0, 12)}), but '${model.name}' ` +
      `(${model.fingerprint.slice(0, 12)}) was given; use the model it was built with, or make a new index`,
  );
}
