import assert from "node:assert/strict";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import type { SegmentDraft } from "../src/core/segments.ts";
import type { Catalogue, SourceRecord } from "../src/format/catalogue.ts";
import { catalogueDigest } from "../src/format/changes.ts";
import { writeContainer } from "../src/format/container.ts";
import { joinSegments } from "../src/format/edit.ts";
import type { OpenSegment } from "../src/format/parts.ts";
import { checkPut, recordsOf, type ChunkedDocument, type PutSource } from "../src/format/put.ts";
import { checkOf, hashOfBytes, hexOf } from "../src/bytes/hashes.ts";
import { loadEngine } from "../src/core/load.ts";
import { joinBytes } from "../src/bytes/join.ts";
import { CHUNKS, readCatalogue, segmentIn } from "./cores.ts";
import { builtWasm } from "./wasm_files.ts";
import { dataFile, expected, readDamaged, readHostile } from "./format_parts.ts";
import type { ExpectedCatalogue } from "./format_parts.ts";

for (const name of ["empty", "varied", "changed"]) {
  test(`the catalogue "${name}" says what Python reads in it`, () => {
    const catalogue = readCatalogue(dataFile(`${name}.gsc`));

    assert.deepEqual(contentOf(catalogue), expected.catalogues[name]);
  });

  test(`the catalogue "${name}" comes back from the bytes that are written of it`, () => {
    const again = readCatalogue(rewritten(`${name}.gsc`));

    assert.deepEqual(contentOf(again), expected.catalogues[name]);
  });
}

test("a catalogue of many sources with gaps between their ids reads and is written", () => {
  const catalogue = readCatalogue(rewritten("many.gsc"));

  const [sum, count] = expected.catalogues["many"]!.ids;
  assert.equal(catalogue.chunkIds.reduce((total, id) => total + id, 0), sum);
  assert.equal(catalogue.chunkCount, count);
  assert.equal(hexOf(catalogueDigest(CHUNKS, catalogue)), expected.catalogues["many"]!.digest);
});

test("the same change leads to the same content as in Python", async () => {
  const old = await segmentOf((draft) => addAll(draft, "varied.gsc"));
  const before = joinSegments(CHUNKS, [old]).catalogue;
  const wanted = readCatalogue(dataFile("changed.gsc"));
  const put = [putFrom(wanted, false, "été0"), putFrom(wanted, true, "/new/\ue000.md")];
  const touched = before.find(false, "same")!;
  const replaced = ["été0"].map((path) => before.find(false, path)!);

  const next = await segmentOf((draft) => {
    draft.addRecords(recordsOf(put));
    const offsets = new Float64Array(before.documentsOf(touched).count);
    draft.addAgain([old], touched, { mtimeNs: -(2n ** 61n), readerVersion: 12 }, offsets);
    draft.remove([old], [touched, before.find(true, "/same")!, ...replaced]);
  }, 2);

  const { catalogue } = joinSegments(CHUNKS, [old, next]);
  assert.equal(hexOf(catalogueDigest(CHUNKS, catalogue)), expected.catalogues["changed"]!.digest);
  assert.deepEqual([...catalogue.chunkIds], expected.catalogues["changed"]!.ids);
});

test("content is the same in however many segments it is, and merged again", async () => {
  const whole = readCatalogue(dataFile("varied.gsc"));
  const rows = [...whole.paths.keys()];
  const parts: OpenSegment[] = [];
  for (const [rest, number] of [[0, 7], [1, 3], [2, 12]] as const) {
    const some = rows.filter((row) => row % 3 === rest);
    parts.push(await segmentOf((draft) => addAll(draft, "varied.gsc", some), number));
  }

  const merged = await segmentIn(joinBytes(CHUNKS.mergeSegments(parts, [0, 2])), 20);

  for (const segments of [parts, [parts[1]!, merged]]) {
    const { catalogue } = joinSegments(CHUNKS, segments);
    assert.equal(hexOf(catalogueDigest(CHUNKS, catalogue)), expected.catalogues["varied"]!.digest);
    assert.deepEqual(catalogue.chunkIds, whole.chunkIds);
  }
});

test("a chunk that is gone is an error and not another chunk", () => {
  const catalogue = readCatalogue(dataFile("many.gsc"));
  const gone = catalogue.chunkIds[0]! - 1;

  for (const id of [gone, -1, 0.5, NaN, catalogue.chunkIds.at(-1)! + 1]) {
    assert.throws(() => catalogue.spans([id]), reason("UnknownId"));
  }
  assert.throws(() => joinSegments(CHUNKS, []).catalogue.documentRows([1]), reason("UnknownId"));
});

