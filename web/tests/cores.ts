// The built modules that read and change catalogues.

import { loadChunks } from "../src/core/load.ts";
import { readCatalogue as read, type Catalogue } from "../src/format/catalogue.ts";
import { builtWasm } from "./wasm_files.ts";

export const CHUNKS = await loadChunks(builtWasm);
export const loadReader = async (): Promise<typeof CHUNKS> => CHUNKS;

export function readCatalogue(bytes: Uint8Array): Catalogue {
  return read(CHUNKS, bytes);
}
