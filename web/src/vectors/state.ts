// What an index of vectors is until it is changed or opened anew: an engine, and what vectors are not in memory.

import type { ByteSource } from "../bytes/source.ts";
import type { Engine, EngineIndex } from "../core/engine.ts";
import { loadVectorBuilder, loadVectors } from "../core/load.ts";
import type { WasmFiles } from "../core/load.ts";
import { GossamerError } from "../errors.ts";
import { openContainer, SECTIONS } from "../format/container.ts";
import type { Container } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import { Lifetime } from "../query/lifetime.ts";
import type { VectorTiers } from "../tiers/interface.ts";
import { storedRows } from "../tiers/rows.ts";
import { openVectors } from "../tiers/vectors.ts";
import type { OpenVectorsOptions } from "./options.ts";

/** The file that an index was opened from. */
export interface OpenFile {
  readonly source: ByteSource;
  readonly container: Container;
}

export interface State {
  readonly engine: Engine;
  readonly index: EngineIndex;
  readonly tiers: VectorTiers | null; // null where all vectors that are kept are in memory
  readonly file: OpenFile | null; // null for what is in memory alone
  readonly life: Lifetime; // of its searches
}

/** An index in memory, of an engine that builds. */
export function stateOf(engine: Engine, index: EngineIndex): State {
  return { engine, index, tiers: null, file: null, life: new Lifetime() };
}

/** Opens a file to be searched; the source is closed with it, or if this fails. */
export async function openState(source: ByteSource, options: OpenVectorsOptions, wasm: WasmFiles): Promise<State> {
  try {
    const [container, engine] = await Promise.all([openContainer(source, options.signal), loadVectors(wasm)]);
    const { memoryBudget: budget, signal } = options;
    if (container.sectionAt(SECTIONS.manifest)) {
      throw new GossamerError("InvalidArgument", "this is an index of texts: open it with gossamer-web, or in Python");
    }
    if (budget !== undefined) checkKept(container);
    const wish = { withVectors: budget === undefined, ...(signal ? { signal } : {}) };
    const parts = await openEngineParts(container, wish);
    const outside = budget === undefined ? {} : { residentBytes: 0 };
    const index = engine.open(parts, { ...packOf(options), ...outside });
    const tiers = budget === undefined ? null : openTiers(index, container, budget, options);
    if (options.warm) await tiers?.warm(signal);
    return { engine, index, tiers, file: { source, container }, life: new Lifetime() };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Reads a file into an engine that changes it. */
export async function stateToChange(file: OpenFile, options: OpenVectorsOptions, wasm: WasmFiles): Promise<State> {
  const [engine, parts] = await Promise.all([
    loadVectorBuilder(wasm),
    openEngineParts(file.container, { withVectors: true }),
  ]);
  return stateOf(engine, engine.open(parts, packOf(options)));
}

/** Lets go of an index and its file, when its searches are over. */
export async function closeState({ index, tiers, file, life }: State): Promise<void> {
  tiers?.close(); // ends what optimises the cache
  await life.end();
  index.free();
  file?.source.close();
}

/** All bytes of a file. */
export async function wholeFile({ source }: OpenFile): Promise<Uint8Array> {
  return (await source.read(0, source.size)).slice();
}

function openTiers(
  index: EngineIndex,
  container: Container,
  budget: number,
  { eviction = "lru" }: OpenVectorsOptions,
): VectorTiers {
  const rows = storedRows(container.slice(SECTIONS.vectors), 0, index.rowBytes);
  return openVectors(index, rows, { budget, eviction });
}

function packOf({ codebook }: OpenVectorsOptions): { pack?: Uint8Array } {
  return codebook ? { pack: codebook } : {};
}

/** Refuses a memory budget for vectors where there are none, or not all. */
function checkKept(container: Container): void {
  if (container.sectionAt(SECTIONS.vectors) && !container.sectionAt(SECTIONS.hotNodes)) return;
  throw new GossamerError(
    "InvalidArgument",
    "a memoryBudget is for an index that keeps all of its vectors, and this one does not: leave it out",
  );
}
