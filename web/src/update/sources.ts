// The sources of an index while they change: what is there, what comes, what goes.

import type { Catalogue, SourceRecord } from "../format/catalogue.ts";
import { pathOf } from "../format/catalogue_view.ts";
import { keyOfName, nameOf, type PutSource, type SourceName } from "../format/put.ts";
import { LOOSE_FILES } from "./inputs.ts";
import type { Touch } from "./segments.ts";

// A check has 32 bits: among more chunks than these two different ones may well share it.
const MOST_TOLD_APART = 10_000;
/** No version of the readers: what has it is read again whenever it is come across. Python notes it of
 * files that it read right after they were written; content is compared here anyway. */
export const READ_AGAIN = 0;

type Outcome = "added" | "replaced" | "unchanged" | "leftOut";

/** A source that came with this change. */
interface Fresh {
  readonly source: SourceRecord;
  readonly ids: readonly number[];
  readonly checks: readonly number[];
}

/** What became of a source that was put in. */
export interface PutResult {
  readonly ids: readonly number[]; // of its chunks, document by document
  readonly known: ReadonlyMap<number, number>; // chunks of the same source until now: id by check
}

/** Sources replaced and removed; ids only rise, and no id is given twice. */
export class Sources {
  nextChunkId: number;
  private readonly fresh = new Map<string, Fresh>();
  private readonly removed = new Map<number, SourceName>(); // by row of the old catalogue
  private readonly touched = new Map<number, SourceRecord>();
  private readonly outcomes = new Map<string, Outcome>();
  private readonly leaving: number[] = [];

  /** `store` takes what is put in, with ids for its chunks from a first one on. */
  constructor(
    private readonly old: Catalogue,
    nextChunkId: number,
    private readonly store: (put: PutSource, first: number) => void,
  ) {
    this.nextChunkId = nextChunkId;
  }

  /** Whether nothing is different from the old catalogue. */
  get isUnchanged(): boolean {
    return !(this.fresh.size || this.removed.size || this.touched.size);
  }

  /** Takes out the text of this id, or the file, or all files below this folder; names of nothing
   * are passed over. A file that came without a folder is known by its name alone, too. */
  remove(name: string): void {
    const text = this.old.find(false, name);
    if (text !== null) return this.removeRow(text);
    const below = `${name.replace(/\/+$/, "")}/`;
    const loose = pathOf(LOOSE_FILES, name);
    this.old.paths.forEach((path, row) => {
      const isMeant = path === name || path === loose || path.startsWith(below);
      if (isMeant && this.old.isFile(row)) this.removeRow(row);
    });
  }

  /** Whether the index has this source just as it is given. */
  isSame(source: SourceRecord): boolean {
    const known = this.knownOf(source);
    return (
      known !== null &&
      known.status === "indexed" &&
      known.contentHash === source.contentHash &&
      [source.readerVersion, READ_AGAIN].includes(known.readerVersion)
    );
  }

  /** Keeps a source that is the same; another time of a file is noted. */
  keep(source: SourceRecord): void {
    const row = this.rowOf(source);
    const key = keyOf(source);
    if (!this.outcomes.has(key)) this.outcomes.set(key, "unchanged");
    if (row === null || !source.root || this.fresh.has(key)) return;
    if (this.old.source(row).mtimeNs !== source.mtimeNs) this.touched.set(row, source);
  }

  /** Puts a source in, in place of the one of the same path or id. */
  put(put: PutSource): PutResult {
    const key = keyOf(put.source);
    const row = this.rowOf(put.source);
    const before = this.fresh.get(key);
    const known = before
      ? new Map(before.checks.map((check, place) => [check, before.ids[place] as number]))
      : this.knownChunks(row);
    if (before) this.leaveIds(before.ids);
    else if (row !== null) this.leave(row);
    this.store(put, this.nextChunkId);
    const checks = put.documents.flatMap((document) => Array.from(document.checks));
    const ids = checks.map((_, place) => this.nextChunkId + place);
    this.nextChunkId += ids.length;
    this.fresh.set(key, { source: put.source, ids, checks });
    this.noteOutcome(key, row !== null && this.old.source(row).status === "indexed");
    return { ids, known: known.size > MOST_TOLD_APART ? new Map() : known };
  }

  /** Notes a source that is left out, and why, in place of what is indexed of it. */
  leaveOut(source: SourceRecord): void {
    const known = this.knownOf(source);
    const isKnown = known?.status === source.status && known.reason === source.reason;
    if (!isKnown || known.contentHash !== source.contentHash) this.put({ source, documents: [] });
    this.outcomes.set(keyOf(source), "leftOut");
  }

  /** The chunks of all that was replaced or removed. */
  leavingIds(): number[] {
    return [...new Set([...this.leaving, ...[...this.removed.keys()].flatMap((row) => this.chunksOf(row))])];
  }

  /** Rows of the old catalogue that are replaced or removed. */
  goneRows(): number[] {
    const replaced = [...this.fresh.values()].map(({ source }) => this.rowOf(source));
    return [...new Set([...this.removed.keys(), ...replaced.filter((row) => row !== null)])];
  }

  /** What has another time now. */
  touches(): Touch[] {
    return [...this.touched]
      .filter(([row]) => !this.removed.has(row))
      .map(([row, { mtimeNs, readerVersion }]) => ({ row, mtimeNs, readerVersion }));
  }

  counts(): { added: number; replaced: number; unchanged: number; removed: number } {
    const outcomes = [...this.outcomes.values()];
    const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length;
    const removed = [...this.removed.values()].filter((name) => !this.outcomes.has(keyOfName(name)));
    return {
      added: count("added"),
      replaced: count("replaced"),
      unchanged: count("unchanged"),
      removed: removed.length,
    };
  }

  private noteOutcome(key: string, isKnown: boolean): void {
    const before = this.outcomes.get(key);
    if (before === undefined || before === "unchanged" || before === "leftOut") {
      this.outcomes.set(key, isKnown ? "replaced" : "added");
    }
  }

  private removeRow(row: number): void {
    this.removed.set(row, { isFile: this.old.isFile(row), path: this.old.paths[row] ?? "" });
  }

  private leave(row: number): void {
    this.touched.delete(row);
    if (!this.removed.has(row)) this.leaveIds(this.chunksOf(row));
  }

  private leaveIds(ids: readonly number[]): void {
    for (const id of ids) this.leaving.push(id);
  }

  private chunksOf(row: number): number[] {
    return this.old.chunksOf(row);
  }

  private knownChunks(row: number | null): Map<number, number> {
    const ids = row === null ? [] : this.chunksOf(row);
    const checks = this.old.checks(ids);
    return new Map(ids.map((id, place) => [checks[place] as number, id]));
  }

  /** The source as it is now; null if there is none of its name. */
  private knownOf(source: SourceRecord): SourceRecord | null {
    const fresh = this.fresh.get(keyOf(source));
    if (fresh) return fresh.source;
    const row = this.rowOf(source);
    return row === null || this.removed.has(row) ? null : this.old.source(row);
  }

  private rowOf(source: SourceRecord): number | null {
    const { isFile, path } = nameOf(source);
    return this.old.find(isFile, path);
  }
}

function keyOf(source: SourceRecord): string {
  return keyOfName(nameOf(source));
}
