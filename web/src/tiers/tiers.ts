// What an index needs whose vectors stay outside of Wasm memory, loaded as one.

export { checkEviction, loadEviction } from "./load_eviction.ts";
export { storedRows } from "./rows.ts";
export { openVectors } from "./vectors.ts";
