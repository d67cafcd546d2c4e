// From one catalogue to the next: sources replaced and removed, ids that only rise. The twin of
// python/gossamer/store/changes.py.
import { GossamerError } from "../errors.ts";
import type { ChunkSpan, Span } from "../records.ts";
import type { Catalogue, DocumentRecord, SourceRecord } from "./catalogue.ts";
import { SOURCES } from "./catalogue.ts";
import { CatalogueView, STATUSES, pathOf } from "./catalogue_view.ts";
import { joinTables, takeRows } from "./columns.ts";
import type { Schema, Table } from "./columns.ts";
import { canonicalOrder, canonicalWords, placeTexts, renumbered, withAwayTables } from "./content.ts";
import { byteWriter } from "./varint.ts";
import { compareTexts, encodeText } from "./text.ts";
import { MOST_HEADINGS, VERBATIM, verifyTables } from "./verify.ts";

/** A document to put into the catalogue: its chunks, and checkOf each embedded text. */
export interface ChunkedDocument {
  readonly record: DocumentRecord;
  readonly spans: readonly ChunkSpan[];
  readonly checks: ArrayLike<number>;
}

/** A source to put in, in place of the one of the same path or id. Documents without chunks are left out:
 * nothing of them can be found. */
export interface PutSource {
  readonly source: SourceRecord;
  readonly documents: readonly ChunkedDocument[];
}

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
export declare function changeCatalogue(catalogue: Catalogue, change: CatalogueChange): ChangedCatalogue;
