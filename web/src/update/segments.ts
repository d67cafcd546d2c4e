// Texts on their way into a folder, and segments that are better written anew.

import type { SourceEditor } from "../core/sources.ts";
import { moveTexts } from "../format/changes.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { AWAY, VERBATIM } from "../format/catalogue.ts";
import { filesOfKind, numberOfFile, type FileEntry, type Manifest } from "../format/manifest.ts";
import { openTexts, textsWriter, type TextSegment, type TextsWriter } from "../format/texts.ts";
import type { Folder } from "../storage/storage.ts";
import type { IndexFile, NewFiles } from "./files.ts";
import { makePause } from "./pause.ts";

// When segments are written anew: beyond so many, or with so large a share of dead text.
const MANY_SEGMENTS = 8;
const FEW_SEGMENTS = 4;
const DEAD_SHARE = 0.25;

/** Texts of one change: they go to a new segment as they come. */
export interface NewTexts {
  /** Puts a text in; where it is read. */
  add(text: Uint8Array): Promise<{ segment: number; offset: number }>;
  /** Ends the segment; null if there is none. */
  finish(): Promise<FileEntry | null>;
}

/** Begins the texts of a change; the segment is made with the first one. */
export function newTexts(files: NewFiles): NewTexts {
  let file: IndexFile | null = null;
  let writer: TextsWriter | null = null;
  return {
    add: async (text) => {
      file ??= await files.create("texts");
      const { write } = file;
      writer ??= textsWriter(write);
      return { segment: file.number, offset: await writer.add(text) };
    },
    finish: async () => {
      await writer?.finish();
      return file ? file.close() : null;
    },
  };
}

/** What of the texts of a folder a catalogue uses, and the segments that it is in from now on. */
export interface SettledTexts {
  readonly catalogue: Catalogue;
  readonly entries: readonly FileEntry[];
}

/** Puts small and half-dead segments together and drops dead ones. */
export async function settleTexts(
  { folder, files, editor }: { folder: Folder; files: NewFiles; editor: SourceEditor },
  catalogue: Catalogue,
  entries: readonly FileEntry[],
  signal?: AbortSignal,
): Promise<SettledTexts> {
  const byNumber = new Map(entries.map((entry) => [numberOfFile(entry.name), entry]));
  const lengths = await lengthsOf(folder, byNumber, liveBytes(catalogue));
  const chosen = segmentsToRewrite(lengths, liveBytes(catalogue));
  let settled = catalogue;
  if (chosen.length) {
    const rewritten = await rewrite({ folder, files, editor }, catalogue, byNumber, chosen, signal);
    settled = rewritten.catalogue;
    byNumber.set(numberOfFile(rewritten.entry.name), rewritten.entry);
  }
  const live = liveBytes(settled);
  const numbers = [...byNumber.keys()].filter((number) => live.has(number)).sort((a, b) => a - b);
  return { catalogue: settled, entries: numbers.flatMap((number) => byNumber.get(number) ?? []) };
}

/** The segments of texts that a manifest names. */
export function segmentsOf(manifest: Manifest | null): FileEntry[] {
  return manifest ? filesOfKind(manifest, "texts") : [];
}

/** Which segments are better written anew, as one: those with much dead text, and the smallest ones
 * when there are too many. The rule of store/texts.py. */
function segmentsToRewrite(
  lengths: ReadonlyMap<number, number>,
  live: ReadonlyMap<number, number>,
): number[] {
  const used = [...lengths].filter(([number]) => live.has(number));
  const isDying = ([number, length]: readonly [number, number]): boolean =>
    length - (live.get(number) ?? 0) > DEAD_SHARE * length;
  const chosen = used.filter(isDying).map(([number]) => number);
  const others = used.filter((entry) => !isDying(entry)).sort(([, one], [, other]) => one - other);
  if (others.length + (chosen.length ? 1 : 0) > MANY_SEGMENTS) {
    chosen.push(...others.slice(0, others.length - FEW_SEGMENTS).map(([number]) => number));
  }
  return chosen.sort((one, other) => one - other);
}

async function lengthsOf(
  folder: Folder,
  entries: ReadonlyMap<number, FileEntry>,
  live: ReadonlyMap<number, number>,
): Promise<Map<number, number>> {
  const lengths = new Map<number, number>();
  for (const [number, entry] of entries) {
    if (!live.has(number)) continue;
    await withSegment(folder, entry.name, async ({ length }) => void lengths.set(number, length));
  }
  return lengths;
}

/** How many bytes of each segment documents use; an empty text lives too. */
function liveBytes(catalogue: Catalogue): Map<number, number> {
  const live = new Map<number, number>();
  const { textLengths } = catalogue;
  catalogue.textPlaces.segments.forEach((segment, row) => {
    if (segment === VERBATIM || segment === AWAY) return;
    live.set(segment, (live.get(segment) ?? 0) + (textLengths[row] as number));
  });
  for (const [segment, bytes] of live) live.set(segment, Math.max(1, bytes));
  return live;
}

/** Opens a segment for a while: a file that stays open cannot be removed later. */
async function withSegment(
  folder: Folder,
  name: string,
  use: (segment: TextSegment) => Promise<void>,
): Promise<void> {
  const source = await folder.open(name);
  try {
    await use(await openTexts(source, name));
  } finally {
    source.close();
  }
}

async function rewrite(
  { folder, files, editor }: { folder: Folder; files: NewFiles; editor: SourceEditor },
  catalogue: Catalogue,
  entries: ReadonlyMap<number, FileEntry>,
  chosen: readonly number[],
  signal?: AbortSignal,
): Promise<{ catalogue: Catalogue; entry: FileEntry }> {
  const { segments, offsets } = catalogue.textPlaces;
  const file = await files.create("texts");
  const writer = textsWriter(file.write);
  const pause = makePause(signal);
  const rows: number[] = [];
  const moved: number[] = [];
  for (const number of chosen) {
    const name = entries.get(number)?.name ?? "";
    const here = [...segments.keys()].filter((row) => segments[row] === number);
    here.sort((one, other) => (offsets[one] as number) - (offsets[other] as number));
    await withSegment(folder, name, async (segment) => {
      for (const row of here) {
        await pause();
        const start = offsets[row] as number;
        const text = await segment.read(start, start + (catalogue.textLengths[row] as number));
        rows.push(row);
        moved.push(await writer.add(text));
      }
    });
  }
  await writer.finish();
  return { catalogue: moveTexts(editor, catalogue, rows, file.number, moved), entry: await file.close() };
}
