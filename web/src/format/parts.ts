// An index as its parts, whatever it comes from: a single file or a folder in storage.
import type { ByteSource } from "../bytes/source.ts";
import type { EngineParts } from "../core/engine.ts";
import { GossamerError } from "../errors.ts";
import type { Folder } from "../storage/storage.ts";
import type { SourceReader } from "../core/sources.ts";
import type { WordReader } from "../core/words.ts";
import { readCatalogue } from "./catalogue.ts";
import type { Catalogue } from "./catalogue.ts";
import { openContainer, SECTIONS } from "./container.ts";
import type { Container } from "./container.ts";
import { digestOf } from "./hashes.ts";
import { filesOfKind, numberOfFile, readManifest, readSingleManifest } from "./manifest.ts";
import type { FileEntry, Manifest } from "./manifest.ts";
import { openTexts } from "./texts.ts";
import type { TextSegment } from "./texts.ts";
import { openWords } from "./words.ts";
import type { Words } from "./words.ts";

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

/** A stretch of stored text. */
export interface TextSpan {
  readonly segment: number;
  readonly start: number; // in the segment
  readonly end: number;
}

/** The texts of an index; segments are opened when first read. */
export interface TextStore {
  readonly segments: readonly number[];
  /** Damaged if there is no such text, or if it is damaged. */
  read(segment: number, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Many at once, in the order asked for. */
  readMany(spans: readonly TextSpan[], signal?: AbortSignal): Promise<Uint8Array[]>;
}

/** An index that can be searched. */
export interface IndexParts {
  readonly manifest: Manifest;
  readonly engine: Container | null; // null while nothing is indexed
  readonly catalogue: Catalogue;
  readonly texts: TextStore;
  readonly words: Words | null; // null where texts are scanned instead
  close(): void;
}

/** Gives what reads catalogues and words: a module that may have to be fetched. */
export type LoadReader = () => Promise<SourceReader & WordReader>;

/** Opens a single file; the source is closed with the parts, or if this fails. */
export async function partsOfFile(
  source: ByteSource,
  reader: LoadReader,
  signal?: AbortSignal,
): Promise<IndexParts> {
  try {
    const container = await openContainer(source, signal);
    const [sections, core] = await Promise.all([
      container.sections([SECTIONS.manifest, SECTIONS.catalogue], signal),
      reader(),
    ]);
    const manifest = sections.get(SECTIONS.manifest);
    const catalogueBytes = sections.get(SECTIONS.catalogue);
    if (!manifest || !catalogueBytes) {
      throw new GossamerError(
        "NotGossamer",
        "the file holds vectors or a model, but no index to search; give a file that `gossamer export` wrote",
      );
    }
    const catalogue = readCatalogue(core, catalogueBytes);
    const hasWords = container.sectionAt(SECTIONS.words) !== null;
    const words = hasWords ? lazyWords(container, core, catalogue.chunkCount) : null;
    return {
      manifest: readSingleManifest(manifest),
      engine: container.sectionAt(SECTIONS.meta) ? container : null,
      catalogue,
      texts: textStore(textsOfFile(container)),
      words,
      close: () => {
        words?.close();
        container.close();
      },
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Opens the index that a folder holds; NoIndex if it holds none. */
export async function partsOfFolder(
  folder: Folder,
  reader: () => Promise<SourceReader>,
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
    const catalogue = await catalogueOf(manifest, open, reader, signal);
    const segments = filesOfKind(manifest, "texts").map((entry): [number, () => Promise<TextSegment>] => [
      numberOfFile(entry.name),
      () => openSegment(entry, open),
    ]);
    return { manifest, engine, catalogue, texts: textStore(new Map(segments)), words: null, close };
  } catch (error) {
    close();
    throw error;
  }
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

const SINGLE_SEGMENT = 1;

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

async function openSegment(
  entry: FileEntry,
  open: (entry: FileEntry) => Promise<ByteSource>,
): Promise<TextSegment> {
  const source = await open(entry);
  try {
    return await openTexts(source, entry.name);
  } catch (error) {
    source.close();
    throw error;
  }
}

async function catalogueOf(
  manifest: Manifest,
  open: (entry: FileEntry) => Promise<ByteSource>,
  reader: () => Promise<SourceReader>,
  signal?: AbortSignal,
): Promise<Catalogue> {
  const entry = filesOfKind(manifest, "catalogue")[0] as FileEntry;
  const source = await open(entry);
  const bytes = await source.read(0, source.size, signal).finally(() => source.close());
  if (digestOf(bytes) === entry.digest) return readCatalogue(await reader(), bytes, true);
  throw new GossamerError("Damaged", `the checksum of ${entry.name} does not fit; get the index again`);
}

function textsOfFile(container: Container): Map<number, () => Promise<TextSegment>> {
  if (!container.sectionAt(SECTIONS.texts)) return new Map();
  return new Map([[SINGLE_SEGMENT, () => openTexts(container.slice(SECTIONS.texts))]]);
}

function textStore(segments: ReadonlyMap<number, () => Promise<TextSegment>>): TextStore {
  const opened = new Map<number, Promise<TextSegment>>();
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
    segments: [...segments.keys()],
    read: async (number, start, end, signal) => (await segment(number)).read(start, end, signal),
    readMany,
  };
}

/** Words that are opened when first asked for: a search without words needs none of their bytes. */
function lazyWords(container: Container, reader: WordReader, chunks: number): Words {
  let opened: Promise<Words> | null = null;
  const open = async () => {
    const words = await openWords(container.slice(SECTIONS.words), reader);
    if (words.chunks === chunks) return words;
    words.close();
    throw new GossamerError(
      "Damaged",
      `the words are of ${words.chunks} chunks and the catalogue of ${chunks}; get the file again`,
    );
  };
  return {
    chunks,
    close: () => void opened?.then((words) => words.close()).catch(() => undefined),
    find: async (terms, signal) => {
      opened ??= open();
      opened.catch(() => (opened = null)); // so that it is tried again
      return (await opened).find(terms, signal);
    },
  };
}
