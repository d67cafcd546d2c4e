// The built modules that read and change catalogues.

import { memorySource } from "../src/bytes/memory.ts";
import { loadChunks } from "../src/core/load.ts";
import type { Catalogue } from "../src/format/catalogue.ts";
import { readCatalogue as read } from "../src/format/catalogue_view.ts";
import { withCatalogue, type ChangeParts } from "../src/format/edit.ts";
import { openSegment, partsOfFile, partsOfFolder, type OpenSegment } from "../src/format/parts.ts";
import type { Folder } from "../src/storage/storage.ts";
import { builtWasm } from "./wasm_files.ts";

export const CHUNKS = await loadChunks(builtWasm);
export const loadReader = async (): Promise<typeof CHUNKS> => CHUNKS;
export const READERS = { text: loadReader, chunks: loadReader };

export function readCatalogue(bytes: Uint8Array): Catalogue {
  return read(CHUNKS, bytes);
}

/** What a folder holds, open for changes. */
export async function folderParts(folder: Folder): Promise<ChangeParts> {
  return withCatalogue(CHUNKS, await partsOfFolder(folder, READERS));
}

/** The same of a single file in memory. */
export async function fileParts(bytes: Uint8Array): Promise<ChangeParts> {
  return withCatalogue(CHUNKS, await partsOfFile(memorySource(bytes), READERS));
}

/** A file in memory as a segment of this number. */
export async function segmentIn(bytes: Uint8Array, number = 1): Promise<OpenSegment> {
  const entry = { name: `segment-${number}.gss`, size: bytes.length, digest: "" };
  return openSegment(entry, memorySource(bytes));
}
