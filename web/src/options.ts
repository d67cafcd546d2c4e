// What a page may choose when it opens, builds or follows an index.

import type { EvictionName, VectorSource } from "./records.ts";

/** A file that the user picked, with the path it is to be found under. */
export interface PickedFile {
  readonly file: Blob;
  readonly path: string;
  readonly mtime: number; // milliseconds
}

/** Where a server is, and what it lets in. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string;
}

/** An index in storage, by a name that may look like an address. */
export interface StoredName {
  readonly name: string;
}

/** An encoder that runs in onnxruntime-web, by the addresses that the page serves it at. */
export interface EncoderFiles {
  readonly runtime: string; // the module of onnxruntime-web
  readonly wasmPaths?: string; // folder of its .wasm files; that of the module without it
  readonly folder: string; // of the model: model.onnx, vocab.txt, gossamer-model.json
}

export interface OpenOptions {
  readonly name?: string; // what the index is kept under in storage; one made from the address without it
  readonly model?: string | URL; // model file; else looked for beside the index, else asked of the server
  readonly encoder?: EncoderFiles; // instead of a model file
  readonly vectors?: VectorSource; // what suits the index without it
  readonly memoryBudget?: number; // bytes for vectors in memory; 32 MiB
  readonly eviction?: EvictionName | (string & {}) | URL; // "lru"; or the address of a module: see README
  readonly warm?: boolean; // reads vectors into memory at once, as far as the budget goes; false
  readonly optimise?: OptimiseOptions; // how optimiseCache is called once there were questions
  readonly server?: ServerAddress; // what is not in the file is asked there
  readonly keepLocal?: boolean; // whether what was fetched is kept in storage; true
  readonly signal?: AbortSignal;
}

/** How a server is followed; what is left out is as it was chosen before, or the usual. */
export interface FollowOptions
  extends Pick<OpenOptions, "model" | "encoder" | "vectors" | "memoryBudget" | "eviction"> {
  readonly token?: string; // of the server; kept in storage, in clear, for the next pull
  readonly keepsToken?: boolean; // false: the token is not kept, and each pull is given it; true
  readonly mode?: string; // "codes" (the usual), "slim", "slim:int8", "slim:f16:8": docs/edge.md
  readonly texts?: "kept" | "away"; // "kept" is the usual; away, texts of hits are asked of the server
}

export interface BuildOptions {
  readonly model?: string | URL; // model file; pocket.model.gossamer beside worker.js without it
  readonly chunkTokens?: number; // all that the model takes without it
}

/** What storage may cost from now on; see README. At least one of `share` and `accessMs`. */
export interface OptimiseOptions {
  readonly questions?: readonly string[]; // to measure with; the latest ones without them
  readonly share?: number; // of the time of a search (WebANNS' p)
  readonly accessMs?: number; // milliseconds of each search (WebANNS' T)
}
