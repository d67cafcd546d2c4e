// An index as its parts, whatever it comes from: a single file or a folder in storage.
import { digestOf } from "../bytes/hashes.ts";
import type { ByteSource } from "../bytes/source.ts";
import type { EngineParts } from "../core/engine.ts";
import type { BlockReader, CatalogueOrigin, SegmentFile } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import type { Folder } from "../storage/storage.ts";
import { CATALOGUE_KINDS, openContainer, SECTIONS, SINGLE_KINDS } from "./container.ts";
import type { Container } from "./container.ts";
import { filesOfKind, numberOfFile, readManifest, readSingleManifest } from "./manifest.ts";
import type { FileEntry, Manifest } from "./manifest.ts";
import { openOldTexts, openTexts } from "./texts.ts";
import type { Texts } from "./texts.ts";

/** The engine's sections that an index is made of, all but the source graph, in the order of the file:
 * what lies together is read together. */
export const ENGINE_KINDS: readonly number[] = [
  SECTIONS.meta,
  SECTIONS.calibration,
  SECTIONS.codebook,
  SECTIONS.deleted,
  SECTIONS.ids,
  SECTIONS.hotNodes,
  SECTIONS.codes,
  SECTIONS.graph,
  SECTIONS.vectors,
];

/** The number of a single file's segment. */
export const SINGLE_SEGMENT = 1;

/** A stretch of stored text. */
export interface TextSpan {
  readonly segment: number;
  readonly start: number; // in the segment
  readonly end: number;
}

