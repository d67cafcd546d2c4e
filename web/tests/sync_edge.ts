// An edge in memory, with the real engine and model.

import { readFileSync } from "node:fs";

import { loadText } from "../src/core/load.ts";
import { GossamerError, type Reason } from "../src/errors.ts";
import { compareTexts } from "../src/text/text.ts";
import { keepModel } from "../src/query/models.ts";
import { makeServices, type Services } from "../src/query/services.ts";
import { makeDisk, memoryStorage, type MemoryDisk } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { applyPackage, type Applied, type ApplyTools } from "../src/sync/apply.ts";
import { baseOf, manifestIn } from "../src/server/following.ts";
import { readPackage } from "../src/sync/package.ts";
import type { ExpectedStep } from "./sync_packages.ts";
import { TOKEN } from "./sync_packages.ts";
import { builtWasm } from "./wasm_files.ts";
import { CHUNKS, folderParts } from "./cores.ts";

const MODEL = new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url);
export const PACK = new Uint8Array(readFileSync(MODEL));
const FINGERPRINT = (await loadText(builtWasm)).model(PACK).fingerprint;
export const URL_OF_SERVER = "http://server.example:8321";

export interface TestEdge {
  readonly disk: MemoryDisk;
  readonly folder: Folder;
  readonly services: Services; // over the same storage
}

export async function newEdge(name = "notes"): Promise<TestEdge> {
  const disk = makeDisk();
  const storage = memoryStorage(disk);
  const services = makeServices(builtWasm, storage);
  await keepModel(storage, FINGERPRINT, PACK);
  return { disk, folder: await storage.folder(name), services };
}

/** Applies a package that was asked for from where the edge is. */
export async function apply(
  edge: TestEdge,
  bytes: Uint8Array,
  tools: Partial<ApplyTools> = {},
  token = TOKEN,
): Promise<Applied> {
  const { folder, services } = edge;
  const pkg = await readPackage(CHUNKS, bytes, token);
  const { mode, texts } = pkg.head;
  const wanted = { mode, texts, base: baseOf(await manifestIn(folder)) };
  const { newBuilder: builder, chunks } = services;
  const using = { url: URL_OF_SERVER, builder, chunks, pack: async () => PACK, ...tools };
  return folder.whileWriting(() => applyPackage(folder, pkg, wanted, using));
}

/** What an edge holds, in the words of the recorded steps. */
export async function contentOf({ folder }: TestEdge): Promise<Omit<ExpectedStep, "hits">> {
  const parts = await folderParts(folder);
  const { catalogue } = parts;
  const rows = [...catalogue.paths.keys()].sort((one, other) =>
    compareTexts(catalogue.paths[one] ?? "", catalogue.paths[other] ?? ""),
  );
  const sources = rows.map((row) => ({
    path: (catalogue.paths[row] ?? "").replace(/^.*(?=\/notes\/)/, ""),
    mtime: String(catalogue.source(row).mtimeNs),
    documents: catalogue.documentsOf(row).count,
  }));
  parts.close();
  return { sources, chunks: Array.from(catalogue.chunkIds) };
}

/** Everything that is committed, to see whether it is the same. */
export async function committed({ folder }: TestEdge): Promise<unknown> {
  const manifest = await manifestIn(folder);
  const names = new Set(manifest?.files.map((entry) => entry.name));
  const files = (await folder.files()).filter((file) => names.has(file.name));
  return { manifest, files };
}

export function isReason(reason: Reason, words = ""): (error: unknown) => boolean {
  return (error) => {
    const isIt = error instanceof GossamerError && error.reason === reason && error.message.includes(words);
    if (!isIt) throw error;
    return true;
  };
}
