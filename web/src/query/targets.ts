// Where an index comes from: an address, a file that was picked, a name in storage.

import { blobSource } from "../bytes/blob.ts";
import { openRemote } from "../bytes/remote.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { partsOfFile, partsOfFolder } from "../format/parts.ts";
import type { IndexParts, Readers } from "../format/parts.ts";
import type { OpenOptions, StoredName } from "../options.ts";
import { indexServer } from "../server/index_server.ts";
import type { IndexServer } from "../server/index_server.ts";
import { serverOf } from "../server/following.ts";
import { openCached } from "../storage/cached.ts";
import type { Folder, Storage } from "../storage/storage.ts";
import type { Meter } from "./meter.ts";

/** An index whose parts are open. */
export interface OpenedTarget {
  readonly parts: IndexParts;
  readonly name: string; // in storage; "" where it is not kept
  readonly origin: string; // address it is read from; "" for none
  readonly folder: Folder | null; // where it is kept, or what is fetched of it
  readonly isLocal: boolean; // all of it is here
  readonly server: IndexServer | null; // what is asked for what is not in it
  readonly notes: readonly string[];
  /** Keeps what was fetched. */
  flush(): Promise<void>;
}

const MOST_NAME = 200;
const LOST = "was cleared or damaged";
/** How often what somebody committed meanwhile is opened anew before that is an error. */
export const MOST_TRIES = 10;
const RECORD_FORMAT = "gossamer remote index";

/** Whether this is an address; else it is a name in storage. */
export function isAddress(target: string): boolean {
  return target.includes("://");
}

/** What all targets are opened with. */
export interface TargetTools {
  readonly storage: Storage;
  readonly meter: Meter;
  readonly readers: Readers;
}

/** Opens an index. NoIndex if there is none. */
export async function openTarget(
  target: string | Blob | StoredName,
  options: OpenOptions,
  tools: TargetTools,
): Promise<OpenedTarget> {
  throwIfAborted(options.signal);
  if (target instanceof Blob) return openFile(target, options, tools.readers);
  if (typeof target !== "string") return openName(target.name, options, tools);
  if (isAddress(target)) return openAddress(target, options, tools);
  return openName(target, options, tools);
}

async function openFile(file: Blob, options: OpenOptions, readers: Readers): Promise<OpenedTarget> {
  const parts = await partsOfFile(blobSource(file), readers, options.signal);
  const server = serverFor(options, parts);
  return { parts, name: "", origin: "", folder: null, isLocal: true, server, notes: [], flush: async () => {} };
}

async function openAddress(
  url: string,
  options: OpenOptions,
  { storage, meter, readers }: TargetTools,
): Promise<OpenedTarget> {
  const { signal, server } = options;
  const headers = server?.token && isOn(url, server.url) ? { authorization: `Bearer ${server.token}` } : {};
  const asking = { headers, ...(signal ? { signal } : {}) };
  if (options.keepLocal === false) {
    const source = await openRemote(url, asking);
    meter.watch(source);
    const parts = await partsOfFile(source, readers, signal);
    const { notes } = source;
    const served = serverFor(options, parts);
    const flush = async () => {};
    return { parts, name: "", origin: url, folder: null, isLocal: false, server: served, notes, flush };
  }
  const name = options.name ?? nameOf(url);
  const folder = await storage.folder(name);
  const isNew = (await folder.readManifest()) === null;
  await keepRecord(folder, url);
  try {
    const source = await openCached(url, folder, asking);
    meter.watch(source);
    const parts = await partsOfFile(source, readers, signal);
    const { notes, flush } = source;
    const served = serverFor(options, parts);
    return { parts, name, origin: url, folder, isLocal: false, server: served, notes, flush };
  } catch (error) {
    if (isNew) await storage.remove(name).catch(() => undefined); // no name of nothing
    throw error;
  }
}

async function openName(
  name: string,
  options: OpenOptions,
  tools: TargetTools,
): Promise<OpenedTarget> {
  const { storage, readers } = tools;
  if (!(await storage.names()).includes(name)) throw noIndex(name);
  const folder = await storage.folder(name);
  const manifest = await folder.readManifest();
  if (!manifest) throw noIndex(name);
  const url = readRecord(manifest);
  if (url !== null) return openAddress(url, { ...options, name }, tools);
  const parts = await openFolder(folder, readers, options.signal);
  const origin = String(parts.manifest.origin["url"] ?? "");
  const followed = await serverOf(folder, parts.manifest);
  const server = serverFor(options, parts) ?? followed;
  return { parts, name, origin, folder, isLocal: true, server, notes: [], flush: async () => {} };
}

/** Opens what a folder keeps. Where files go because somebody commits, those that came are opened. */
async function openFolder(folder: Folder, readers: Readers, signal?: AbortSignal): Promise<IndexParts> {
  for (let tries = 1; ; tries++) {
    const before = await folder.readManifest();
    try {
      return await partsOfFolder(folder, readers, signal);
    } catch (error) {
      const hasMoved = isLoss(error) && !isSame(before, await folder.readManifest());
      if (!hasMoved || tries >= MOST_TRIES) throw explainedLoss(folder.name, error);
    }
  }
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (!one || !other) return true; // gone: there is nothing else to open
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/** Whether something is not where it was: lost, or replaced by what somebody committed. */
export function isLoss(error: unknown): error is GossamerError {
  return error instanceof GossamerError && ["NoIndex", "Damaged", "Truncated"].includes(error.reason);
}

/** What storage has lost of an index that is nowhere else is said to be lost. */
export function explainedLoss(name: string, error: unknown): unknown {
  if (!isLoss(error) || error.message.includes(LOST)) return error;
  const how = "open a file that was exported from it, or remove it and build it again";
  return new GossamerError(error.reason, `${error.message} (the browser's storage of ${name} ${LOST}: ${how})`);
}

function serverFor({ server }: OpenOptions, { manifest }: IndexParts): IndexServer | null {
  return server ? indexServer(server, manifest) : null;
}

/** A name for an index that was given none: its address without what tells nothing. */
function nameOf(url: string): string {
  const { host, pathname, search } = new URL(url);
  return Array.from(`${host}${pathname}${search}`).slice(-MOST_NAME).join("");
}

function isOn(url: string, server: string): boolean {
  return new URL(url).origin === new URL(server).origin;
}

/** Writes down what the folder keeps parts of, so that it opens by its name too. */
async function keepRecord(folder: Folder, url: string): Promise<void> {
  const before = await folder.readManifest();
  const kept = before && readRecord(before);
  if (kept === url) return;
  if (before && kept === null) {
    throw new GossamerError(
      "WrongState",
      `the name ${folder.name} is that of an index that was made in this browser; give another name`,
    );
  }
  const record = new TextEncoder().encode(JSON.stringify({ format: RECORD_FORMAT, version: 1, url }));
  try {
    await folder.whileWriting(() => folder.writeManifest(record), true);
  } catch (error) {
    // Storage that is full or gone keeps nothing; the index is read all the same.
    if (!(error instanceof GossamerError)) throw error;
  }
}

function readRecord(manifest: Uint8Array): string | null {
  try {
    const record: unknown = JSON.parse(new TextDecoder().decode(manifest));
    const isRecord = typeof record === "object" && record !== null && "format" in record && "url" in record;
    if (!isRecord || record.format !== RECORD_FORMAT || typeof record.url !== "string") return null;
    return record.url;
  } catch {
    return null; // the manifest of an index has a line behind its JSON
  }
}

function noIndex(name: string): GossamerError {
  return new GossamerError(
    "NoIndex",
    `there is no index named ${name} in this browser; open its address or file, or build it`,
  );
}
