import assert from "node:assert/strict";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import { AWAY, type Catalogue, type SourceRecord } from "../src/format/catalogue.ts";
import {
  catalogueDigest,
  changeCatalogue,
  emptyCatalogue,
  moveTexts,
  partOfCatalogue,
} from "../src/format/changes.ts";
import type { ChunkedDocument } from "../src/format/changes.ts";
import { checkOf, hashOfBytes, hexOf } from "../src/format/hashes.ts";
import { loadText } from "../src/core/load.ts";
import { CHUNKS, readCatalogue } from "./cores.ts";
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

test("the same change leads to the same catalogue as in Python", () => {
  const old = readCatalogue(dataFile("varied.gsc"));
  const wanted = readCatalogue(dataFile("changed.gsc"));
  const put = [putFrom(wanted, false, "été0"), putFrom(wanted, true, "/new/\ue000.md")];

  const { catalogue, nextChunkId, ids } = changeCatalogue(CHUNKS, old, {
    nextChunkId: 10_000,
    put,
    remove: [{ isFile: true, path: "/same" }],
    touch: [{ isFile: false, path: "same", mtimeNs: -(2n ** 61n), readerVersion: 12 }],
  });

  assert.deepEqual(contentOf(catalogue), expected.catalogues["changed"]);
  assert.deepEqual(ids.flat(), wanted.chunksOf(wanted.find(false, "été0")!));
  assert.equal(nextChunkId, 10_000 + ids.flat().length);
});

test("sources of another catalogue keep the ids of their chunks", () => {
  const whole = readCatalogue(dataFile("varied.gsc"));
  const rows = [...whole.paths.keys()];
  const [even, odd] = [rows.filter((row) => row % 2 === 0), rows.filter((row) => row % 2 === 1)];
  const part = partOfCatalogue(CHUNKS, whole, odd);

  const { catalogue } = changeCatalogue(CHUNKS, partOfCatalogue(CHUNKS, whole, even), {
    nextChunkId: 10_000,
    merge: { catalogue: part, places: part.textPlaces },
  });

  const away = withAwayTexts(catalogue);
  assert.equal(hexOf(catalogueDigest(CHUNKS, catalogue)), expected.catalogues["varied"]!.digest);
  assert.equal(hexOf(catalogueDigest(CHUNKS, away)), expected.catalogues["varied"]!.digest);
  assert.deepEqual(catalogue.chunkIds, whole.chunkIds);
});

test("texts that are moved are elsewhere and the rest is as it was", () => {
  const catalogue = readCatalogue(dataFile("varied.gsc"));

  const moved = moveTexts(CHUNKS, withAwayTexts(catalogue), [1, 0], 9, [500, 0]);

  assert.deepEqual([...moved.textPlaces.segments.slice(0, 3)], [9, 9, 2 ** 31]);
  assert.deepEqual([...moved.textPlaces.offsets.slice(0, 3)], [0, 500, 0]);
  assert.equal(hexOf(catalogueDigest(CHUNKS, moved)), expected.catalogues["varied"]!.digest);
});

test("a chunk that is gone is an error and not another chunk", () => {
  const catalogue = readCatalogue(dataFile("many.gsc"));
  const gone = catalogue.chunkIds[0]! - 1;

  for (const id of [gone, -1, 0.5, NaN, catalogue.chunkIds.at(-1)! + 1]) {
    assert.throws(() => catalogue.spans([id]), reason("UnknownId"));
  }
  assert.throws(() => emptyCatalogue(CHUNKS).documentRows([1]), reason("UnknownId"));
});

test("what does not fit its text is refused and a source twice in one step too", () => {
  const source = sourceNamed("a");
  const document = { ...documentOf(10), spans: [{ start: 0, end: 11, context: [] }] };
  const put = { source, documents: [] };

  const tooLong = { nextChunkId: 1, put: [{ source, documents: [document] }] };
  assert.throws(() => changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), tooLong), reason("InvalidArgument"));
  assert.throws(
    () => changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), { nextChunkId: 1, put: [put, put] }),
    reason("DuplicateId"),
  );
  assert.throws(
    () => changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), { nextChunkId: 1, remove: [{ isFile: true, path: "a" }] }),
    reason("UnknownId"),
  );
});

test("paths are sorted by characters, as Python sorts them", () => {
  const names = ["\u{1f375}", "\uffee", "z", "\ue000", "é", "\ud800", "a", "a\u{1f375}", "a\uffee"];

  const { catalogue } = changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), {
    nextChunkId: 1,
    put: names.map((name) => ({ source: sourceNamed(name), documents: [] })),
  });

  const sorted = ["a", "a\uffee", "a\u{1f375}", "z", "é", "\ud800", "\ue000", "\uffee", "\u{1f375}"];
  assert.deepEqual(catalogue.paths, sorted);
  assert.deepEqual(readCatalogue(catalogue.bytes).paths, sorted);
});

test("a document has as many places as its rows, and what is made here is not a stranger's", () => {
  const places = Array.from({ length: 100_000 }, (_, i) => [i, i] as const);
  const { record } = documentOf(300_000);
  const spans = [{ start: 0, end: 300_000, context: [[0, 100_000] as const] }];
  const document = { record: { ...record, places }, spans, checks: [1] };

  const { catalogue } = changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), {
    nextChunkId: 1,
    put: [{ source: sourceNamed("a"), documents: [document] }],
  });

  assert.equal(catalogue.document(0).places.length, 100_000);
  assert.throws(() => readCatalogue(catalogue.bytes), reason("Damaged")); // a heading of 100,000 bytes
});

test("catalogues that are refused leave nothing in the memory of a search", async () => {
  const text = await loadText(builtWasm);
  const before = text.memoryBytes();
  const whole = dataFile("many.gsc");

  for (let i = 0; i < 200; ++i) assert.throws(() => text.readSources(whole.slice(0, -9)));

  assert.equal(text.memoryBytes(), before);
});

test("hashes are those of Python", () => {
  for (const { text, check, hash } of expected.hashes) {
    assert.equal(checkOf(text), check);
    assert.equal(hashOfBytes(new TextEncoder().encode(text)), BigInt(hash));
  }
});

test("a catalogue that unpacks to much more than its bytes is padded as far as readers want", () => {
  const spans = Array.from({ length: 60_000 }, () => ({ start: 0, end: 1, context: [] }));
  const document = { ...documentOf(1), spans, checks: new Uint32Array(spans.length) };
  const put = Array.from({ length: 12 }, (_, i) => ({ source: sourceNamed(`t${i}`), documents: [document] }));

  const { catalogue } = changeCatalogue(CHUNKS, emptyCatalogue(CHUNKS), { nextChunkId: 1, put });

  assert.equal(readCatalogue(catalogue.bytes).chunkCount, 12 * 60_000);
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
  return CHUNKS.edit((lists) => lists.read(dataFile(name)).pack());
}

function withAwayTexts(catalogue: Catalogue): Catalogue {
  const rows = Array.from({ length: catalogue.documentCount }, (_, row) => row);
  return moveTexts(CHUNKS, catalogue, rows, AWAY, new Float64Array(rows.length));
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

function putFrom(catalogue: Catalogue, isFile: boolean, path: string) {
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
  return { source: catalogue.source(row), documents };
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
