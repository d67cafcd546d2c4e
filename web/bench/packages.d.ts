// What the benchmark uses of packages that only its own folder of rivals holds.

declare module "hnswlib-wasm" {
  export interface Hnsw {
    initIndex(most: number, m: number, efConstruction: number, seed: number): void;
    addItems(items: Float32Array[], replaceDeleted: boolean): number[];
    setEfSearch(ef: number): void;
    searchKnn(query: Float32Array, k: number, filter: undefined): { neighbors: number[] };
    writeIndex(file: string): Promise<boolean>;
    readIndex(file: string, most: number): Promise<boolean>;
  }
  export interface Library {
    HierarchicalNSW: new (space: string, dim: number, file: string) => Hnsw;
  }
  export function loadHnswlib(): Promise<Library>;
  export function syncFileSystem(action: "read" | "write"): Promise<void>;
}

declare module "mememo" {
  export class HNSW {
    constructor(options: Record<string, unknown>);
    loadIndex(index: unknown): void;
    bulkInsertSkipIndex(keys: string[], values: number[][]): Promise<void>;
    query(value: number[], k: number, ef: number): Promise<{ keys: string[] }>;
    graphLayers: unknown;
    nodes: { graphLayers: unknown };
  }
}

declare module "voy-search/voy_search_bg.js" {
  export function __wbg_set_wasm(exports: WebAssembly.Exports): void;
  export class Voy {
    constructor(resource: { embeddings: VoyEntry[] });
    search(query: Float32Array, k: number): { neighbors: { id: string }[] };
  }
  export interface VoyEntry {
    id: string;
    title: string;
    url: string;
    embeddings: number[];
  }
}

declare module "client-vector-search" {
  export class EmbeddingIndex {
    constructor(objects: { id: number; embedding: number[] }[]);
    search(query: number[], options: { topK: number }): Promise<{ object: { id: number } }[]>;
  }
}
