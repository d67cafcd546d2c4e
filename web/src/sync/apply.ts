// A package into an edge: everything checked, then one commit; or nothing at all. The twin of
// python/gossamer/sync/apply.py.

import type { Engine } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Reason } from "../errors.ts";
import type { SourceEditor } from "../core/sources.ts";
import { AWAY, readCatalogue } from "../format/catalogue.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { changeCatalogue, emptyCatalogue } from "../format/changes.ts";
import { readStamp, writeManifest } from "../format/manifest.ts";
import type { Manifest, ModelStamp, Settings } from "../format/manifest.ts";
import { partsOfFolder } from "../format/parts.ts";
import type { IndexParts } from "../format/parts.ts";
import { randomName } from "../random.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { commitIndex } from "../update/commit.ts";
import { newFiles, removeUnnamed } from "../update/files.ts";
import type { NewFiles } from "../update/files.ts";
import { countsOf } from "../update/manifest.ts";
import { makePause } from "../update/pause.ts";
import { newTexts } from "../update/segments.ts";
import type { NewTexts } from "../update/segments.ts";
import { checkHead, checkIndex } from "./checks.ts";
import { makeCodes, makeSlim } from "./edge_vectors.ts";
import type { MadeVectors } from "./edge_vectors.ts";
import { manifestIn } from "./following.ts";
import type { Package } from "./package.ts";
import type { Conflict, Head, Wanted } from "./records.ts";
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
  readonly chunks: () => Promise<SourceEditor>;
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
    const old = pkg.head.base ? await partsOfFolder(folder, tools.chunks, tools.signal) : null;
    const files = await newFiles(folder);
    try {
      const step = readStep(pkg, old, await tools.chunks());
      return await run(step, manifest, folder, files, tools);
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
  readonly old: IndexParts | null;
  readonly before: Catalogue; // that of the old state, or of nothing
  readonly editor: SourceEditor;
  readonly stamp: ModelStamp;
  readonly settings: Settings;
  readonly news: Catalogue;
  readonly removed: readonly number[]; // rows of sources that are here
  readonly conflicts: readonly Conflict[];
}

function readStep(pkg: Package, old: IndexParts | null, editor: SourceEditor): Step {
  const before = old?.catalogue ?? emptyCatalogue(editor);
  const removed = unpackRemoved(pkg.read("removed", MOST_JSON_BYTES)).flatMap(({ isFile, path }) => {
    const row = before.find(isFile, path);
    return row === null ? [] : [row]; // one that came and went between two pulls was never here
  });
  return {
    pkg,
    old,
    before,
    editor,
    stamp: stampOf(pkg.head),
    settings: settingsOf(pkg.head),
    news: readNews(pkg, editor),
    removed,
    conflicts: unpackConflicts(pkg.read("conflicts", MOST_JSON_BYTES)),
  };
}

async function run(
  step: Step,
  manifest: Manifest | null,
  folder: Folder,
  files: NewFiles,
  tools: ApplyTools,
): Promise<Applied> {
  const { pkg, before, editor, news, removed } = step;
  const { head } = pkg;
  const texts = newTexts(files);
  const { catalogue, nextChunkId } = changeCatalogue(editor, before, {
    nextChunkId: head.nextChunkId,
    remove: removed.map((row) => ({ isFile: before.isFile(row), path: before.paths[row] ?? "" })),
    touch: unpackTouched(pkg.read("touched", MOST_JSON_BYTES)),
    merge: { catalogue: news, places: await placeTexts(pkg, news, texts, tools.signal) },
  });
  const made = await makeVectors(step, catalogue, tools);
  const state = stateOf(editor, catalogue, made.digest);
  if (state !== head.state) {
    throw new GossamerError(
      "Damaged",
      `the package leads to the state ${state}, where the server says ${head.state}`,
    );
  }
  const next = {
    catalogue,
    texts,
    vectors: () => made.file,
    manifest: (settled: Catalogue, named: Manifest["files"]): Manifest => ({
      ...manifestAfter(manifest, step, tools.url),
      nextChunkId,
      files: named,
      counts: countsOf(settled),
    }),
  };
  const { onProgress, signal } = tools;
  await commitIndex(manifest, next, { folder, files, editor, onProgress, signal });
  const documentsRemoved = removed.reduce((sum, row) => sum + before.documentsOf(row).count, 0);
  return { documentsChanged: news.documentCount, documentsRemoved, conflicts: step.conflicts };
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
  };
}

/** Reads the sources that are new or changed; where texts are is for the edge alone to say. */
function readNews(pkg: Package, editor: SourceEditor): Catalogue {
  if (!pkg.has("catalogue")) return emptyCatalogue(editor);
  const news = readCatalogue(editor, pkg.read("catalogue", MOST_CATALOGUE_BYTES));
  if (news.textPlaces.segments.every((segment) => segment === AWAY)) return news;
  throw new GossamerError("Damaged", "the package names places of texts, which only the edge can know");
}

/** Puts the texts that the package brings into a segment; the others are away. */
async function placeTexts(
  pkg: Package,
  news: Catalogue,
  texts: NewTexts,
  signal?: AbortSignal,
): Promise<{ segments: Float64Array; offsets: Float64Array }> {
  const segments = new Float64Array(news.documentCount).fill(AWAY);
  const offsets = new Float64Array(news.documentCount);
  if (pkg.head.texts === "away") return { segments, offsets };
  const absent = unpackAbsent(pkg.read("absent", MOST_JSON_BYTES));
  const rows = [...segments.keys()].filter((row) => !absent.has(news.chunksIn(row).first));
  const expected = rows.reduce((sum, row) => sum + (news.textLengths[row] ?? 0), 0);
  if (expected !== pkg.sizeOf("texts")) {
    throw new GossamerError(
      "Damaged",
      `the package has ${pkg.sizeOf("texts")} bytes of text, where its documents have ${expected}`,
    );
  }
  const bytes = pkg.read("texts", MOST_TEXT_BYTES);
  const pause = makePause(signal);
  let at = 0;
  for (const row of rows) {
    await pause();
    const end = at + (news.textLengths[row] ?? 0);
    const place = await texts.add(bytes.subarray(at, end));
    segments[row] = place.segment;
    offsets[row] = place.offset;
    at = end;
  }
  return { segments, offsets };
}

async function makeVectors(step: Step, catalogue: Catalogue, tools: ApplyTools): Promise<MadeVectors> {
  const { pkg, old, news, stamp } = step;
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
