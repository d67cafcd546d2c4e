// A package into an edge: everything checked, then one commit; or nothing at all. The twin of
// python/gossamer/sync/apply.py.

import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Reason } from "../errors.ts";
import { AWAY } from "../format/catalogue.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { readCatalogue } from "../format/catalogue_view.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { NO_SITE, readStamp, writeManifest } from "../format/manifest.ts";
import type { Manifest, ModelStamp, Settings } from "../format/manifest.ts";
import { joinSegments } from "../format/edit.ts";
import type { ChangeParts } from "../format/edit.ts";
import { keyOfName } from "../format/put.ts";
import type { SourceName } from "../format/put.ts";
import { randomName } from "../random.ts";
import type { OnProgress } from "../records.ts";
import { manifestIn } from "../server/following.ts";
import type { Conflict, Head, Wanted } from "../server/records.ts";
import type { Folder } from "../storage/storage.ts";
import { commitIndex, nextCatalogue } from "../update/commit.ts";
import { openToChange } from "../update/convert.ts";
import { newFiles, removeUnnamed } from "../update/files.ts";
import type { NewFiles } from "../update/files.ts";
import { countsOf } from "../update/manifest.ts";
import { makePause } from "../update/pause.ts";
import { NewSegments } from "../update/segments.ts";
import type { OldState, Touch } from "../update/segments.ts";
import { checkHead, checkIndex } from "./checks.ts";
import { makeCodes, makeSlim } from "./edge_vectors.ts";
import type { MadeVectors } from "./edge_vectors.ts";
import type { Package } from "./package.ts";
import {
  MOST_JSON_BYTES,
  unpackAbsent,
  unpackConflicts,
  unpackRemoved,
  unpackTouched,
} from "./sections.ts";
import { stateOf } from "./state.ts";

/** What a package changed. */
export interface Applied {
  readonly documentsChanged: number;
  readonly documentsRemoved: number;
  readonly conflicts: readonly Conflict[];
}

