// An index as a single file (docs/format.md, "The single file").

import { blobSource } from "../bytes/blob.ts";
import { crc32c } from "../bytes/hashes.ts";
import { memorySource } from "../bytes/memory.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import type { SegmentDraft } from "../core/segments.ts";
import { throwIfAborted } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { containerHead, openContainer, SECTIONS, SINGLE_KINDS, type Container } from "../format/container.ts";
import { writeSingleManifest } from "../format/manifest.ts";
import { textOfDocument, withCatalogue } from "../format/edit.ts";
import { ENGINE_KINDS, openEngineParts, type IndexParts } from "../format/parts.ts";
import type { OnProgress } from "../records.ts";
import { countsOf } from "./manifest.ts";
import { makePause, safeProgress, type Pause } from "./pause.ts";
import { portable, shortModelName } from "./portable.ts";
import { countWords } from "./words.ts";

export interface ExportTools {
  readonly chunks: () => Promise<ChunkCore>;
  readonly builder: () => Promise<Engine>; // an engine that builds; asked for if something was removed
  readonly pack: () => Promise<Uint8Array>; // codebook and calibration of the model, likewise
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

// What opening reads comes first, then what a search touches little of.
const ORDER: readonly number[] = [1, 10, 2, 9, 8, 32, 5, 3, 48, 49, 50, 52, 6, 35, 53, 4];

/** The index as one file, which a page opens and `gossamer import` takes. No path of this machine and
 * nothing that was removed is in it. WrongState if texts of it are not here. */
export async function exportFile(parts: IndexParts, tools: ExportTools): Promise<Blob> {
  const { signal } = tools;
  const tell = safeProgress(tools.onProgress);
  const pause = makePause(signal);
  const core = await tools.chunks();
  const catalogue = portable(core, withCatalogue(core, parts).catalogue);
  const segment = await segmentOf(parts, catalogue, core.draft(), tell, pause, signal);
  const isEmpty = !parts.engine || catalogue.chunkCount === 0;
  const sections = new Map<number, Uint8Array>(isEmpty ? [] : await engineSections(parts.engine, tools));
  for (const [kind, bytes] of await segment.container.sections(SINGLE_KINDS)) sections.set(kind, bytes);
  sections.set(SECTIONS.manifest, manifestOf(parts, catalogue));
  tell({ phase: "words", done: 0, total: 0 });
  const counted = { catalogue, texts: parts.texts };
  sections.set(SECTIONS.words, await countWords(counted, core.countWords(catalogue.origin.bytes), pause, signal));
  throwIfAborted(signal);
  tell({ phase: "writing", done: 0, total: 0 });
  return blobOf(sections, segment);
}

/** The file, of which the blocks of text are not copied: they may be large. */
function blobOf(sections: ReadonlyMap<number, Uint8Array>, { container, file }: MadeSegment): Blob {
  const blocks = container.sectionAt(SECTIONS.blocks);
  const described = ORDER.flatMap((kind) => {
    const bytes = sections.get(kind);
    if (bytes) return [{ kind, length: bytes.length, checksum: crc32c(bytes), part: bytes as BlobPart }];
    if (kind !== SECTIONS.blocks || !blocks) return [];
    return [{ kind, ...blocks, part: file.slice(blocks.at, blocks.at + blocks.length) as BlobPart }];
  });
  const { head, gaps } = containerHead(described);
  const parts = described.flatMap(({ part }, i) => [new Uint8Array(gaps[i] as number), part]);
  return new Blob([head, ...parts], { type: "application/octet-stream" });
}

interface MadeSegment {
  readonly container: Container;
  readonly file: Blob;
}

/** The sections of these kinds that there are, in this order. */
export function inOrder(
  sections: ReadonlyMap<number, Uint8Array>,
  kinds: readonly number[],
): { kind: number; bytes: Uint8Array }[] {
  return kinds.flatMap((kind) => {
    const bytes = sections.get(kind);
    return bytes ? [{ kind, bytes }] : [];
  });
}

function manifestOf({ manifest }: IndexParts, catalogue: Catalogue): Uint8Array {
  const { model, settings } = manifest;
  return writeSingleManifest({
    ...manifest,
    roots: [],
    origin: {},
    counts: countsOf(catalogue),
    model: { ...model, name: shortModelName(model.name) },
    settings: { ...settings, storeText: true, walk: {} },
  });
}

/** The engine's part of the file, without what was removed: a deleted node keeps its code. */
async function engineSections(
  container: Container | null,
  { builder, pack, signal }: ExportTools,
): Promise<ReadonlyMap<number, Uint8Array>> {
  if (!container) return new Map();
  if (!container.sectionAt(SECTIONS.deleted)) return container.sections(ENGINE_KINDS, signal);
  const isOwn = container.sectionAt(SECTIONS.codebook) !== null;
  const parts = await openEngineParts(container, { withVectors: true, ...(signal ? { signal } : {}) });
  const index = (await builder()).open(parts, isOwn ? {} : { pack: await pack() });
  try {
    index.compact();
    const file = index.save({ codebook: isOwn, calibration: isOwn });
    return await (await openContainer(memorySource(file))).sections(ENGINE_KINDS);
  } finally {
    index.free();
  }
}

/** All sources and their texts as one segment. */
async function segmentOf(
  { texts }: IndexParts,
  catalogue: TravelCatalogue,
  draft: SegmentDraft,
  tell: OnProgress,
  pause: Pause,
  signal?: AbortSignal,
): Promise<MadeSegment> {
  const total = catalogue.documentCount;
  const begins: number[] = [];
  try {
    for (let row = 0; row < total; row += 1) {
      await pause();
      const text = (await textOfDocument({ catalogue, texts }, row, signal)) as Uint8Array; // none is away
      begins.push(draft.addText(text));
      tell({ phase: "texts", done: row + 1, total });
    }
    const rows = Array.from({ length: catalogue.sourceCount }, (_, row) => row);
    draft.addRows(catalogue.origin.bytes, rows, begins);
    const file = new Blob(draft.finish() as Uint8Array<ArrayBuffer>[]);
    return { container: await openContainer(blobSource(file)), file };
  } finally {
    draft.free();
  }
}
