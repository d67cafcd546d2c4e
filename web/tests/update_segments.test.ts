// What a change writes: in parts where it is large, converted where it is old, merged where it is small.
import assert from "node:assert/strict";
import test from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import { AWAY } from "../src/format/catalogue.ts";
import { openContainer, SECTIONS } from "../src/format/container.ts";
import { catalogueDigest } from "../src/format/changes.ts";
import { digestOf, hexOf } from "../src/bytes/hashes.ts";
import { filesOfKind, readManifest, writeManifest, type FileEntry } from "../src/format/manifest.ts";
import { joinSegments, type ChangeParts } from "../src/format/edit.ts";
import type { PutSource } from "../src/format/put.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { openToChange } from "../src/update/convert.ts";
import { newFiles } from "../src/update/files.ts";
import { NewSegments, settleSegments } from "../src/update/segments.ts";
import { CHUNKS, fileParts, folderParts, loadReader } from "./cores.ts";
import { dataFile } from "./format_parts.ts";

const LARGE = (1 << 25) + 1;
const NO_PAUSE = async (): Promise<void> => {};
const NOTHING = { segments: [], ...joinSegments(CHUNKS, []) };

test("what is large is written in parts, and a source that comes again takes its place in them", async () => {
  const folder = await newFolder();
  const news = new NewSegments(CHUNKS, await newFiles(folder), folder);
  for (const [letter, first] of [["a", 1], ["b", 2], ["a", 3]] as const) {
    const text = new Uint8Array(LARGE).fill(letter.charCodeAt(0) + first);
    news.put(putOf(letter, LARGE, news.addText(text)), first);
    await news.writeLarge();
  }

  await news.finish(NOTHING, [], [], NO_PAUSE);

  const { catalogue, texts } = joinSegments(CHUNKS, news.made);
  assert.deepEqual([...catalogue.paths].sort(), ["a", "b"]);
  assert.deepEqual([...catalogue.chunkIds], [2, 3]);
  const { segment, offset } = catalogue.document(catalogue.documentRows([3])[0]!);
  assert.deepEqual([...(await texts.read(segment, offset, offset + 2))], [100, 100]);
  news.close();
});

test("a source that comes twice in one part is there once, as it came last", async () => {
  const folder = await newFolder();
  const news = new NewSegments(CHUNKS, await newFiles(folder), folder);
  for (const first of [1, 2]) news.put(putOf("a", 3, news.addText(new Uint8Array(3).fill(first))), first);

  await news.finish(NOTHING, [], [], NO_PAUSE);

  const { catalogue, texts } = joinSegments(CHUNKS, news.made);
  assert.deepEqual([...catalogue.chunkIds], [2]);
  const { segment, offset } = catalogue.document(0);
  assert.deepEqual([...(await texts.read(segment, offset, offset + 3))], [2, 2, 2]);
});

test("segments that are too large together stay as they are", async () => {
  const folder = await newFolder();
  const files = await newFiles(folder);
  const news = new NewSegments(CHUNKS, files, folder);
  for (let number = 1; number <= 4; ++number) {
    news.put(putOf(`t${number}`, LARGE, news.addText(new Uint8Array(LARGE))), number);
    await news.writeLarge();
  }
  assert.equal(news.made.length, 4);

  const settled = await settleSegments(CHUNKS, files, news.made, 4); // 128 MB and a little

  assert.deepEqual(settled.length, 2);
  news.close();
});

test("a segment of which nothing is left goes, however large it is", async () => {
  const folder = await newFolder();
  const news = new NewSegments(CHUNKS, await newFiles(folder), folder);
  news.put(putOf("a", 5 * LARGE, news.addText(new Uint8Array(5 * LARGE))), 1);
  await news.finish(NOTHING, [], [], NO_PAUSE);
  const files = await newFiles(folder);
  const next = new NewSegments(CHUNKS, files, folder);
  await next.finish({ segments: news.made, ...joinSegments(CHUNKS, news.made) }, [0], [], NO_PAUSE);

  const settled = await settleSegments(CHUNKS, files, [...news.made, ...next.made], 1);

  assert.equal(settled.length, 1);
  assert.ok((settled[0]?.size ?? 0) < 10_000);
  news.close();
});

