// An index as a single file (docs/format.md, "The single file").

import { joinBytes } from "../bytes/join.ts";
import { memorySource } from "../bytes/memory.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import type { SegmentDraft } from "../core/segments.ts";
import { throwIfAborted } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { containerParts, openContainer, SECTIONS, SEGMENT_KINDS, type Container } from "../format/container.ts";
import { writeSingleManifest } from "../format/manifest.ts";
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
  const catalogue = portable(core, parts.catalogue);
  const segment = await segmentOf(parts, catalogue, core.draft(), tell, pause, signal);
  const isEmpty = !parts.engine || catalogue.chunkCount === 0;
  const sections = new Map<number, Uint8Array>(isEmpty ? [] : await engineSections(parts.engine, tools));
  for (const kind of SEGMENT_KINDS) {
    if (segment.sectionAt(kind)) sections.set(kind, await segment.section(kind));
  }
  sections.set(SECTIONS.manifest, manifestOf(parts, catalogue));
  tell({ phase: "words", done: 0, total: 0 });
  const counted = { catalogue, texts: parts.texts };
  sections.set(SECTIONS.words, await countWords(counted, core.countWords(), pause, signal));
  throwIfAborted(signal);
  tell({ phase: "writing", done: 0, total: 0 });
  const whole = containerParts(inOrder(sections, ORDER));
  return new Blob(whole, { type: "application/octet-stream" });
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
): Promise<Container> {
  const { segments, offsets } = catalogue.textPlaces;
  const total = catalogue.documentCount;
  const begins: number[] = [];
  try {
    for (let row = 0; row < total; row += 1) {
      await pause();
      const start = offsets[row] as number;
      const end = start + (catalogue.textLengths[row] as number);
      begins.push(draft.addText(await texts.read(segments[row] as number, start, end, signal)));
      tell({ phase: "texts", done: row + 1, total });
    }
    const rows = Array.from({ length: catalogue.sourceCount }, (_, row) => row);
    draft.addRows(catalogue.origin.bytes, rows, begins);
    return await openContainer(memorySource(joinBytes(draft.finish())));
  } finally {
    draft.free();
  }
}
