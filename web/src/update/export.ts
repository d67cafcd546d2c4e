// An index as a single file, and back (docs/format.md, "The single file").

import type { ByteSource } from "../bytes/source.ts";
import type { TextCore } from "../core/text.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { AWAY, VERBATIM, writeCatalogue, type Catalogue } from "../format/catalogue.ts";
import { containerParts, openContainer, SECTIONS, type Container } from "../format/container.ts";
import { moveTexts, partOfCatalogue } from "../format/content.ts";
import { crc32c } from "../format/hashes.ts";
import { readManifest, writeManifest, writeSingleManifest, type FileEntry } from "../format/manifest.ts";
import { partsOfFile, type IndexParts } from "../format/parts.ts";
import { openTexts, packTexts } from "../format/texts.ts";
import type { OnProgress } from "../records.ts";
import type { Folder } from "../storage/storage.ts";
import { newFiles, removeUnnamed, type NewFiles } from "./files.ts";
import { countsOf } from "./manifest.ts";
import { countWords } from "./words.ts";

export interface ExportTools {
  readonly text?: Pick<TextCore, "termsOfText">; // counts words; a file without it has none
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

export interface ImportTools {
  readonly replaces?: boolean; // an index that is there; InvalidArgument without it
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

/** The segment of all texts in a single file. */
const SEGMENT = 1;
/** The engine's sections that a single file has: all but the source graph. */
const ENGINE_KINDS: readonly number[] = [1, 10, 2, 9, 8, 5, 3, 6, 4];
// What opening reads comes first, then what a search touches little of.
const ORDER: readonly number[] = [1, 10, 2, 9, 8, 32, 5, 3, 33, 6, 35, 34, 4];
const PIECE_BYTES = 1 << 20;

/** The index as one file, which a page opens and `gossamer import` takes. WrongState if texts of it
 * are not here. */
export async function exportFile(parts: IndexParts, tools: ExportTools = {}): Promise<Blob> {
  const { signal, onProgress } = tools;
  const catalogue = portable(parts.catalogue);
  const { bytes: texts, offsets } = await packTexts(textsOf(parts, catalogue, tools));
  const moved = moveTexts(catalogue, [...offsets.keys()], SEGMENT, offsets);
  const { manifest } = parts;
  const sections = new Map<number, Uint8Array>(
    parts.engine && moved.chunkCount ? await parts.engine.sections(ENGINE_KINDS, signal) : [],
  );
  const single = {
    ...manifest,
    roots: [],
    origin: {},
    counts: countsOf(moved),
    settings: { ...manifest.settings, storeText: true, walk: {} },
  };
  sections.set(SECTIONS.manifest, writeSingleManifest(single));
  sections.set(SECTIONS.catalogue, writeCatalogue(moved));
  sections.set(SECTIONS.texts, texts);
  if (tools.text) {
    onProgress?.({ phase: "words", done: 0, total: 0 });
    const counted = { catalogue, texts: parts.texts };
    sections.set(SECTIONS.words, await countWords(counted, tools.text, signal));
  }
  throwIfAborted(signal);
  onProgress?.({ phase: "writing", done: 0, total: 0 });
  const whole = containerParts(inOrder(sections, ORDER));
  return new Blob(whole, { type: "application/octet-stream" });
}

/** Puts a single file into a folder in storage, all of it or nothing: every byte is compared with its
 * checksum first. Closes the source. */
export async function importFile(
  source: ByteSource,
  folder: Folder,
  tools: ImportTools = {},
): Promise<void> {
  try {
    await folder.whileWriting(async () => {
      const old = await folder.readManifest();
      if (old && !tools.replaces) {
        throw new GossamerError(
          "InvalidArgument",
          `there is an index named ${folder.name} already; choose another name, or replace it`,
        );
      }
      await removeUnnamed(folder, old ? readManifest(old).files : []);
      const files = await newFiles(folder);
      try {
        await bringIn(source, folder, files, tools);
      } catch (error) {
        await files.abandon();
        throw error;
      }
    });
  } finally {
    source.close();
  }
}

/** The sources that are indexed; what was skipped tells of the page's own files alone. */
function portable(catalogue: Catalogue): Catalogue {
  const { segments } = catalogue.textPlaces;
  if (segments.includes(AWAY) || segments.includes(VERBATIM)) {
    throw new GossamerError(
      "WrongState",
      "texts of this index are kept elsewhere, and a file needs them; follow it with texts kept",
    );
  }
  const rows = [...catalogue.paths.keys()].filter((row) => catalogue.source(row).status === "indexed");
  return partOfCatalogue(catalogue, rows);
}

async function* textsOf(
  parts: IndexParts,
  catalogue: Catalogue,
  { signal, onProgress }: ExportTools,
): AsyncGenerator<Uint8Array> {
  const { segments, offsets } = catalogue.textPlaces;
  for (let row = 0; row < catalogue.documentCount; row += 1) {
    throwIfAborted(signal);
    const start = offsets[row] as number;
    const end = start + (catalogue.textLengths[row] as number);
    yield await parts.texts.read(segments[row] as number, start, end, signal);
    onProgress?.({ phase: "texts", done: row + 1, total: catalogue.documentCount });
  }
}

async function bringIn(
  source: ByteSource,
  folder: Folder,
  files: NewFiles,
  { signal, onProgress }: ImportTools,
): Promise<void> {
  const container = await openContainer(source, signal);
  const { manifest, catalogue } = await partsOfFile(source, signal);
  checkCatalogue(catalogue, manifest.nextChunkId);
  onProgress?.({ phase: "texts", done: 0, total: 3 });
  const texts = await copyTexts(container, files, signal);
  await checkTexts(folder, texts.entry, catalogue);
  onProgress?.({ phase: "vectors", done: 1, total: 3 });
  const named: FileEntry[] = [texts.entry];
  if (catalogue.chunkCount) {
    const sections = await container.sections(ENGINE_KINDS, signal); // which compares checksums
    checkEngine(sections.get(SECTIONS.meta), manifest.model.dim, catalogue.chunkCount);
    named.push(await files.write("vectors", containerParts(inOrder(sections, ENGINE_KINDS))));
  }
  onProgress?.({ phase: "writing", done: 2, total: 3 });
  const rows = Array.from({ length: catalogue.documentCount }, (_, row) => row);
  const moved = moveTexts(catalogue, rows, texts.number, catalogue.textPlaces.offsets);
  named.push(await files.write("catalogue", [writeCatalogue(moved)]));
  const bytes = writeManifest({ ...manifest, roots: [], origin: {}, files: named, counts: countsOf(moved) });
  readManifest(bytes); // nothing is committed that could not be read
  throwIfAborted(signal);
  await folder.writeManifest(bytes);
  await removeUnnamed(folder, named).catch(() => {}); // they go another time
  onProgress?.({ phase: "writing", done: 3, total: 3 });
}

/** Looks at what opening leaves to those who read a record. */
function checkCatalogue(catalogue: Catalogue, nextChunkId: number): void {
  if (catalogue.textPlaces.segments.some((segment) => segment !== SEGMENT)) {
    throw damaged("the catalogue names texts that are not in the file");
  }
  const first = catalogue.chunkIds[0];
  const last = catalogue.chunkIds.at(-1);
  if (first !== undefined && last !== undefined && (first < 1 || last >= nextChunkId)) {
    throw damaged("the catalogue has chunks that are yet to come");
  }
  for (let row = 0; row < catalogue.sourceCount; row += 1) catalogue.source(row);
  for (let row = 0; row < catalogue.documentCount; row += 1) catalogue.document(row);
}

async function copyTexts(
  container: Container,
  files: NewFiles,
  signal?: AbortSignal,
): Promise<{ entry: FileEntry; number: number }> {
  const place = container.sectionAt(SECTIONS.texts);
  if (!place) throw damaged("the file has no texts");
  const section = container.slice(SECTIONS.texts);
  const file = await files.create("texts");
  let checksum = 0;
  for (let at = 0; at < section.size; at += PIECE_BYTES) {
    throwIfAborted(signal);
    const piece = await section.read(at, Math.min(PIECE_BYTES, section.size - at), signal);
    checksum = crc32c(piece, checksum);
    await file.write(piece);
  }
  if (checksum !== place.checksum) throw damaged("the checksum of the texts does not fit");
  return { entry: await file.close(), number: file.number };
}

/** Compares documents with the texts, all of which are unpacked for once. */
async function checkTexts(folder: Folder, entry: FileEntry, catalogue: Catalogue): Promise<void> {
  const segment = await openTexts(await folder.open(entry.name), entry.name);
  try {
    catalogue.textPlaces.offsets.forEach((offset, row) => {
      if (offset + (catalogue.textLengths[row] as number) <= segment.length) return;
      throw damaged("documents lie beyond the texts");
    });
    for (let at = 0; at < segment.length; at += PIECE_BYTES) {
      await segment.read(at, Math.min(segment.length, at + PIECE_BYTES));
    }
  } finally {
    segment.close();
  }
}

/** Compares what the engine's file says of itself with the index; the engine looks at the rest. */
function checkEngine(meta: Uint8Array | undefined, dim: number, chunks: number): void {
  if (!meta || meta.length < 24) throw damaged("there are chunks but no vectors");
  const view = new DataView(meta.buffer, meta.byteOffset, meta.byteLength);
  const found = view.getUint32(0, true);
  if (found !== dim) throw damaged(`vectors have ${found} dimensions, the model ${dim}`);
  const nodes = Number(view.getBigUint64(16, true));
  if (nodes < chunks) throw damaged(`${nodes} vectors do not belong to ${chunks} chunks`);
}

function inOrder(
  sections: ReadonlyMap<number, Uint8Array>,
  kinds: readonly number[],
): { kind: number; bytes: Uint8Array }[] {
  return kinds.flatMap((kind) => {
    const bytes = sections.get(kind);
    return bytes ? [{ kind, bytes }] : [];
  });
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; get the file again`);
}
