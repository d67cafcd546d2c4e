// An index of version 1 becomes one of segments, before its first change; nothing is embedded.

import type { ChunkCore } from "../core/chunks.ts";
import { GossamerError } from "../errors.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { filesOfKind } from "../format/manifest.ts";
import { textOfDocument, withCatalogue, type ChangeParts } from "../format/edit.ts";
import { partsOfFolder } from "../format/parts.ts";
import type { Folder } from "../storage/storage.ts";
import { replaceManifest } from "./commit.ts";
import { newFiles } from "./files.ts";
import { makePause } from "./pause.ts";
import { NewSegments } from "./segments.ts";

/** Opens the index of a folder to change it: it is made of segments then. NoIndex if there is none. To be
 * called while writing. */
export async function openToChange(
  folder: Folder,
  chunks: () => Promise<ChunkCore>,
  signal?: AbortSignal,
): Promise<ChangeParts> {
  const core = await chunks();
  const open = async () => withCatalogue(core, await partsOfFolder(folder, { text: chunks }, signal));
  const parts = await open();
  if (!("bytes" in parts.origin)) return parts;
  const catalogue = parts.catalogue as TravelCatalogue;
  await convert(folder, core, { ...parts, catalogue }, signal).finally(parts.close);
  return open();
}

async function convert(
  folder: Folder,
  core: ChunkCore,
  { manifest, catalogue, texts }: ChangeParts & { catalogue: TravelCatalogue },
  signal?: AbortSignal,
): Promise<void> {
  const files = await newFiles(folder);
  const news = new NewSegments(core, files, folder);
  try {
    const textOf = (row: number): Promise<Uint8Array | null> =>
      textOfDocument({ catalogue, texts }, row, signal).catch((error: unknown) => {
        // What is damaged stays without its text: it can be removed, or added again.
        if (error instanceof GossamerError && error.reason === "Damaged") return null;
        throw error;
      });
    const pause = makePause(signal);
    await news.take(catalogue, textOf, pause);
    await news.finish({ segments: [], catalogue, texts }, [], [], pause);
    const named = [...news.made.map(({ entry }) => entry), ...filesOfKind(manifest, "vectors")];
    const next = { ...manifest, generation: manifest.generation + 1, files: named };
    await replaceManifest(next, { folder, files, signal }, () => news.close());
  } catch (error) {
    news.close();
    await files.abandon();
    throw error;
  }
}