test("what does not fit its text is refused and a source twice in one segment too", async () => {
  const source = sourceNamed("a");
  const document = { ...documentOf(10), spans: [{ start: 0, end: 11, context: [] }] };
  const put = { put: { source, documents: [] }, first: 1 };

  assert.throws(() => checkPut({ source, documents: [document] }), reason("InvalidArgument"));
  await assert.rejects(
    segmentOf((draft) => draft.addRecords(recordsOf([put, put]))),
    reason("DuplicateId"),
  );
});

test("paths are sorted by characters, as Python sorts them", async () => {
  const names = ["\u{1f375}", "\uffee", "z", "\ue000", "é", "\ud800", "a", "a\u{1f375}", "a\uffee"];

  const segment = await segmentOf((draft) =>
    draft.addRecords(recordsOf(names.map((name) => ({ put: { source: sourceNamed(name), documents: [] }, first: 1 })))),
  );

  const sorted = ["a", "a\uffee", "a\u{1f375}", "z", "é", "\ud800", "\ue000", "\uffee", "\u{1f375}"];
  assert.deepEqual(joinSegments(CHUNKS, [segment]).catalogue.paths, sorted);
});

test("a document has as many places as its rows, and what is made here is not a stranger's", async () => {
  const places = Array.from({ length: 100_000 }, (_, i) => [i, i] as const);
  const { record } = documentOf(300_000);
  const spans = [{ start: 0, end: 300_000, context: [[0, 100_000] as const] }];
  const document = { record: { ...record, places }, spans, checks: [1] };
  const put = { source: sourceNamed("a"), documents: [document] };

  const segment = await segmentOf((draft) => draft.addRecords(recordsOf([{ put, first: 1 }])));

  assert.equal(joinSegments(CHUNKS, [segment]).catalogue.document(0).places.length, 100_000);
  assert.throws(() => CHUNKS.readTables({ file: segment }), reason("Damaged")); // a heading of 100,000 bytes
});

test("segments that are refused leave nothing in the memory of a search", async () => {
  const engine = await loadEngine(builtWasm);
  const segment = await segmentOf((draft) => addAll(draft, "many.gsc"));
  const groups = (segment.sections.get(50) as Uint8Array).slice();
  groups[groups.length >> 1]! ^= 1;
  const damaged = { ...segment, sections: new Map([...segment.sections, [50, groups]]) };

  for (let i = 0; i < 200; ++i) assert.throws(() => engine.openCollection({ file: damaged }), GossamerError);

  assert.equal(engine.memoryBytes(), 0);
});

test("a single file's segment holds in the module of searches what it holds in that of changes", async () => {
  const segment = await segmentOf((draft) => addAll(draft, "varied.gsc"));
  const { catalogue } = joinSegments(CHUNKS, [segment]);

  const { counts } = (await loadEngine(builtWasm)).openCollection({ file: segment });

  const { sourceCount: sources, documentCount: documents, chunkCount: chunks } = catalogue;
  assert.deepEqual([counts.sources, counts.documents, counts.chunks], [sources, documents, chunks]);
  assert.ok(chunks > 0);
});

test("hashes are those of Python", () => {
  for (const { text, check, hash } of expected.hashes) {
    assert.equal(checkOf(text), check);
    assert.equal(hashOfBytes(new TextEncoder().encode(text)), BigInt(hash));
  }
});

test("a segment that unpacks to much more than its bytes is padded as far as readers want", async () => {
  const spans = Array.from({ length: 60_000 }, () => ({ start: 0, end: 1, context: [] }));
  const document = { ...documentOf(1), spans, checks: new Uint32Array(spans.length) };
  const puts = Array.from({ length: 12 }, (_, i) => ({
    put: { source: sourceNamed(`t${i}`), documents: [document] },
    first: 60_000 * i,
  }));

  const segment = await segmentOf((draft) => draft.addRecords(recordsOf(puts)));

  assert.equal(joinSegments(CHUNKS, [segment]).catalogue.chunkCount, 12 * 60_000);
  assert.equal(CHUNKS.readTables({ file: segment }).tables.count, 12);
});

