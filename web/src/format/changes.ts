// From one catalogue to the next: sources replaced and removed, ids that only rise; and the same content in
// other parts, in other places, in 16 bytes. The core does it; here is what is asked of it.
import type { SourceEditor, SourceList, SourceLists } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import { readCatalogue, type Catalogue } from "./catalogue.ts";
import { pathOf } from "./catalogue_view.ts";
import { startDigest } from "./hashes.ts";
import { countChunks, recordsOf } from "./put.ts";
import type { PutSource } from "./put.ts";

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
export function changeCatalogue(
  editor: SourceEditor,
  catalogue: Catalogue,
  change: CatalogueChange,
): ChangedCatalogue {
  const { put = [], touch = [], merge } = change;
  const leaving = rowsThatLeave(catalogue, change);
  const stay = [...catalogue.paths.keys()].filter((row) => !leaving.has(row));
  const touches = touch.map((one) => ({ ...one, row: rowOf(catalogue, one) }));
  let nextChunkId = change.nextChunkId;
  const ids = put.map((one) => {
    const first = nextChunkId;
    nextChunkId += countChunks(one);
    return Array.from({ length: nextChunkId - first }, (_, i) => first + i);
  });
  const next = edited(editor, (lists) => {
    let list = lists.read(catalogue.bytes).touch(touches).take(stay);
    if (put.length) list = list.join(lists.make(recordsOf(put, change.nextChunkId)));
    if (merge) list = list.join(listOf(lists, merge));
    return list.take(list.order());
  });
  const last = next.chunkIds.at(-1);
  if (last !== undefined && last >= nextChunkId) {
    throw new GossamerError("Damaged", `chunk ${last} is yet to come: the next one is ${nextChunkId}`);
  }
  return { catalogue: next, nextChunkId, ids };
}

/** The catalogue of an index that holds nothing. */
export function emptyCatalogue(editor: SourceEditor): Catalogue {
  return edited(editor, (lists) => lists.make(new Uint8Array()));
}

/** A catalogue of these sources alone, in their order here. */
export function partOfCatalogue(
  editor: SourceEditor,
  catalogue: Catalogue,
  sourceRows: Iterable<number>,
): Catalogue {
  const rows = [...new Set(sourceRows)].sort((one, other) => one - other);
  return edited(editor, (lists) => lists.read(catalogue.bytes).take(rows));
}

/** A catalogue whose documents in these rows have their texts elsewhere. */
export function moveTexts(
  editor: SourceEditor,
  catalogue: Catalogue,
  documentRows: ArrayLike<number>,
  segment: number,
  offsets: ArrayLike<number>,
): Catalogue {
  const places = catalogue.textPlaces;
  const [segments, moved] = [places.segments.slice(), places.offsets.slice()];
  for (let i = 0; i < documentRows.length; ++i) {
    segments[documentRows[i]!] = segment;
    moved[documentRows[i]!] = offsets[i]!;
  }
  return edited(editor, (lists) => lists.read(catalogue.bytes).placeTexts(segments, moved));
}

/** The catalogue with other roots, in the order of the new paths: `rename` says what each is called. */
export function renameRoots(
  editor: SourceEditor,
  catalogue: Catalogue,
  rename: (root: string) => string,
): Catalogue {
  return edited(editor, (lists) => {
    const list = lists.read(catalogue.bytes).renameRoots(catalogue.words.map(rename));
    return list.take(list.order());
  });
}

/** 16 bytes for what is indexed: the same whatever changes led to it, and wherever texts are kept. */
export function catalogueDigest(editor: SourceEditor, catalogue: Catalogue): Uint8Array {
  const digest = startDigest();
  digest.update(editor.edit((lists) => lists.read(catalogue.bytes).content()));
  return digest.bytes();
}

function edited(editor: SourceEditor, make: (lists: SourceLists) => SourceList): Catalogue {
  return readCatalogue(editor, editor.edit((lists) => make(lists).pack()), true);
}

function listOf(lists: SourceLists, merge: NonNullable<CatalogueChange["merge"]>): SourceList {
  const list = lists.read(merge.catalogue.bytes);
  return merge.places ? list.placeTexts(merge.places.segments, merge.places.offsets) : list;
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

function rowOf(catalogue: Catalogue, { isFile, path }: SourceName): number {
  const row = catalogue.find(isFile, path);
  if (row !== null) return row;
  throw new GossamerError(
    "UnknownId",
    `${JSON.stringify(path)} is not in the index, so it cannot be changed there`,
  );
}
