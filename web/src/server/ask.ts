// What asks a server during searches, loaded as one.

export { askChunks } from "./chunks.ts";
export { askVectors } from "./vectors.ts";
