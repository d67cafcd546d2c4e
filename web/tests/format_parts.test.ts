import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import type { ByteRange } from "../src/bytes/source.ts";
import { GossamerError } from "../src/errors.ts";
import { openContainer, SECTIONS, writeContainer } from "../src/format/container.ts";
import { checkOf, digestOf } from "../src/bytes/hashes.ts";
import { writeManifest } from "../src/format/manifest.ts";
import { openEngineParts, partsOfFile, partsOfFolder } from "../src/format/parts.ts";
import type { ChangeParts } from "../src/format/edit.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { exportFile } from "../src/update/export.ts";
import { importFile } from "../src/update/import.ts";
import { dataFile, readDamaged } from "./format_parts.ts";
import { askWords, snapshotOf } from "./snapshots.ts";
import { fileParts, folderParts, loadReader, READERS } from "./cores.ts";

for (const version of [1, 2]) {
test(`a single file of version ${version} has all texts of its chunks, as they were embedded`, async () => {
  const parts = await partsOf(version);

  const texts = await chunkTexts(parts);

  assert(texts.length > 8);
  assert(texts.every((text) => text.length > 0));
  assert.equal(parts.manifest.model.name, "tiny");
  assert.equal(parts.catalogue.find(false, "text 3"), null);
  assert.equal(checkOf(texts[0]!), parts.catalogue.checks([parts.catalogue.chunkIds[0]!])[0]);
});

test(`words of a single file of version ${version} are in the chunks that it says`, async () => {
  const parts = await partsOf(version);
  const texts = await chunkTexts(parts);
  assert(parts.words);

  const { hits, explanation } = await askWords(await snapshotOf(parts), "leaf nowhere");

  const found = new Map(hits.map((hit) => [hit.id, hit.text]));
  const holding = [...texts.keys()].filter((number) => / leaf /.test(` ${texts[number]} `));
  assert(holding.length > 0);
  for (const number of holding) assert.equal(found.get(parts.catalogue.chunkIds[number]!), texts[number]);
  assert.deepEqual(explanation.lexicalTerms, { leaf: hits.length, nowher: 0 });
});
}

test("the engine gets its own sections, without vectors unless they are asked for", async () => {
  const container = await openContainer(memorySource(dataFile("single.gossamer")));

  const { head, fileSize, sections } = await openEngineParts(container, { withVectors: false });

  assert.equal(fileSize, dataFile("single.gossamer").length);
  assert.equal(head.length, 64 + 32 * container.kinds.length);
  assert(sections.has(SECTIONS.meta) && sections.has(SECTIONS.codes));
  assert([...sections.keys()].every((kind) => kind < 32 && kind !== SECTIONS.vectors));
});

test("a folder of version 1 is opened by its manifest, and only whole", async () => {
  const folder = await folderWith("index");

  const parts = await folderParts(folder);

  assert.deepEqual(await chunkTexts(parts), await chunkTexts(await partsOf(1)));
  assert.equal(parts.words, null);
  parts.close();

  const sink = await folder.create("catalogue-1.gsc");
  const container = await openContainer(memorySource(dataFile("single.gossamer")));
  const damaged = (await container.section(SECTIONS.oldCatalogue)).slice();
  damaged[damaged.length - 9]! ^= 1;
  await sink.write(damaged);
  await sink.close();
  await assert.rejects(partsOfFolder(folder, READERS), { reason: "Damaged" });
});

test("a folder without an index says so", async () => {
  const folder = await (await memoryStorage()).folder("nothing");

  await assert.rejects(partsOfFolder(folder, READERS), { reason: "NoIndex" });
});

test("a file of vectors alone is no index to search", async () => {
  const file = writeContainer([{ kind: 1, bytes: new Uint8Array(136) }]);

  await assert.rejects(partsOfFile(memorySource(file), READERS), { reason: "NotGossamer" });
});

test("damage to a single file is found before anything is made of it", async () => {
  const read = async (bytes: Uint8Array) => {
    const parts = await fileParts(bytes);
    const snapshot = await snapshotOf(parts);
    const { hits } = await askWords(snapshot, "tea");
    const found = [await chunkTexts(parts), hits, parts.manifest];
    await snapshot.close();
    return found;
  };

  await readDamaged(dataFile("single.gossamer"), read, 97);
  await readDamaged(await newFile(), read, 97);
});

