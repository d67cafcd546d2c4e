// What a change writes: segments, a part of it at a time, and those that are better written as one.

import type { ChunkCore } from "../core/chunks.ts";
import type { SegmentDraft } from "../core/segments.ts";
import { GossamerError, type Reason } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import type { TravelCatalogue } from "../format/changes.ts";
import { CATALOGUE_KINDS, SECTIONS } from "../format/container.ts";
import type { FileEntry } from "../format/manifest.ts";
import { joinSegments, textOfDocument } from "../format/edit.ts";
import { openSegment, type OpenSegment, type TextStore } from "../format/parts.ts";
import { checkPut, keyOfName, nameOf, recordsOf, type PutSource, type SourceName } from "../format/put.ts";
import type { Folder } from "../storage/storage.ts";
import type { NewFiles } from "./files.ts";
import type { Pause } from "./pause.ts";

// A draft that is so large becomes a segment before the commit: its memory is bounded.
const MOST_DRAFT_BYTES = 1 << 25;
// What is merged is in memory as a whole; larger segments stay as they are.
const MOST_MERGED_BYTES = 1 << 27;
// Why a merge, which can wait, may fail.
const PASSING: readonly Reason[] = ["Damaged", "Truncated", "TooLarge"];

/** A source of the old state whose time is another one; its content is the same. */
export interface Touch {
  readonly row: number;
  readonly mtimeNs: bigint;
  readonly readerVersion: number;
}

/** The state that a change begins with. */
export interface OldState {
  readonly segments: readonly OpenSegment[];
  readonly catalogue: Catalogue;
  readonly texts: TextStore;
}

interface Waiting {
  readonly name: SourceName;
  readonly put: PutSource;
  readonly first: number; // id of its chunks
}

/** Sources on their way into a folder. Nothing counts before a manifest names it. */
export class NewSegments {
  /** Written so far. */
  readonly made: OpenSegment[] = [];
  private readonly draft: SegmentDraft;
  private readonly waiting = new Map<string, Waiting>();
  private readonly written = new Map<string, OpenSegment>(); // by the names of their sources
  private readonly passed: { readonly segment: OpenSegment; readonly name: SourceName }[] = [];
  private isEmpty = true;

  constructor(
    private readonly core: ChunkCore,
    private readonly files: NewFiles,
    private readonly folder: Folder,
  ) {
    this.draft = core.draft();
  }

  /** Puts a text of the next source in; where it begins. */
  addText(text: Uint8Array): number {
    this.isEmpty = false;
    return this.draft.addText(text);
  }

  /** Puts a source in, with ids for its chunks from `first` on. It takes the place of one of the same name
   * that was put in before; the old state's is for whoever calls to take out. */
  put(put: PutSource, first: number): void {
    checkPut(put);
    const name = nameOf(put.source);
    const key = keyOfName(name);
    const before = this.written.get(key);
    if (before) this.passed.push({ segment: before, name });
    this.written.delete(key);
    this.waiting.set(key, { name, put, first });
    this.isEmpty = false;
  }

  /** Puts all sources of a catalogue in one piece in, with the text of each document by its row; null for
   * one that is away. */
  async take(
    catalogue: TravelCatalogue,
    textOf: (row: number) => Promise<Uint8Array | null>,
    pause: Pause,
  ): Promise<void> {
    let [rows, offsets]: [number[], number[]] = [[], []];
    const put = (): void => {
      this.isEmpty &&= rows.length === 0;
      this.draft.addRows(catalogue.origin.bytes, rows, offsets);
      [rows, offsets] = [[], []];
    };
    for (let row = 0; row < catalogue.sourceCount; row += 1) {
      await pause();
      for (const offset of await this.addTexts(catalogue, row, textOf)) offsets.push(offset);
      rows.push(row);
      if (this.isLarge) put();
      await this.writeLarge();
    }
    put();
  }

  /** Writes what there is as a segment if it is large. */
  async writeLarge(): Promise<void> {
    if (this.isLarge) await this.write();
  }