test("damaged segments are refused, or say something, and never end otherwise", async () => {
  const segment = await segmentOf((draft) => addAll(draft, "varied.gsc"));
  for (const [kind, whole] of segment.sections) {
    const read = async (bytes: Uint8Array): Promise<unknown> => {
      const sections = new Map([...segment.sections, [kind, bytes]]);
      const file = writeContainer([...sections].map(([one, data]) => ({ kind: one, bytes: data })));
      const changed = await segmentIn(file);
      return [CHUNKS.readTables({ file: changed }).tables.count, joinSegments(CHUNKS, [changed]).catalogue.paths];
    };
    await readHostile(whole, read, 150);
  }
});

test("damaged catalogues are refused, or say something, and never end otherwise", async () => {
  const read = (bytes: Uint8Array) => contentOf(readCatalogue(bytes)).ids;

  await readHostile(dataFile("varied.gsc"), read, 400);
  await readHostile(rewritten("varied.gsc"), read, 400);
  await readHostile(dataFile("empty.gsc"), read, 400);
});

test("a catalogue that is cut is refused", async () => {
  const whole = dataFile("varied.gsc");

  for (let length = 0; length < whole.length; length += 13) {
    assert.throws(() => readCatalogue(whole.slice(0, length)), GossamerError);
  }
  await readDamaged(dataFile("empty.gsc"), (bytes) => readCatalogue(bytes).chunkCount);
});

/** The same catalogue, written by the core, without compression. */
function rewritten(name: string): Uint8Array {
  return CHUNKS.edit({ bytes: dataFile(name) }, (list) => list.pack());
}

/** A segment of what is put into a draft. */
async function segmentOf(fill: (draft: SegmentDraft) => void, number = 1): Promise<OpenSegment> {
  const draft = CHUNKS.draft();
  fill(draft);
  return segmentIn(joinBytes(draft.finish()), number);
}

/** Puts these sources of a file in, or all, with empty texts where they have some. */
function addAll(draft: SegmentDraft, name: string, rows?: readonly number[]): void {
  const catalogue = readCatalogue(dataFile(name));
  const chosen = rows ?? [...catalogue.paths.keys()];
  const documents = chosen.reduce((sum, row) => sum + catalogue.documentsOf(row).count, 0);
  draft.addRows(dataFile(name), chosen, new Float64Array(documents).fill(-1));
}

function contentOf(catalogue: Catalogue): ExpectedCatalogue {
  const ids = catalogue.chunkIds;
  const { starts, ends } = catalogue.spans(ids);
  return {
    digest: hexOf(catalogueDigest(CHUNKS, catalogue)),
    words: [...catalogue.words],
    paths: [...catalogue.paths],
    sources: [...catalogue.paths.keys()].map((row) => {
      const source = catalogue.source(row);
      return { ...source, mtimeNs: String(source.mtimeNs), contentHash: String(source.contentHash) };
    }),
    documents: Array.from({ length: catalogue.documentCount }, (_, row) => ({ ...catalogue.document(row) })),
    ids: [...ids],
    documentRows: [...catalogue.documentRows(ids)],
    starts: [...starts],
    ends: [...ends],
    checks: [...catalogue.checks(ids)],
    contexts: catalogue.contexts(ids) as [number, number][][],
  };
}

function putFrom(catalogue: Catalogue, isFile: boolean, path: string): { put: PutSource; first: number } {
  const row = catalogue.find(isFile, path)!;
  const { first, count } = catalogue.documentsOf(row);
  const documents = Array.from({ length: count }, (_, i): ChunkedDocument => {
    const run = catalogue.chunksIn(first + i);
    const ids = Array.from({ length: run.count }, (_, at) => run.first + at);
    const { starts, ends } = catalogue.spans(ids);
    const contexts = catalogue.contexts(ids);
    const spans = ids.map((_, at) => ({ start: starts[at]!, end: ends[at]!, context: contexts[at]! }));
    return { record: catalogue.document(first + i), spans, checks: catalogue.checks(ids) };
  });
  return { put: { source: catalogue.source(row), documents }, first: catalogue.chunksIn(first).first };
}

function sourceNamed(name: string): SourceRecord {
  const rest = { size: 0, mtimeNs: 0n, contentHash: 0n, kind: "", reason: "", readerVersion: 0 };
  return { root: "", name, status: "indexed", ...rest };
}

function documentOf(textLength: number): ChunkedDocument {
  const place = { segment: 1, offset: 0, key: "", title: "", titleSpan: null, unit: "line" };
  return { record: { textLength, kind: "note", ...place, places: [], metadata: {} }, spans: [], checks: [0] };
}

function reason(wanted: string): (error: unknown) => boolean {
  return (error) => error instanceof GossamerError && error.reason === wanted;
}
