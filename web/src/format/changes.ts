// From one catalogue to the next: sources replaced and removed, ids that only rise. The twin of
// python/gossamer/store/changes.py.
import { GossamerError } from "../errors.ts";
import type { Catalogue } from "./catalogue.ts";
import { SOURCES } from "./catalogue.ts";
import { CatalogueView, pathOf } from "./catalogue_view.ts";
import { columnOf, joinTables, takeRows, wideOf, withColumns } from "./columns.ts";
import type { Table } from "./columns.ts";
import { canonicalOrder, canonicalWords, placeTexts, renumbered, withAwayTables } from "./content.ts";
import { addSource, newDraft, tableOf } from "./put.ts";
import type { PutSource } from "./put.ts";
import { verifyTables } from "./verify.ts";

export type { ChunkedDocument, PutSource } from "./put.ts";

/** A source by its name: its path just as it is kept, or the id of a text. */
export interface SourceName {
  readonly isFile: boolean;
  readonly path: string;
}

/** What is to be different in the next catalogue. */
export interface CatalogueChange {
  readonly nextChunkId: number;
  readonly put?: readonly PutSource[];
  readonly remove?: readonly SourceName[]; // UnknownId if one is not there
  readonly touch?: readonly (SourceName & { mtimeNs: bigint; readerVersion: number })[];
  /** Sources of another catalogue, which keep the ids of their chunks: these must be below nextChunkId and
   * free by then. `places` are segment and offset of the texts by row of its documents. */
  readonly merge?: {
    readonly catalogue: Catalogue;
    readonly places?: { readonly segments: ArrayLike<number>; readonly offsets: ArrayLike<number> };
  };
}

export interface ChangedCatalogue {
  readonly catalogue: Catalogue;
  readonly nextChunkId: number;
  readonly ids: readonly number[][]; // of the chunks of each source that was put in
}

/** The next catalogue; the old one is as it was. */
export function changeCatalogue(catalogue: Catalogue, change: CatalogueChange): ChangedCatalogue {
  const leaving = rowsThatLeave(catalogue, change);
  const words = new Map(catalogue.words.map((word, number) => [word, number]));
  const numberOf = (word: string) => {
    const number = words.get(word) ?? words.size;
    words.set(word, number);
    return number;
  };
  const stay = [...catalogue.paths.keys()].filter((row) => !leaving.has(row));
  const tables: [Table, ...Table[]] = [takeRows(touched(catalogue, change.touch ?? []), stay)];
  const draft = newDraft(SOURCES);
  let nextChunkId = change.nextChunkId;
  const ids = (change.put ?? []).map((put) => {
    const first = nextChunkId;
    nextChunkId = addSource(draft, put, first, numberOf);
    return Array.from({ length: nextChunkId - first }, (_, i) => first + i);
  });
  tables.push(tableOf(draft));
  if (change.merge) tables.push(mergedTables(change.merge, numberOf));
  const next = finish([...words.keys()], joinTables(tables));
  const last = next.chunkIds.at(-1);
  if (last !== undefined && last >= nextChunkId) {
    throw new GossamerError("Damaged", `chunk ${last} is yet to come: the next one is ${nextChunkId}`);
  }
  return { catalogue: next, nextChunkId, ids };
}

function finish(words: readonly string[], joined: Table): Catalogue {
  const [kept, tables] = canonicalWords(words, joined);
  const unsorted = new CatalogueView(kept, tables);
  const sorted = takeRows(tables, canonicalOrder(unsorted));
  verifyTables(sorted, kept.length);
  return new CatalogueView(kept, sorted);
}

/** The rows of old sources that are removed or replaced; DuplicateId for a source given twice. */
function rowsThatLeave(catalogue: Catalogue, change: CatalogueChange): Set<number> {
  const merged = change.merge?.catalogue;
  const names: SourceName[] = [
    ...(change.put ?? []).map(({ source }) => ({
      isFile: source.root !== "",
      path: pathOf(source.root, source.name),
    })),
    ...(merged?.paths ?? []).map((path, row) => ({ isFile: merged?.isFile(row) === true, path })),
  ];
  const leaving = new Set<number>();
  const isNew = new Set<string>();
  for (const { isFile, path } of names) {
    const key = `${isFile ? "f" : "t"}${path}`;
    if (isNew.has(key)) {
      const quoted = JSON.stringify(path);
      throw new GossamerError("DuplicateId", `${quoted} was given twice in one step; give it once`);
    }
    isNew.add(key);
    const row = catalogue.find(isFile, path);
    if (row !== null) leaving.add(row);
  }
  for (const name of change.remove ?? []) leaving.add(rowOf(catalogue, name));
  return leaving;
}

function touched(catalogue: Catalogue, touches: NonNullable<CatalogueChange["touch"]>): Table {
  const { tables } = catalogue;
  if (touches.length === 0) return tables;
  const times = wideOf(tables, "mtime_ns").slice();
  const versions = columnOf(tables, "reader_version").slice();
  for (const touch of touches) {
    const row = rowOf(catalogue, touch);
    times[row] = touch.mtimeNs;
    versions[row] = touch.readerVersion;
  }
  const changed = withColumns(tables, { reader_version: versions });
  return { ...changed, wide: new Map([...changed.wide, ["mtime_ns", times]]) };
}

function rowOf(catalogue: Catalogue, { isFile, path }: SourceName): number {
  const row = catalogue.find(isFile, path);
  if (row !== null) return row;
  throw new GossamerError(
    "UnknownId",
    `${JSON.stringify(path)} is not in the index, so it cannot be changed there`,
  );
}

function mergedTables(
  { catalogue, places }: NonNullable<CatalogueChange["merge"]>,
  numberOf: (word: string) => number,
): Table {
  const numbers = catalogue.words.map(numberOf);
  if (!places) return renumbered(catalogue.tables, numbers);
  const [segments, offsets] = [Float64Array.from(places.segments), Float64Array.from(places.offsets)];
  if (segments.length !== catalogue.documentCount || offsets.length !== catalogue.documentCount) {
    throw new GossamerError(
      "InvalidArgument",
      `places are a segment and an offset for each of ${catalogue.documentCount} documents, ` +
        `got ${segments.length} and ${offsets.length}`,
    );
  }
  return renumbered(placeTexts(withAwayTables(catalogue.tables), segments, offsets), numbers);
}