/** The texts of an index; segments are opened when first read. */
export interface TextStore {
  /** How many bytes of text a segment has. */
  lengthOf(segment: number): Promise<number>;
  /** Damaged if there is no such text, or if it is damaged. */
  read(segment: number, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Many at once, in the order asked for. */
  readMany(spans: readonly TextSpan[], signal?: AbortSignal): Promise<Uint8Array[]>;
}

/** An index that can be searched. */
export interface IndexParts {
  readonly manifest: Manifest;
  readonly engine: Container | null; // null while nothing is indexed
  readonly origin: CatalogueOrigin; // what the catalogue is read from
  readonly texts: TextStore;
  readonly segments: readonly OpenSegment[]; // of a folder, oldest first
  readonly words: ByteSource | null; // postings; null where texts are scanned instead
  close(): void;
}

/** Gives what says where texts lie: a module that may have to be fetched. */
export interface Readers {
  text(): Promise<BlockReader>;
}

/** Opens a single file; the source is closed with the parts, or if this fails. */
export async function partsOfFile(
  source: ByteSource,
  readers: Readers,
  signal?: AbortSignal,
): Promise<IndexParts> {
  try {
    const container = await openContainer(source, signal);
    const kinds = [SECTIONS.manifest, SECTIONS.oldCatalogue, ...SINGLE_KINDS];
    const sections = await container.sections(kinds, signal);
    const manifest = sections.get(SECTIONS.manifest);
    const old = sections.get(SECTIONS.oldCatalogue);
    if (old && sections.has(SECTIONS.strings)) {
      throw new GossamerError("Damaged", "the file has catalogues of two versions; get it again");
    }
    if (!manifest || !(old ?? sections.has(SECTIONS.strings))) {
      throw new GossamerError(
        "NotGossamer",
        "the file holds vectors or a model, but no index to search; give a file that `gossamer export` wrote",
      );
    }
    const origin = old ? { bytes: old, isOwn: false } : { file: segmentIn(container, sections) };
    const texts = async () =>
      "file" in origin
        ? openTexts(container.slice(SECTIONS.blocks), (await readers.text()).blocksOf(origin.file))
        : openOldTexts(container.slice(SECTIONS.oldTexts), await readers.text());
    return {
      manifest: readSingleManifest(manifest),
      engine: container.sectionAt(SECTIONS.meta) ? container : null,
      origin,
      texts: textStore(new Map([[SINGLE_SEGMENT, texts]])),
      segments: [],
      words: container.sectionAt(SECTIONS.words) ? container.slice(SECTIONS.words) : null,
      close: () => container.close(),
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Opens the index that a folder holds; NoIndex if it holds none. */
export async function partsOfFolder(
  folder: Folder,
  readers: Readers,
  signal?: AbortSignal,
): Promise<IndexParts> {
  const bytes = await folder.readManifest();
  if (bytes === null) {
    const message = `there is no index named ${folder.name} in this browser; add something to it`;
    throw new GossamerError("NoIndex", message);
  }
  const manifest = readManifest(bytes);
  const { open, close } = filesOf(folder);
  try {
    const [vectors] = filesOfKind(manifest, "vectors");
    const engine = vectors ? await openContainer(await open(vectors), signal) : null;
    const [old] = filesOfKind(manifest, "catalogue");
    if (old) {
      const origin = { bytes: await oldCatalogueOf(old, open, signal), isOwn: true };
      const texts = filesOfKind(manifest, "texts").map((entry) => [
        numberOfFile(entry.name),
        async () => openOldTexts(await open(entry), await readers.text()),
      ] as const);
      const store = textStore(new Map(texts));
      return { manifest, engine, origin, texts: store, segments: [], words: null, close };
    }
    const segments: OpenSegment[] = [];
    for (const entry of filesOfKind(manifest, "segment")) {
      segments.push(await openSegment(entry, await open(entry), signal));
    }
    const texts = textsOf(segments, readers);
    return { manifest, engine, origin: { files: segments }, texts, segments, words: null, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** A segment of a folder: its catalogue is at hand, its texts can be read. */
export interface OpenSegment extends SegmentFile {
  readonly entry: FileEntry;
  readonly container: Container;
}

/** Opens the file of a segment, which stays open. */
export async function openSegment(
  entry: FileEntry,
  source: ByteSource,
  signal?: AbortSignal,
): Promise<OpenSegment> {
  const container = await openContainer(source, signal);
  const sections = await container.sections(CATALOGUE_KINDS, signal);
  const { head, fileSize } = container;
  return { number: numberOfFile(entry.name), entry, head, fileSize, sections, container };
}

/** The texts of segments. */
export function textsOf(segments: readonly OpenSegment[], readers: Readers): TextStore {
  const texts = segments.map((segment) => [
    segment.number,
    async () =>
      openTexts(segment.container.slice(SECTIONS.blocks), (await readers.text()).blocksOf(segment)),
  ] as const);
  return textStore(new Map(texts));
}

/** What the engine needs of a file in memory: all of its sections but the source graph, and vectors only
 * if they are asked for. */
export async function openEngineParts(
  container: Container,
  options: { withVectors: boolean; signal?: AbortSignal },
): Promise<EngineParts> {
  const isWanted = (kind: number) => options.withVectors || kind !== SECTIONS.vectors;
  const kinds = ENGINE_KINDS.filter(isWanted);
  const sections = await container.sections(kinds, options.signal);
  return { head: container.head, fileSize: container.fileSize, sections };
}

/** The segment of a single file. */
function segmentIn(container: Container, sections: ReadonlyMap<number, Uint8Array>): SegmentFile {
  const { head, fileSize } = container;
  const own = new Map([...sections].filter(([kind]) => SINGLE_KINDS.includes(kind)));
  return { number: SINGLE_SEGMENT, head, fileSize, sections: own };
}

/** Files of a folder, all of which are closed together: one that stays open cannot be removed later. */
function filesOf(folder: Folder): { open(entry: FileEntry): Promise<ByteSource>; close(): void } {
  const opened = new Set<ByteSource>();
  let isClosed = false;
  const open = async (entry: FileEntry): Promise<ByteSource> => {
    const file = await folder.open(entry.name);
    if (isClosed) file.close(); // while it was being opened
    if (isClosed) throw new GossamerError("WrongState", "the index was closed; open it again");
    const close = () => {
      opened.delete(file);
      file.close();
    };
    opened.add(file);
    if (file.size === entry.size) return { ...file, close };
    close();
    throw new GossamerError(
      file.size < entry.size ? "Truncated" : "Damaged",
      `${entry.name} should have ${entry.size} bytes and has ${file.size}; get the index again`,
    );
  };
  const close = () => {
    isClosed = true;
    for (const file of opened) file.close();
    opened.clear();
  };
  return { open, close };
}

async function oldCatalogueOf(
  entry: FileEntry,
  open: (entry: FileEntry) => Promise<ByteSource>,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const source = await open(entry);
  const bytes = await source.read(0, source.size, signal).finally(() => source.close());
  if (digestOf(bytes) === entry.digest) return bytes;
  throw new GossamerError("Damaged", `the checksum of ${entry.name} does not fit; get the index again`);
}

function textStore(segments: ReadonlyMap<number, () => Promise<Texts>>): TextStore {
  const opened = new Map<number, Promise<Texts>>();
  const segment = (number: number) => {
    const open = segments.get(number);
    if (!open) {
      throw new GossamerError("Damaged", `there is no segment ${number} of texts; get the index again`);
    }
    const before = opened.get(number);
    if (before) return before;
    const promise = open();
    opened.set(number, promise);
    promise.catch(() => opened.delete(number)); // so that it is tried again
    return promise;
  };
  const readMany = async (spans: readonly TextSpan[], signal?: AbortSignal) => {
    const texts = new Array<Uint8Array>(spans.length);
    for (const number of new Set(spans.map((span) => span.segment))) {
      const places = [...spans.keys()].filter((i) => spans[i]?.segment === number);
      const wanted = places.map((i) => spans[i] as TextSpan).map(({ start, end }) => [start, end] as const);
      const found = await (await segment(number)).readMany(wanted, signal);
      places.forEach((place, i) => (texts[place] = found[i] as Uint8Array));
    }
    return texts;
  };
  return {
    lengthOf: async (number) => (await segment(number)).length,
    read: async (number, start, end, signal) =>
      (await (await segment(number)).readMany([[start, end]], signal))[0] as Uint8Array,
    readMany,
  };
}
