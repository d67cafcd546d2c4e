// An index of version 1 becomes one of segments, before its first change; nothing is embedded.

import type { ChunkCore } from "../core/chunks.ts";
import { GossamerError } from "../errors.ts";
import { AWAY } from "../format/catalogue.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { filesOfKind, readManifest, writeManifest } from "../format/manifest.ts";
import { partsOfFolder, type IndexParts } from "../format/parts.ts";
import type { Folder } from "../storage/storage.ts";
import { newFiles, removeUnnamed } from "./files.ts";
import { makePause } from "./pause.ts";
import { NewSegments } from "./segments.ts";

/** Opens the index of a folder to change it: it is made of segments then. NoIndex if there is none. To be
 * called while writing. */
export async function openToChange(
  folder: Folder,
  chunks: () => Promise<ChunkCore>,
  signal?: AbortSignal,
): Promise<IndexParts> {
  const parts = await partsOfFolder(folder, { chunks }, signal);
  if (!("bytes" in parts.catalogue.origin)) return parts;
  const catalogue = parts.catalogue as TravelCatalogue;
  await convert(folder, await chunks(), { ...parts, catalogue }, signal).finally(parts.close);
  return partsOfFolder(folder, { chunks }, signal);
}

async function convert(
  folder: Folder,
  core: ChunkCore,
  { manifest, catalogue, texts }: IndexParts & { catalogue: TravelCatalogue },
  signal?: AbortSignal,
): Promise<void> {
  const files = await newFiles(folder);
  const news = new NewSegments(core, files, folder);
  const { segments, offsets } = catalogue.textPlaces;
  try {
    const textOf = async (row: number): Promise<Uint8Array | null> => {
      const [segment, start] = [segments[row] as number, offsets[row] as number];
      if (segment === AWAY) return null;
      try {
        return await texts.read(segment, start, start + (catalogue.textLengths[row] as number), signal);
      } catch (error) {
        // What is damaged stays without its text: it can be removed, or added again.
        if (error instanceof GossamerError && error.reason === "Damaged") return null;
        throw error;
      }
    };
    const pause = makePause(signal);
    await news.take(catalogue, textOf, pause);
    await news.finish({ segments: [], catalogue, texts }, [], [], pause);
    const named = [...news.made.map(({ entry }) => entry), ...filesOfKind(manifest, "vectors")];
    const next = writeManifest({ ...manifest, generation: manifest.generation + 1, files: named });
    readManifest(next); // nothing is committed that could not be read
    await folder.writeManifest(next);
    files.keep();
    news.close();
    await removeUnnamed(folder, named).catch(() => {}); // they go another time
  } catch (error) {
    news.close();
    await files.abandon();
    throw error;
  }
}