  /** Takes sources of the old state out, by row, and puts others in again; writes what is left. */
  async finish(
    old: OldState,
    gone: readonly number[],
    touched: readonly Touch[],
    pause: Pause,
  ): Promise<void> {
    for (const { row, ...touch } of touched) {
      await pause();
      const offsets = await this.addTexts(old.catalogue, row, (one) => textOfDocument(old, one));
      this.draft.addAgain(old.segments, row, touch, offsets);
      await this.writeLarge();
    }
    this.draft.remove(old.segments, [...gone, ...touched.map(({ row }) => row)]);
    for (const segment of new Set(this.passed.map((one) => one.segment))) {
      const { catalogue } = joinSegments(this.core, [segment]);
      const names = this.passed.filter((one) => one.segment === segment).map(({ name }) => name);
      const rows = names.map(({ isFile, path }) => catalogue.find(isFile, path));
      this.draft.remove([segment], rows.filter((row) => row !== null));
    }
    this.isEmpty &&= gone.length + touched.length + this.passed.length === 0;
    if (!this.isEmpty) await this.write();
  }

  /** Lets go of what is open; it can be called twice. */
  close(): void {
    this.draft.free();
    for (const { container } of this.made) container.close();
  }

  private get isLarge(): boolean {
    return this.draft.textBytes >= MOST_DRAFT_BYTES;
  }

  /** Puts the texts of a source's documents in; where each begins, below 0 for one that is away. */
  private async addTexts(
    catalogue: Catalogue,
    row: number,
    textOf: (document: number) => Promise<Uint8Array | null>,
  ): Promise<number[]> {
    const { first, count } = catalogue.documentsOf(row);
    const begins: number[] = [];
    for (let document = first; document < first + count; document += 1) {
      const text = await textOf(document);
      begins.push(text ? this.addText(text) : -1);
    }
    return begins;
  }

  private async write(): Promise<void> {
    this.draft.addRecords(recordsOf(this.waiting.values()));
    const entry = await this.files.write("segment", this.draft.finish());
    const source = await this.folder.open(entry.name);
    const segment = await openSegment(entry, source).catch((error: unknown) => {
      source.close();
      throw error;
    });
    this.made.push(segment);
    for (const key of this.waiting.keys()) this.written.set(key, segment);
    this.waiting.clear();
    this.isEmpty = true;
  }
}

/** The files of segments, of which the last `fresh` are new: small and half-dead ones are put together. */
export async function settleSegments(
  core: ChunkCore,
  files: NewFiles,
  segments: readonly OpenSegment[],
  fresh: number,
  signal?: AbortSignal,
): Promise<FileEntry[]> {
  const entries = segments.map(({ entry }) => entry);
  const { chosen: wanted, live } = core.segmentsToMerge(segments, fresh);
  // Of one that is dead nothing is read but what it takes away.
  const bytesOf = (number: number): number => (live[number] ? (segments[number]?.fileSize ?? 0) : 0);
  const chosen = fittingOf(wanted, bytesOf);
  if (!chosen.length) return entries;
  try {
    const whole = [...segments];
    for (const number of chosen.filter((one) => bytesOf(one) > 0)) {
      const segment = segments[number] as OpenSegment;
      const sections = await segment.container.sections([...CATALOGUE_KINDS, SECTIONS.blocks], signal);
      whole[number] = { ...segment, sections };
    }
    const merged = await files.write("segment", core.mergeSegments(whole, chosen));
    return [...entries.filter((_, number) => !chosen.includes(number)), merged];
  } catch (error) {
    // What is damaged, or too much, is no reason to refuse what is new.
    const isPassing = error instanceof GossamerError && PASSING.includes(error.reason);
    if (isPassing) return entries;
    throw error;
  }
}

/** Those of the chosen ones, smallest first, that are not too large together. */
function fittingOf(chosen: readonly number[], bytesOf: (number: number) => number): number[] {
  let bytes = 0;
  const fitting = [...chosen]
    .sort((one, other) => bytesOf(one) - bytesOf(other))
    .filter((number) => (bytes += bytesOf(number)) <= MOST_MERGED_BYTES)
    .sort((one, other) => one - other);
  const hasDead = fitting.some((number) => bytesOf(number) === 0);
  return fitting.length > 1 || fitting.length === chosen.length || hasDead ? fitting : [];
}
