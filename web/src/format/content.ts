// What a catalogue says, whatever way it came about: the same words, the same order, one digest. The twin
// of python/gossamer/store/content.py.
import type { Catalogue } from "./catalogue.ts";
import { CatalogueView } from "./catalogue_view.ts";
import { childOf, columnOf, columnsInOrder, takeRows, wideOf, withChild, withColumns } from "./columns.ts";
import type { Table } from "./columns.ts";
import { startDigest } from "./hashes.ts";
import { i64Bytes } from "./planes.ts";
import { compareTexts, encodeText } from "./text.ts";
import { AWAY, textLengths } from "./verify.ts";

/** 16 bytes for what is indexed: the same whatever changes led to it, and wherever texts are kept. */
export function catalogueDigest(catalogue: Catalogue): Uint8Array {
  const order = canonicalOrder(catalogue);
  const isOrdered = order.every((row, i) => row === i);
  const tables = isOrdered ? catalogue.tables : takeRows(catalogue.tables, order);
  const [words, sources] = canonicalWords(catalogue.words, withAwayTables(tables));
  const digest = startDigest();
  for (const word of words) {
    const encoded = encodeText(word);
    digest.update(u64Of(encoded.length));
    digest.update(encoded);
  }
  feed(digest, sources);
  return digest.bytes();
}

/** A catalogue of the same content whose texts are all away. */
export function withAwayTexts(catalogue: Catalogue): Catalogue {
  return new CatalogueView(catalogue.words, withAwayTables(catalogue.tables));
}

/** A catalogue of these sources alone, in their order here. */
export function partOfCatalogue(catalogue: Catalogue, sourceRows: Iterable<number>): Catalogue {
  const rows = [...new Set(sourceRows)].sort((one, other) => one - other);
  return new CatalogueView(...canonicalWords(catalogue.words, takeRows(catalogue.tables, rows)));
}

/** A catalogue whose documents in these rows have their texts elsewhere. */
export function moveTexts(
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
  return new CatalogueView(catalogue.words, placeTexts(catalogue.tables, segments, moved));
}

/** The words that are used, sorted, and the tables with their numbers; "" is the first. */
export function canonicalWords(words: readonly string[], sources: Table): [string[], Table] {
  const documents = childOf(sources, "documents");
  const used = new Set<number>([0]);
  for (const name of WORDS_OF_SOURCES) for (const number of columnOf(sources, name)) used.add(number);
  for (const name of WORDS_OF_DOCUMENTS) for (const number of columnOf(documents, name)) used.add(number);
  const kept = [...new Set(Array.from(used, (number) => words[number]!))].sort(compareTexts);
  const placeOf = new Map(kept.map((word, place) => [word, place]));
  const numbers = Float64Array.from(words, (word) => placeOf.get(word) ?? 0);
  return [kept, renumbered(sources, numbers)];
}

/** The tables with other numbers for words: numbers[n] in place of n. */
export function renumbered(sources: Table, numbers: ArrayLike<number>): Table {
  const change = (table: Table, names: readonly string[]) =>
    withColumns(
      table,
      Object.fromEntries(names.map((name) => [name, columnOf(table, name).map((n) => numbers[n]!)])),
    );
  const documents = change(childOf(sources, "documents"), WORDS_OF_DOCUMENTS);
  return withChild(change(sources, WORDS_OF_SOURCES), "documents", documents);
}

/** The rows of sources by path; a text whose id is a file's path comes before the file. */
export function canonicalOrder(catalogue: Catalogue): number[] {
  const { paths } = catalogue;
  const rows = Array.from(paths.keys());
  return rows.sort(
    (one, other) =>
      compareTexts(paths[one]!, paths[other]!) || +catalogue.isFile(one) - +catalogue.isFile(other),
  );
}

/** The tables with these places of texts, by document. */
export function placeTexts(sources: Table, segment: Float64Array, offset: Float64Array): Table {
  return withChild(sources, "documents", withColumns(childOf(sources, "documents"), { segment, offset }));
}

/** The tables with every text away, and its length, which is the file's if verbatim. */
export function withAwayTables(sources: Table): Table {
  const documents = childOf(sources, "documents");
  const changed = withColumns(documents, {
    length: textLengths(sources),
    segment: new Float64Array(documents.count).fill(AWAY),
    offset: new Float64Array(documents.count),
  });
  return withChild(sources, "documents", changed);
}

const WORDS_OF_SOURCES = ["root", "kind", "reason"];
const WORDS_OF_DOCUMENTS = ["kind", "unit"];
// Where a text is kept is no part of what is indexed.
const PLACES = ["segment", "offset"];

/** Feeds the rows of a table and of those they own; lengths come first, so nothing runs over. */
function feed(digest: ReturnType<typeof startDigest>, table: Table): void {
  digest.update(u64Of(table.count));
  if (table.schema.isBytes) {
    digest.update(table.content);
    return;
  }
  for (const { name, isWide } of columnsInOrder(table.schema)) {
    if (PLACES.includes(name)) continue;
    if (isWide) digest.update(new Uint8Array(wideOf(table, name).slice().buffer));
    else digest.update(i64Bytes(columnOf(table, name)));
  }
  for (const [name] of table.schema.children) feed(digest, childOf(table, name));
}

function u64Of(value: number): Uint8Array {
  return new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
}