test("what could not be fetched is asked for again", async () => {
  const { bytes, farAt } = await longFile();
  let isBroken = true;
  const read = async (at: number, length: number) => {
    if (isBroken && at >= farAt) throw new GossamerError("Unreachable", "the server does not answer");
    return bytes.slice(at, at + length);
  };
  const parts = await partsOfFile({ size: bytes.length, read, close: () => undefined }, READERS);
  const snapshot = await snapshotOf(parts);

  await assert.rejects(parts.texts.read(1, 0, 10), { reason: "Unreachable" });
  await assert.rejects(askWords(snapshot, "tea"), { reason: "Unreachable" });
  isBroken = false;

  assert.equal((await parts.texts.read(1, 0, 10)).length, 10);
  assert((await askWords(snapshot, "tea")).hits.length > 0);
});

test("words are found with one read of where they lie, one of blocks and one of postings", async () => {
  const parts = await partsOf(2);
  const words = parts.words!;
  let reads = 0;
  const readMany = (ranges: readonly ByteRange[]) => {
    reads += 1;
    return Promise.all(ranges.map(({ at, length }) => words.read(at, length)));
  };
  const read = async (at: number, length: number) => (await readMany([{ at, length }]))[0]!;
  const snapshot = await snapshotOf({ ...parts, words: { ...words, read, readMany } });

  const { hits } = await askWords(snapshot, "tea leaf nowhere");

  assert(hits.length > 0);
  assert.equal(reads, 3);
});

/** The single file with so much before words and texts that they are not in its start. */
async function longFile(): Promise<{ bytes: Uint8Array; farAt: number }> {
  const container = await openContainer(memorySource(await newFile()));
  const far: number[] = [SECTIONS.words, SECTIONS.blocks];
  const sections = [...(await container.sections(container.kinds))].map(([kind, bytes]) => ({ kind, bytes }));
  const bytes = writeContainer([
    ...sections.filter(({ kind }) => !far.includes(kind)),
    { kind: 63, bytes: new Uint8Array(1 << 16) },
    ...sections.filter(({ kind }) => far.includes(kind)),
  ]);
  return { bytes, farAt: 1 << 16 };
}

async function partsOf(version: number): Promise<ChangeParts> {
  return fileParts(version === 1 ? dataFile("single.gossamer") : await newFile());
}

/** The single file of version 1 as this release writes it. */
async function newFile(): Promise<Uint8Array> {
  const folder = await (await memoryStorage()).folder("new");
  await importFile(memorySource(dataFile("single.gossamer")), folder, { chunks: loadReader });
  const unused = async () => assert.fail("nothing was removed");
  const parts = await partsOfFolder(folder, READERS);
  const file = await exportFile(parts, { chunks: loadReader, builder: unused, pack: unused });
  return new Uint8Array(await file.arrayBuffer());
}

async function chunkTexts(parts: ChangeParts): Promise<string[]> {
  const { catalogue } = parts;
  const rows = catalogue.documentRows(catalogue.chunkIds);
  const { starts, ends } = catalogue.spans(catalogue.chunkIds);
  const { segments, offsets } = catalogue.textPlaces;
  const spans = [...rows].map((row, i) => ({
    segment: segments[row]!,
    start: offsets[row]! + starts[i]!,
    end: offsets[row]! + ends[i]!,
  }));
  const texts = await parts.texts.readMany(spans);
  return texts.map((text) => new TextDecoder().decode(text));
}

/** The single file as a folder of storage. */
async function folderWith(name: string): Promise<Folder> {
  const folder = await (await memoryStorage()).folder(name);
  const container = await openContainer(memorySource(dataFile("single.gossamer")));
  const files = {
    "catalogue-1.gsc": await container.section(SECTIONS.oldCatalogue),
    "texts-1.gst": await container.section(SECTIONS.oldTexts),
  };
  for (const [file, bytes] of Object.entries(files)) {
    const sink = await folder.create(file);
    await sink.write(bytes);
    await sink.close();
  }
  const entries = Object.entries(files).map(([file, bytes]) => ({
    name: file,
    size: bytes.length,
    digest: digestOf(bytes),
  }));
  await folder.writeManifest(writeManifest({ ...(await partsOf(1)).manifest, files: entries }));
  return folder;
}
