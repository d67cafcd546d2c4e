// Segments on their way: what a change adds, as files that the core makes.

import { type Core, freeOnce } from "./memory.ts";
import { openCatalogue, readList, takeMade, using, type SegmentFile } from "./sources.ts";

/** What a change adds, before it is a segment. Texts of a source go into the draft that it goes into. */
export interface SegmentDraft {
  readonly textBytes: number;
  /** Puts a text in; where it begins. */
  addText(text: Uint8Array): number;
  /** Sources as format/put.ts writes them. */
  addRecords(records: Uint8Array): void;
  /** Rows of a catalogue in one piece, with where the text of each of their documents begins here; below 0
   * for one that is away. */
  addRows(catalogue: Uint8Array, rows: ArrayLike<number>, offsets: ArrayLike<number>): void;
  /** A source of other segments again, read at another time. */
  addAgain(
    files: readonly SegmentFile[],
    row: number,
    touch: { readonly mtimeNs: bigint; readonly readerVersion: number },
    offsets: ArrayLike<number>,
  ): void;
  /** Takes sources of other segments away. */
  remove(files: readonly SegmentFile[], rows: Iterable<number>): void;
  /** The parts of its file; another draft begins. */
  finish(): Uint8Array[];
  free(): void;
}

export interface SegmentWriter {
  draft(): SegmentDraft;
  /** Which of these to write as one after a change that made the last `fresh` of them, and how many sources
   * of each are live. */
  segmentsToMerge(
    files: readonly SegmentFile[],
    fresh: number,
  ): { readonly chosen: readonly number[]; readonly live: readonly number[] };
  /** The parts of a file with what is live of the chosen ones, whose texts must be at hand. */
  mergeSegments(files: readonly SegmentFile[], chosen: readonly number[]): Uint8Array[];
}

/** Writes segments, each draft with an instance of its own that `start` gives: a call that fails elsewhere
 * must not end it. */
export function segmentWriter(start: () => Core): SegmentWriter {
  return {
    draft: () => draftOf(start()),
    segmentsToMerge: (files, fresh) => {
      const core = start();
      const catalogue = openCatalogue(core, files);
      const live = files.map((_, i) => core.call("catalogue_live", catalogue, i));
      return { chosen: Array.from(core.words(core.call("catalogue_choose", catalogue, fresh))), live };
    },
    mergeSegments: (files, chosen) => {
      const core = start();
      const catalogue = openCatalogue(core, files);
      return takeMade(core, core.call("catalogue_merge", catalogue, Uint32Array.from(chosen), chosen.length));
    },
  };
}

function draftOf(core: Core): SegmentDraft {
  let draft = core.call("draft_new");
  let textBytes = 0;
  let opened: { files: readonly SegmentFile[]; catalogue: number } | null = null; // the one asked for last
  const forget = (): void => {
    if (opened && !core.isBroken()) core.call("catalogue_free", opened.catalogue);
    opened = null;
  };
  const catalogueOf = (files: readonly SegmentFile[]): number => {
    if (opened?.files !== files) {
      forget();
      opened = { files, catalogue: openCatalogue(core, files) };
    }
    return opened.catalogue;
  };
  return {
    get textBytes() {
      return textBytes;
    },
    addText: (text) => {
      textBytes += text.length;
      return core.call("draft_text", draft, text, text.length);
    },
    addRecords: (records) => void core.call("draft_records", draft, records, records.length),
    addRows: (catalogue, rows, offsets) =>
      using(core, "sources_free", readList(core, catalogue, true), (list) => {
        const places = Float64Array.from(offsets);
        core.call("draft_rows", draft, list, Uint32Array.from(rows), rows.length, places);
      }),
    addAgain: (files, row, { mtimeNs, readerVersion }, offsets) => {
      const time = new Uint8Array(BigInt64Array.of(mtimeNs).buffer);
      const catalogue = catalogueOf(files);
      core.call("draft_again", draft, catalogue, row, time, readerVersion, Float64Array.from(offsets));
    },
    remove: (files, rows) => {
      for (const row of rows) core.call("draft_remove", draft, catalogueOf(files), row);
    },
    finish: () => {
      const parts = takeMade(core, core.call("draft_finish", draft));
      core.call("draft_free", draft);
      draft = core.call("draft_new");
      textBytes = 0;
      return parts;
    },
    free: freeOnce(() => {
      forget();
      if (!core.isBroken()) core.call("draft_free", draft);
    }),
  };
}