export interface ApplyTools {
  readonly url: string; // of the server, for the manifest
  readonly builder: () => Promise<Engine>; // an engine that builds, for this change alone
  readonly chunks: () => Promise<ChunkCore>;
  /** Codebook and calibration that ship with a model. MissingModel if they are not to be had. */
  readonly pack: (model: ModelStamp) => Promise<Uint8Array>;
  readonly mayGoBack?: boolean; // to a version that was seen before
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MOST_CATALOGUE_BYTES = 2 ** 30;
const MOST_TEXT_BYTES = 2 ** 31;
const MOST_CODE_BYTES = 2 ** 16;
const MOST_DIM = 2 ** 16;
// What is not for the package to answer for; whatever else it brings about is damage.
const OTHER_REASONS: readonly Reason[] = [
  "Cancelled",
  "CodebookMismatch",
  "Damaged",
  "Locked",
  "MissingModel",
  "ModelMismatch",
  "Unavailable",
  "UnknownVersion",
  "Unreachable",
  "Unwritable",
];

/** Brings an edge to the state that a package leads to, in one commit.
 *
 * WrongState for a package of another index. Damaged for one of a version that was seen before (unless
 * `mayGoBack`), or that does not lead where it says. Nothing is changed then. To be called while writing
 * (Folder.whileWriting). */
export async function applyPackage(
  folder: Folder,
  pkg: Package,
  wanted: Wanted,
  tools: ApplyTools,
): Promise<Applied> {
  const manifest = await manifestIn(folder);
  checkIndex(pkg.head, manifest, folder.name);
  return asDamage(async () => {
    checkHead(pkg.head, manifest, wanted, tools.mayGoBack ?? false);
    await removeUnnamed(folder, manifest?.files ?? []);
    // A snapshot begins from nothing, and takes the place of all there is, whole or not.
    const old = pkg.head.base ? await openToChange(folder, tools.chunks, tools.signal) : null;
    const files = await newFiles(folder);
    try {
      const step = readStep(pkg, old, await tools.chunks());
      return await run(step, old?.manifest ?? manifest, folder, files, tools);
    } catch (error) {
      await files.abandon();
      throw error;
    } finally {
      old?.close();
    }
  });
}

/** Lets an edge that is up to date say where its server is now. A server that lost its history is in
 * another `epoch`, though the state is the same. */
export async function renameOrigin(folder: Folder, url: string, epoch: string): Promise<void> {
  const manifest = await manifestIn(folder);
  if (!manifest || (manifest.origin["url"] === url && manifest.origin["epoch"] === epoch)) return;
  const origin = { ...manifest.origin, url, epoch };
  const next = { ...manifest, generation: manifest.generation + 1, changed: now(), origin };
  await folder.writeManifest(writeManifest(next));
}

/** A package and what it is put to. */
interface Step {
  readonly pkg: Package;
  readonly old: ChangeParts | null;
  readonly before: OldState; // the old state, or nothing
  readonly core: ChunkCore;
  readonly stamp: ModelStamp;
  readonly settings: Settings;
  readonly news: TravelCatalogue | null; // null if nothing is new
  readonly removed: readonly number[]; // rows of sources that are here
  readonly conflicts: readonly Conflict[];
}

function readStep(pkg: Package, old: ChangeParts | null, core: ChunkCore): Step {
  const before = old ?? { segments: [], ...joinSegments(core, []) };
  const removed = unpackRemoved(core, pkg.read("removed", MOST_JSON_BYTES)).flatMap(({ isFile, path }) => {
    const row = before.catalogue.find(isFile, path);
    return row === null ? [] : [row]; // one that came and went between two pulls was never here
  });
  return {
    pkg,
    old,
    before,
    core,
    stamp: stampOf(pkg.head),
    settings: settingsOf(pkg.head),
    news: readNews(pkg, core),
    removed,
    conflicts: unpackConflicts(core, pkg.read("conflicts", MOST_JSON_BYTES)),
  };
}

async function run(
  step: Step,
  manifest: Manifest | null,
  folder: Folder,
  files: NewFiles,
  tools: ApplyTools,
): Promise<Applied> {
  const { pkg, old, before, core, news, removed } = step;
  const { head } = pkg;
  const { onProgress, signal } = tools;
  const segments = new NewSegments(core, files, folder);
  try {
    const pause = makePause(signal);
    if (news) await segments.take(news, textsOf(step, news), pause);
    const gone = new Set([...removed, ...rowsReplaced(before.catalogue, news)]);
    await segments.finish(before, [...gone], touchesOf(step, gone), pause);
    const catalogue = nextCatalogue(core, before.segments, segments);
    checkIds(catalogue, head.nextChunkId);
    const made = await makeVectors(step, catalogue, tools);
    const state = stateOf(core, catalogue, made.digest);
    if (state !== head.state) {
      throw new GossamerError(
        "Damaged",
        `the package leads to the state ${state}, where the server says ${head.state}`,
      );
    }
    const documentsRemoved = removed.reduce((sum, row) => sum + before.catalogue.documentsOf(row).count, 0);
    const next = {
      old: before.segments,
      news: segments,
      catalogue,
      vectors: () => made.file,
      manifest: (named: Manifest["files"]): Manifest => ({
        ...manifestAfter(manifest, step, tools.url),
        nextChunkId: head.nextChunkId,
        files: named,
        counts: countsOf(catalogue),
      }),
      close: () => {
        segments.close();
        old?.close();
      },
    };
    await commitIndex(next, { folder, files, core, onProgress, signal });
    return { documentsChanged: news?.documentCount ?? 0, documentsRemoved, conflicts: step.conflicts };
  } finally {
    segments.close();
  }
}

/** The rows of old sources that come anew; DuplicateId for a source that comes twice. */
function rowsReplaced(before: Catalogue, news: TravelCatalogue | null): number[] {
  const seen = new Set<string>();
  return (news?.paths ?? []).flatMap((path, place) => {
    const name: SourceName = { isFile: news?.isFile(place) === true, path };
    if (seen.has(keyOfName(name))) {
      throw new GossamerError("DuplicateId", `${JSON.stringify(path)} was given twice in one step; give it once`);
    }
    seen.add(keyOfName(name));
    const row = before.find(name.isFile, path);
    return row === null ? [] : [row];
  });
}

/** Sources that have another time now; those that are gone are passed over. */
function touchesOf({ pkg, core, before }: Step, gone: ReadonlySet<number>): Touch[] {
  return unpackTouched(core, pkg.read("touched", MOST_JSON_BYTES)).flatMap(
    ({ isFile, path, mtimeNs, readerVersion }) => {
      const row = before.catalogue.find(isFile, path);
      if (row === null) {
        const message = `${JSON.stringify(path)} is not in the index, so it cannot be changed there`;
        throw new GossamerError("UnknownId", message);
      }
      return gone.has(row) ? [] : [{ row, mtimeNs, readerVersion }];
    },
  );
}

function checkIds({ chunkIds }: Catalogue, nextChunkId: number): void {
  const last = chunkIds.at(-1);
  if (last === undefined || last < nextChunkId) return;
  throw new GossamerError("Damaged", `chunk ${last} is yet to come: the next one is ${nextChunkId}`);
}

function manifestAfter(
  old: Manifest | null,
  { pkg, stamp, settings }: Step,
  url: string,
): Omit<Manifest, "nextChunkId" | "files" | "counts"> {
  const { index, epoch, version, state, mode, texts } = pkg.head;
  return {
    uuid: old?.uuid ?? randomName(),
    generation: (old?.generation ?? 0) + 1,
    created: old?.created ?? now(),
    changed: now(),
    model: stamp,
    settings,
    roots: [],
    origin: { index, epoch, version, state, mode, texts, url },
    site: old?.site ?? NO_SITE,
  };
}

/** Reads the sources that are new or changed; where texts are is for the edge alone to say. */
function readNews(pkg: Package, core: ChunkCore): TravelCatalogue | null {
  if (!pkg.has("catalogue")) return null;
  const news = readCatalogue(core, pkg.read("catalogue", MOST_CATALOGUE_BYTES)) as TravelCatalogue;
  if (news.textPlaces.segments.every((segment) => segment === AWAY)) return news;
  throw new GossamerError("Damaged", "the package names places of texts, which only the edge can know");
}

/** What gives the text of each document by its row, in the order of rows; null for one that is away. */
function textsOf({ pkg, core }: Step, news: Catalogue): (row: number) => Promise<Uint8Array | null> {
  if (pkg.head.texts === "away") return async () => null;
  const absent = unpackAbsent(core, pkg.read("absent", MOST_JSON_BYTES));
  const isAbsent = (row: number): boolean => absent.has(news.chunksIn(row).first);
  const expected = news.textLengths.reduce((sum, length, row) => sum + (isAbsent(row) ? 0 : length), 0);
  if (expected !== pkg.sizeOf("texts")) {
    throw new GossamerError(
      "Damaged",
      `the package has ${pkg.sizeOf("texts")} bytes of text, where its documents have ${expected}`,
    );
  }
  const bytes = pkg.read("texts", MOST_TEXT_BYTES);
  let at = 0;
  return async (row) =>
    isAbsent(row) ? null : bytes.subarray(at, (at += news.textLengths[row] as number));
}

async function makeVectors(step: Step, catalogue: Catalogue, tools: ApplyTools): Promise<MadeVectors> {
  const { pkg, old, core, stamp } = step;
  const news = step.news ?? joinSegments(core, []).catalogue;
  const engine = await tools.builder();
  const using = { engine, pack: () => tools.pack(stamp) };
  throwIfAborted(tools.signal);
  if (isSlim(pkg.head)) return makeSlim(pkg, catalogue, old?.engine ?? null, using);
  return makeCodes(pkg, catalogue, news, old?.engine ?? null, using);
}

function isSlim(head: Head): boolean {
  return head.mode.startsWith("slim:");
}

function stampOf(head: Head): ModelStamp {
  try {
    const stamp = readStamp({ probe: [], ...head.model });
    if (stamp.dim > 0 && stamp.dim <= MOST_DIM) return stamp;
  } catch (error) {
    if (!(error instanceof GossamerError)) throw error;
  }
  throw new GossamerError("Damaged", "the package does not say which model it is of");
}

function settingsOf(head: Head): Settings {
  const codeBytes = head.settings["code_bytes"];
  if (!Number.isInteger(codeBytes) || (codeBytes as number) < 0 || (codeBytes as number) > MOST_CODE_BYTES) {
    throw new GossamerError("Damaged", `the package says code_bytes = ${JSON.stringify(codeBytes)}`);
  }
  const keep = isSlim(head) ? "all" : "none";
  return { codeBytes: codeBytes as number, storeText: true, keep, lexical: "scan", walk: {} };
}

/** Throws Damaged in place of whatever a package brings about that does not fit together. */
async function asDamage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GossamerError) || OTHER_REASONS.includes(error.reason)) throw error;
    throw new GossamerError("Damaged", error.message);
  }
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}+00:00`;
}
