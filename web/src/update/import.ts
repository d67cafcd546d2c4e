// A single file into a folder: all of it is checked before anything counts. The twin of
// python/gossamer/single/importing.py.

import { crc32c } from "../bytes/hashes.ts";
import { memorySource } from "../bytes/memory.ts";
import type { ByteSource } from "../bytes/source.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { SourceEditor } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { travelCatalogue, type TravelCatalogue } from "../format/changes.ts";
import {
  containerHead,
  containerParts,
  openContainer,
  SECTIONS,
  SINGLE_KINDS,
  type Container,
} from "../format/container.ts";
import { readManifest, type FileEntry, type Manifest } from "../format/manifest.ts";
import { textOfDocument, withCatalogue } from "../format/edit.ts";
import { ENGINE_KINDS, partsOfFile, SINGLE_SEGMENT, type TextStore } from "../format/parts.ts";
import { randomName } from "../random.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { replaceManifest } from "./commit.ts";
import { inOrder } from "./export.ts";
import { newFiles, removeUnnamed, type IndexFile, type NewFiles } from "./files.ts";
import { countsOf } from "./manifest.ts";
import { makePause, safeProgress, type Pause } from "./pause.ts";
import { shortModelName, shortRoots } from "./portable.ts";
import { NewSegments } from "./segments.ts";