test("many sources that have another time are written in parts, each with its text", async () => {
  const folder = await newFolder();
  const news = new NewSegments(CHUNKS, await newFiles(folder), folder);
  const size = LARGE >> 1;
  for (const [place, name] of ["a", "b", "c", "d"].entries()) {
    news.put(putOf(name, size, news.addText(new Uint8Array(size).fill(place))), place + 1);
    await news.writeLarge();
  }
  await news.finish(NOTHING, [], [], NO_PAUSE);
  const old = { segments: news.made, ...joinSegments(CHUNKS, news.made) };
  const again = new NewSegments(CHUNKS, await newFiles(folder), folder);
  const touched = [0, 1, 2, 3].map((row) => ({ row, mtimeNs: 5n, readerVersion: 2 }));

  await again.finish(old, [], touched, NO_PAUSE);

  assert.ok(again.made.length > 1);
  const { catalogue, texts } = joinSegments(CHUNKS, [...news.made, ...again.made]);
  assert.deepEqual([...catalogue.paths].sort(), ["a", "b", "c", "d"]);
  for (const [row, path] of catalogue.paths.entries()) {
    const { segment, offset } = catalogue.document(catalogue.documentsOf(row).first);
    assert.equal((await texts.read(segment, offset, offset + 1))[0], path.charCodeAt(0) - 97);
    assert.equal(catalogue.source(row).mtimeNs, 5n);
  }
  news.close();
  again.close();
});

test("a damaged text of version 1 does not keep a folder from being changed", async () => {
  const folder = await oldFolder((texts) => (texts[30]! ^= 255));

  const parts = await folder.whileWriting(() => openToChange(folder, loadReader));

  const { segments } = parts.catalogue.textPlaces;
  assert.ok(segments.includes(AWAY));
});

test("a folder of version 1 becomes one of segments with the first change, and loses nothing", async () => {
  const folder = await oldFolder();
  const before = await folderParts(folder);
  const old = { ...(await contentOf(before)), manifest: decoded(await folder.readManifest()) };
  before.close();

  const parts = await folder.whileWriting(() => openToChange(folder, loadReader));

  assert.deepEqual(await contentOf(parts), { digest: old.digest, texts: old.texts });
  assert.match(old.manifest, /"version": 1/);
  assert.equal(parts.manifest.generation, before.manifest.generation + 1);
  assert.deepEqual((await folder.files()).map(({ name }) => name.split("-")[0]).sort(), ["segment", "vectors"]);
  const { files, uuid } = readManifest((await folder.readManifest())!);
  assert.deepEqual(filesOfKind({ ...parts.manifest, files }, "catalogue"), []);
  assert.equal(uuid, before.manifest.uuid);
});

function decoded(bytes: Uint8Array | null): string {
  return new TextDecoder().decode(bytes ?? new Uint8Array());
}

async function newFolder(): Promise<Folder> {
  return memoryStorage().folder("notes");
}

function putOf(name: string, size: number, offset: number): PutSource {
  const rest = { size, mtimeNs: 0n, contentHash: 0n, kind: "text", reason: "", readerVersion: 1 };
  const record = { textLength: size, kind: "text", segment: 0, offset, key: "", title: "", titleSpan: null };
  const document = { ...record, unit: "line", places: [], metadata: {} };
  return {
    source: { root: "", name, status: "indexed", ...rest },
    documents: [{ record: document, spans: [{ start: 0, end: size, context: [] }], checks: [1] }],
  };
}

/** The single file of version 1 as a folder of that version. */
async function oldFolder(damage: (texts: Uint8Array) => void = () => undefined): Promise<Folder> {
  const folder = await newFolder();
  const container = await openContainer(memorySource(dataFile("single.gossamer")));
  const { manifest } = await fileParts(dataFile("single.gossamer"));
  const named: FileEntry[] = [];
  const texts = (await container.section(SECTIONS.oldTexts)).slice();
  damage(texts);
  for (const [name, bytes] of [
    ["catalogue-1.gsc", await container.section(SECTIONS.oldCatalogue)],
    ["texts-1.gst", texts],
    ["vectors-1.gsm", dataFile("single.gossamer")],
  ] as const) {
    const sink = await folder.create(name);
    await sink.write(bytes);
    await sink.close();
    named.push({ name, size: bytes.length, digest: digestOf(bytes) });
  }
  await folder.writeManifest(writeManifest({ ...manifest, files: named }));
  return folder;
}

async function contentOf({ catalogue, texts }: ChangeParts): Promise<{ digest: string; texts: string[] }> {
  const digest = hexOf(catalogueDigest(CHUNKS, catalogue));
  const found: string[] = [];
  for (let row = 0; row < catalogue.documentCount; row += 1) {
    const { segment, offset, textLength } = catalogue.document(row);
    found.push(digestOf(await texts.read(segment, offset, offset + textLength)));
  }
  return { digest, texts: found.sort() };
}
