// The rivals, each as its documentation says it is used: on the page's own thread.

import { EmbeddingIndex } from "client-vector-search";
import { loadHnswlib, syncFileSystem } from "hnswlib-wasm";
import type { Hnsw } from "hnswlib-wasm";
import { HNSW } from "mememo";
import { __wbg_set_wasm as setVoyWasm, Voy } from "voy-search/voy_search_bg.js";
import * as voyGlue from "voy-search/voy_search_bg.js";
import type { Contender } from "./contender.ts";

const M = 16;
const EF_CONSTRUCTION = 100;
const SEED = 100;
// mememo writes so many embeddings in one go. It keeps what one go holds in memory, and never lets
// go of smaller ones, so that one large go is the only way to its documented cache.
const MEMEMO_BATCH = 20_000;

/** Rows of a matrix, copied: rivals keep what they are given. */
export function rowsOf(vectors: Float32Array, dim: number): Float32Array[] {
  return Array.from({ length: vectors.length / dim }, (_, i) => vectors.slice(i * dim, (i + 1) * dim));
}

/** hnswlib-wasm: its graph can be built, written to bytes and read again. */
export async function hnswlib(dim: number, count: number) {
  const library = await loadHnswlib();
  const file = `bench-${count}.dat`;
  const make = (): Hnsw => new library.HierarchicalNSW("ip", dim, "");
  let index = make();
  return {
    build(vectors: Float32Array): number {
      index.initIndex(count, M, EF_CONSTRUCTION, SEED);
      const rows = rowsOf(vectors, dim);
      const started = performance.now();
      index.addItems(rows, false);
      return performance.now() - started;
    },
    async save(): Promise<Uint8Array> {
      await index.writeIndex(file);
      await syncFileSystem("write");
      return storedFile(file);
    },
    async load(bytes: Uint8Array): Promise<void> {
      await storeFile(file, bytes);
      await syncFileSystem("read");
      index = make();
      index.initIndex(count, M, EF_CONSTRUCTION, SEED);
      await index.readIndex(file, count);
    },
    contender(ef: number): Contender {
      return {
        search(query, k) {
          index.setEfSearch(ef);
          return { ids: index.searchKnn(query, k, undefined).neighbors };
        },
      };
    },
  };
}

/** mememo over a graph in its own JSON. */
export async function mememo(
  graph: unknown,
  vectors: Float32Array,
  dim: number,
  useIndexedDB: boolean,
  ef: number,
): Promise<Contender> {
  const options = { distanceFunction: "cosine-normalized", m: M, efConstruction: EF_CONSTRUCTION };
  const index = new HNSW({ ...options, useIndexedDB });
  index.loadIndex(graph);
  // Its prefetcher keeps the graph of before loadIndex, and fails at the first miss without this.
  index.nodes.graphLayers = index.graphLayers;
  const rows = rowsOf(vectors, dim);
  for (let at = 0; at < rows.length; at += MEMEMO_BATCH) {
    const some = rows.slice(at, at + MEMEMO_BATCH);
    await index.bulkInsertSkipIndex(
      some.map((_, i) => String(at + i)),
      some.map((row) => Array.from(row)),
    );
  }
  return {
    async search(query, k) {
      const found = await index.query(Array.from(query), k, ef);
      return { ids: found.keys.map(Number) };
    },
  };
}

/** voy-search: a k-d tree. */
export async function voy(wasm: ArrayBuffer, vectors: Float32Array, dim: number): Promise<Contender> {
  const imports = { "./voy_search_bg.js": voyGlue as unknown as WebAssembly.ModuleImports };
  const { instance } = await WebAssembly.instantiate(wasm, imports);
  setVoyWasm(instance.exports);
  const embeddings = rowsOf(vectors, dim).map((row, i) => {
    return { id: String(i), title: "", url: "", embeddings: Array.from(row) };
  });
  const index = new Voy({ embeddings });
  return {
    search: (query, k) => ({ ids: index.search(query, k).neighbors.map(({ id }) => Number(id)) }),
  };
}

/** client-vector-search: every vector, in JavaScript. */
export function clientVectorSearch(vectors: Float32Array, dim: number): Contender {
  const objects = rowsOf(vectors, dim).map((row, id) => ({ id, embedding: Array.from(row) }));
  const index = new EmbeddingIndex(objects);
  return {
    async search(query, k) {
      const found = await index.search(Array.from(query), { topK: k });
      return { ids: found.map(({ object }) => object.id) };
    },
  };
}

// Where Emscripten keeps files: a database for each folder, records by path.
const FILES = "FILE_DATA";
interface StoredFile {
  timestamp: Date;
  mode: number;
  contents: Uint8Array;
}

async function storedFile(name: string): Promise<Uint8Array> {
  const [database, path] = await placeOf(name);
  const store = database.transaction(FILES, "readonly").objectStore(FILES);
  const record = await done(store.get(path) as IDBRequest<StoredFile>);
  database.close();
  return record.contents;
}

async function storeFile(name: string, contents: Uint8Array): Promise<void> {
  const [database, path] = await placeOf(name);
  const mode = 0o100666;
  const store = database.transaction(FILES, "readwrite").objectStore(FILES);
  await done(store.put({ timestamp: new Date(), mode, contents } satisfies StoredFile, path));
  database.close();
}

/** The database that holds Emscripten's files, and a file's key in it. */
async function placeOf(name: string): Promise<[IDBDatabase, string]> {
  await syncFileSystem("write"); // makes the database where there is none
  for (const { name: folder } of await indexedDB.databases()) {
    if (folder === undefined) continue;
    const database = await done(indexedDB.open(folder));
    if (database.objectStoreNames.contains(FILES)) return [database, `${folder}/${name}`];
    database.close();
  }
  throw new Error("hnswlib-wasm keeps no files in this browser");
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("a request failed"));
  });
}