export interface ImportTools {
  readonly chunks: () => Promise<ChunkCore>;
  readonly replaces?: boolean; // an index that is there; InvalidArgument without it
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

const PIECE_BYTES = 1 << 20;
// What texts may unpack to: hostile bytes must not keep a worker busy for ever.
const MOST_TEXT_BASE = 2 ** 24;
const MOST_TEXT_RATIO = 1024;
const MOST_CODE_BYTES = 64;
const KEPT_ALL = 2;

/** Puts a single file into a folder in storage, all of it or nothing: every byte is compared with its
 * checksum first, and every part with the others. Closes the source.
 *
 * InvalidArgument if there is an index already that is not to be replaced, WrongState if that follows a
 * server; NotGossamer, UnknownVersion, Truncated or Damaged if the file is not as it should be. */
export async function importFile(
  source: ByteSource,
  folder: Folder,
  tools: ImportTools,
): Promise<void> {
  try {
    await folder.whileWriting(async () => {
      const old = await replacedBy(folder, tools.replaces ?? false);
      await removeUnnamed(folder, old?.files ?? []);
      const files = await newFiles(folder);
      try {
        await bringIn(source, { folder, files, old, ...tools });
      } catch (error) {
        await files.abandon();
        throw error;
      }
    });
  } finally {
    source.close();
  }
}

/** The manifest of the index that goes; null if there is none that can be read. */
async function replacedBy(folder: Folder, replaces: boolean): Promise<Manifest | null> {
  const bytes = await folder.readManifest();
  if (!bytes) return null;
  if (!replaces) {
    throw new GossamerError(
      "InvalidArgument",
      `there is an index named ${folder.name} already; choose another name, or replace it`,
    );
  }
  const old = readable(bytes);
  if (old && Object.keys(old.origin).length) {
    throw new GossamerError(
      "WrongState",
      `the index named ${folder.name} follows a server; choose another name, or remove it first`,
    );
  }
  return old;
}

function readable(bytes: Uint8Array): Manifest | null {
  try {
    return readManifest(bytes);
  } catch {
    return null; // a damaged index can be replaced like any other
  }
}

interface Bringing extends ImportTools {
  readonly folder: Folder;
  readonly files: NewFiles;
  readonly old: Manifest | null;
}

async function bringIn(source: ByteSource, { folder, files, old, ...tools }: Bringing): Promise<void> {
  const { signal } = tools;
  const tell = safeProgress(tools.onProgress);
  const pause = makePause(signal);
  const container = await openContainer(source, signal);
  const core = await tools.chunks();
  const parts = withCatalogue(core, await partsOfFile(source, { text: async () => core }, signal));
  const { manifest, catalogue, texts } = parts;
  checkSettings(manifest);
  checkCatalogue(catalogue, manifest.nextChunkId);
  tell({ phase: "texts", done: 0, total: 3 });
  await checkTexts(texts, container.fileSize, catalogue, pause);
  const moved = travelCatalogue(core, catalogue, [...catalogue.paths.keys()], shortRoots(catalogue));
  const named = container.sectionAt(SECTIONS.oldCatalogue)
    ? await takeOld(moved, texts, core, files, folder, pause)
    : [await copySegment(container, moved, core, files, pause, signal)];
  tell({ phase: "vectors", done: 1, total: 3 });
  if (catalogue.chunkCount) {
    const sections = await container.sections(ENGINE_KINDS, signal); // which compares checksums
    checkEngine(sections, manifest, catalogue, core);
    named.push(await files.write("vectors", containerParts(inOrder(sections, ENGINE_KINDS))));
  }
  tell({ phase: "writing", done: 2, total: 3 });
  await replaceManifest(manifestOf(manifest, old, moved, named), { folder, files, signal });
  tell({ phase: "writing", done: 3, total: 3 });
}

/** What is imported is another index: its ids stand for other chunks than those of the one before, and
 * from now on than those of the one that was exported. */
function manifestOf(
  manifest: Manifest,
  old: Manifest | null,
  catalogue: Catalogue,
  files: readonly FileEntry[],
): Manifest {
  const { model, settings } = manifest;
  return {
    ...manifest,
    uuid: randomName(),
    generation: (old?.generation ?? 0) + 1,
    model: { ...model, name: shortModelName(model.name) },
    settings: { ...settings, storeText: true, walk: {} },
    roots: [],
    origin: {},
    files,
    counts: countsOf(catalogue),
  };
}

function checkSettings({ settings }: Manifest): void {
  const { keep, lexical, codeBytes } = settings;
  const isKept = keep === "none" || keep === "all" || /^hot:\d/.test(keep);
  const isFit = ["scan", "fts5"].includes(lexical) && codeBytes > 0 && codeBytes <= MOST_CODE_BYTES;
  if (isKept && isFit) return;
  const came = JSON.stringify({ keep, lexical, codeBytes }).slice(0, 200);
  throw damaged(`the manifest of the file does not hold what it should (${came})`);
}

/** Looks at what opening leaves to those who read a record. */
function checkCatalogue(catalogue: Catalogue, nextChunkId: number): void {
  if (catalogue.textPlaces.segments.some((segment) => segment !== SINGLE_SEGMENT)) {
    throw damaged("the catalogue names texts that are not in the file");
  }
  const first = catalogue.chunkIds[0];
  const last = catalogue.chunkIds.at(-1);
  if (first !== undefined && last !== undefined && (first < 1 || last >= nextChunkId)) {
    throw damaged("the catalogue has chunks that are yet to come");
  }
  for (let row = 0; row < catalogue.sourceCount; row += 1) catalogue.source(row);
  for (let row = 0; row < catalogue.documentCount; row += 1) catalogue.document(row);
  const keys = catalogue.paths.map((path, row) => `${catalogue.isFile(row) ? "f" : "t"}${path}`);
  if (new Set(keys).size !== keys.length) throw damaged("the catalogue has a source twice");
}

/** Writes the segment of a file under other names of its sources; blocks of text are taken as they are. */
async function copySegment(
  container: Container,
  catalogue: TravelCatalogue,
  core: ChunkCore,
  files: NewFiles,
  pause: Pause,
  signal?: AbortSignal,
): Promise<FileEntry> {
  const renamed = core.edit(catalogue.origin, (list) => list.packSegment());
  const sections = await (await openContainer(memorySource(renamed))).sections(SINGLE_KINDS);
  const directory = container.sectionAt(SECTIONS.blockDirectory);
  if (directory) sections.set(SECTIONS.blockDirectory, await container.section(SECTIONS.blockDirectory, signal));
  const own = inOrder(sections, SINGLE_KINDS).map(({ kind, bytes }) => ({
    kind,
    bytes,
    length: bytes.length,
    checksum: crc32c(bytes),
  }));
  const place = container.sectionAt(SECTIONS.blocks);
  const { head, gaps } = containerHead([...own, ...(place ? [{ ...place, kind: SECTIONS.blocks }] : [])]);
  const file = await files.create("segment");
  await file.write(head);
  for (const [i, { bytes }] of own.entries()) {
    await file.write(new Uint8Array(gaps[i] as number));
    await file.write(bytes);
  }
  if (place) {
    await file.write(new Uint8Array(gaps.at(-1) as number));
    await copyBlocks(container, place.checksum, file, pause, signal);
  }
  return file.close();
}

async function copyBlocks(
  container: Container,
  expected: number,
  file: IndexFile,
  pause: Pause,
  signal?: AbortSignal,
): Promise<void> {
  const section = container.slice(SECTIONS.blocks);
  let checksum = 0;
  for (let at = 0; at < section.size; at += PIECE_BYTES) {
    await pause();
    const piece = await section.read(at, Math.min(PIECE_BYTES, section.size - at), signal);
    checksum = crc32c(piece, checksum);
    await file.write(piece);
  }
  if (checksum !== expected) throw damaged("the checksum of the texts does not fit");
}

/** Writes the sources of a file of version 1 as segments. */
async function takeOld(
  catalogue: TravelCatalogue,
  texts: TextStore,
  core: ChunkCore,
  files: NewFiles,
  folder: Folder,
  pause: Pause,
): Promise<FileEntry[]> {
  const news = new NewSegments(core, files, folder);
  try {
    await news.take(catalogue, (row) => textOfDocument({ catalogue, texts }, row), pause);
    await news.finish({ segments: [], catalogue, texts }, [], [], pause);
    return news.made.map(({ entry }) => entry);
  } finally {
    news.close();
  }
}

/** Compares documents with the texts, which no two of them share, and unpacks all texts for once. */
async function checkTexts(
  texts: TextStore,
  fileBytes: number,
  catalogue: Catalogue,
  pause: Pause,
): Promise<void> {
  const { offsets } = catalogue.textPlaces;
  const rows = [...offsets.keys()].sort((one, other) => (offsets[one] ?? 0) - (offsets[other] ?? 0));
  let end = 0;
  for (const row of rows) {
    const start = offsets[row] as number;
    if (start < end) throw damaged("documents share texts");
    end = start + (catalogue.textLengths[row] as number);
  }
  if (!rows.length) return;
  const length = await texts.lengthOf(SINGLE_SEGMENT);
  if (end > length) throw damaged("documents lie beyond the texts");
  if (length > MOST_TEXT_BASE + MOST_TEXT_RATIO * fileBytes) {
    throw damaged(`the texts say they are ${length} bytes, more than a file of ${fileBytes} can hold`);
  }
  for (let at = 0; at < length; at += PIECE_BYTES) {
    await pause();
    await texts.read(SINGLE_SEGMENT, at, Math.min(length, at + PIECE_BYTES));
  }
}

/** Compares what the engine's file says of itself with the index; the engine looks at the rest. */
function checkEngine(
  sections: ReadonlyMap<number, Uint8Array>,
  { model, settings }: Manifest,
  catalogue: Catalogue,
  editor: SourceEditor,
): void {
  const meta = sections.get(SECTIONS.meta);
  if (!meta || meta.length < 24) throw damaged("there are chunks but no vectors");
  const view = new DataView(meta.buffer, meta.byteOffset, meta.byteLength);
  const dim = view.getUint32(0, true);
  if (dim !== model.dim) throw damaged(`vectors have ${dim} dimensions, the model ${model.dim}`);
  const codeBytes = view.getUint32(12, true);
  if (codeBytes !== 0 && codeBytes !== settings.codeBytes) {
    throw damaged(`codes have ${codeBytes} bytes, not ${settings.codeBytes}`);
  }
  if (settings.keep === "all" && view.getUint8(6) !== KEPT_ALL) {
    throw damaged("the manifest says that all vectors are kept, and they are not");
  }
  const nodes = Number(view.getBigUint64(16, true));
  const rows = sections.get(codeBytes ? SECTIONS.codes : SECTIONS.vectors);
  if (!rows || rows.length < nodes) throw damaged(`there are ${nodes} vectors, and no bytes for them`);
  const ids = editor.liveIds(nodes, sections.get(SECTIONS.ids), sections.get(SECTIONS.deleted)).sort();
  if (ids.length !== catalogue.chunkCount) {
    throw damaged(`${ids.length} vectors do not belong to ${catalogue.chunkCount} chunks`);
  }
  if (ids.every((id, place) => id === catalogue.chunkIds[place])) return;
  throw damaged("vectors have other ids than the chunks");
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; get the file again`);
}
