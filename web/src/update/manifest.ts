// The manifest of the next state of an index.

import type { Catalogue } from "../format/catalogue.ts";
import { NO_SITE } from "../format/manifest.ts";
import type { FileEntry, Manifest, ModelStamp, Settings } from "../format/manifest.ts";
import { randomName } from "../random.ts";
import type { ChunkEmbedder } from "./vectors.ts";

/** What the manifest of a new index says, and where ids go on. */
export interface NextState {
  readonly embedder: ChunkEmbedder;
  readonly chunkTokens: number;
  readonly codeBytes: number;
  readonly nextChunkId: number;
}

/** The manifest that follows `old`, or the first one of an index. */
export function nextManifest(
  old: Manifest | null,
  catalogue: Catalogue,
  files: readonly FileEntry[],
  next: NextState,
): Manifest {
  const now = `${new Date().toISOString().slice(0, 19)}+00:00`;
  return {
    uuid: old?.uuid ?? randomName(),
    generation: (old?.generation ?? 0) + 1,
    created: old?.created ?? now,
    changed: now,
    model: old?.model ?? stampOf(next),
    settings: old?.settings ?? newSettings(next.codeBytes),
    roots: old?.roots ?? [],
    nextChunkId: next.nextChunkId,
    files,
    counts: countsOf(catalogue),
    origin: old?.origin ?? {},
    site: old?.site ?? NO_SITE,
  };
}

/** What status shows of a catalogue. */
export function countsOf(catalogue: Catalogue): Record<string, number> {
  const counts: Record<string, number> = { indexed: 0, skipped: 0, failed: 0 };
  for (let row = 0; row < catalogue.sourceCount; row += 1) {
    const { status } = catalogue.source(row);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return {
    sources: catalogue.sourceCount,
    ...counts,
    documents: catalogue.documentCount,
    chunks: catalogue.chunkCount,
    text_bytes: catalogue.textLengths.reduce((sum, length) => sum + length, 0),
  };
}

function stampOf({ embedder, chunkTokens }: NextState): ModelStamp {
  const { name, fingerprint, dim, maxTokens } = embedder;
  return { name, fingerprint, dim, maxTokens, chunkTokens, probe: [] };
}

function newSettings(codeBytes: number): Settings {
  return { codeBytes, storeText: true, keep: "none", lexical: "scan", walk: {} };
}
