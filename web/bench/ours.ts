// Our side of the benchmark: what any page does with gossamer-web/vectors.

import type { BuildVectorsOptions, SearchVectorsOptions, StorageKind } from "../src/vectors/index.ts";
import type { VectorIndex as Index } from "../src/vectors/index.ts";
import type { Contender } from "./contender.ts";

// The package stands beside the page, as it is built.
const built = new URL("vectors.js", document.baseURI).href;
const { VectorIndex } = (await import(built)) as typeof import("../src/vectors/index.ts");

/** How an index is opened; without a share its vectors are all in memory. */
export interface Opening {
  readonly file: string; // its name in storage
  readonly worker: boolean; // whether it is in one
  readonly storage?: StorageKind;
  readonly share?: number; // of the vectors that memory holds
  readonly eviction?: "lru" | "fifo" | "hub";
}

const opened = new Map<string, Index>();

/** Puts a file of the site into storage. */
export async function put(file: string, storage: StorageKind): Promise<void> {
  const index = await VectorIndex.open(`./${file}`, { storage });
  await index.store(file);
  await index.close();
}

export async function open(name: string, opening: Opening): Promise<object> {
  const { file, share, ...options } = opening;
  const budget = share === undefined ? {} : { memoryBudget: Math.ceil(share * (await bytesOf(opening))) };
  const index = await VectorIndex.open({ name: file }, { ...options, ...budget });
  opened.set(name, index);
  return index.status();
}

/** From nothing to the first answer, in milliseconds: a worker is started. */
export async function reopen(query: Float32Array, opening: Opening, asked: SearchVectorsOptions) {
  const budgeted = await bytesOf(opening);
  const started = performance.now();
  const { file, share, ...options } = opening;
  const budget = share === undefined ? {} : { memoryBudget: Math.ceil(share * budgeted) };
  const index = await VectorIndex.open({ name: file }, { ...options, ...budget });
  const openMs = performance.now() - started;
  const { ids } = await index.search(query, asked);
  const ms = performance.now() - started;
  await index.close();
  return { ms, openMs, ids };
}

/** Builds an index in a worker; the milliseconds of all of it. */
export async function build(vectors: Float32Array, dim: number, options: BuildVectorsOptions): Promise<number> {
  const started = performance.now();
  const index = await VectorIndex.build(vectors, dim, { ...options, worker: true });
  const ms = performance.now() - started;
  await index.close();
  return ms;
}

/** An open index as others are searched: a query at a time, or all that come together in one call. */
export function contender(name: string, asked: SearchVectorsOptions, isBatched: boolean): Contender {
  const index = find(name);
  const search = async (query: Float32Array, k: number) => ({ ids: (await index.search(query, { ...asked, k })).ids });
  if (!isBatched) return { search };
  return { search, searchAll: async (queries, k) => (await index.search(queries, { ...asked, k })).map(({ ids }) => ({ ids })) };
}

export function find(name: string): Index {
  const found = opened.get(name);
  if (!found) throw new Error(`${name} is not open`);
  return found;
}

export async function close(name: string): Promise<void> {
  await find(name).close();
  opened.delete(name);
}

/** Bytes of all vectors of a stored index. */
async function bytesOf({ file, storage, share }: Opening): Promise<number> {
  if (share === undefined) return 0;
  const index = await VectorIndex.open({ name: file }, { ...(storage ? { storage } : {}), memoryBudget: 0 });
  const { count, rowBytes } = await index.status();
  await index.close();
  return count * rowBytes;
}
