// Single files that come into a page's storage, as they were written or not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import { loadBuilder, loadText } from "../src/core/load.ts";
import { staticEmbedder } from "../src/embed/static.ts";
import { openContainer, SECTIONS, writeContainer } from "../src/format/container.ts";
import { joinBytes } from "../src/bytes/join.ts";
import { travelCatalogue } from "../src/format/changes.ts";
import { SINGLE_KINDS } from "../src/format/container.ts";
import { crc32 } from "../src/bytes/hashes.ts";
import { readManifest, readSingleManifest, writeManifest, writeSingleManifest } from "../src/format/manifest.ts";
import { rawZstdFrame } from "./zstd_frames.ts";
import { makeDisk, memoryStorage } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { applyChange, type Change, type ChangeReport } from "../src/update/change.ts";
import { exportFile } from "../src/update/export.ts";
import { importFile } from "../src/update/import.ts";
import { CHUNKS, fileParts, folderParts, loadReader } from "./cores.ts";

const SEGMENT_KINDS = [...SINGLE_KINDS, SECTIONS.blocks];
const MODELS = new URL("../../python/gossamer/models/data/", import.meta.url);
const BUILT = new URL("../wasm/built/", import.meta.url);
const FILES = { fetch: async (name: string) => new Uint8Array(readFileSync(new URL(name, BUILT))) };
const TEXT = await loadText(FILES);
const PACK = new Uint8Array(readFileSync(new URL("pocket.gossamer", MODELS)));
const TOOLS = { builder: () => loadBuilder(FILES), chunks: async () => CHUNKS, pack: PACK };
const EMBEDDER = staticEmbedder(TEXT.model(PACK));
const OUTCOMES = ["taken", "Damaged", "NotGossamer", "UnknownVersion", "Truncated"];
const TEXTS = [
  { id: "tea", text: "Green tea is brewed with water that is not quite boiling.", title: "Tea" },
  { id: "rail", text: "The night train to Vienna leaves at nine from platform four." },
  { id: "cat", text: "Our cat sleeps in the sun all day long.", metadata: { year: 2024 } },
];

async function newFolder(name = "notes"): Promise<Folder> {
  return memoryStorage(makeDisk()).folder(name);
}

function change(folder: Folder, wanted: Change): Promise<ChangeReport> {
  return applyChange(null, wanted, { folder, embedder: EMBEDDER, ...TOOLS });
}

async function exported(folder: Folder): Promise<Uint8Array> {
  const parts = await folderParts(folder);
  const builder = () => loadBuilder(FILES);
  const blob = await exportFile(parts, { chunks: loadReader, builder, pack: async () => PACK });
  parts.close();
  return new Uint8Array(await blob.arrayBuffer());
}

/** All that a file says, but for which index it is of. */
async function contentOf(file: Uint8Array): Promise<unknown> {
  const container = await openContainer(memorySource(file));
  const sections = await container.sections(container.kinds);
  const manifest = readSingleManifest(sections.get(SECTIONS.manifest) ?? new Uint8Array());
  sections.delete(SECTIONS.manifest);
  return [{ ...manifest, uuid: "", generation: 0 }, [...sections]];
}

/** The file with other sections, all checksums being right. */
async function rewritten(file: Uint8Array, sections: Record<number, Uint8Array | null>): Promise<Uint8Array> {
  const container = await openContainer(memorySource(file));
  const found = new Map<number, Uint8Array | null>(await container.sections(container.kinds));
  for (const [kind, bytes] of Object.entries(sections)) found.set(Number(kind), bytes);
  return writeContainer([...found].flatMap(([kind, bytes]) => (bytes ? [{ kind, bytes }] : [])));
}

test("a file that is imported is the index it was, and can be changed", async () => {
  const folder = await newFolder();
  await change(folder, { adds: [...TEXTS, { path: "a/b.pdf", bytes: new Uint8Array([1]) }] });
  const file = await exported(folder);
  const other = await newFolder("other");

  await importFile(memorySource(file), other, { chunks: loadReader });

  assert.deepEqual(await contentOf(await exported(other)), await contentOf(file));
  const report = await change(other, { adds: TEXTS });
  assert.deepEqual([report.unchanged, report.embedded], [3, 0]);
});

test("an import in place of an index takes its place whole", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const file = await exported(folder);
  await change(folder, { removes: ["cat"] });

  await assert.rejects(importFile(memorySource(file), folder, { chunks: loadReader }), { reason: "InvalidArgument" });
  await importFile(memorySource(file), folder, { chunks: loadReader, replaces: true });

  assert.deepEqual(await contentOf(await exported(folder)), await contentOf(file));
});

test("a damaged or cut file is refused, and nothing is left of it", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const file = await exported(folder);
  const content = await contentOf(file);
  for (let at = 3; at < file.length; at += 97) {
    const broken = file.slice();
    broken[at] = (broken[at] ?? 0) ^ 0x55;
    for (const bytes of [broken, file.slice(0, at)]) {
      const other = await newFolder("other");

      const outcome = await importFile(memorySource(bytes), other, { chunks: loadReader }).then(
        () => "taken",
        (error: { reason: string }) => error.reason,
      );

      // Zeros between sections and words, which a folder does not keep, are not looked at.
      if (outcome === "taken") assert.deepEqual(await contentOf(await exported(other)), content);
      else assert.deepEqual(await other.files(), []);
      assert.ok(OUTCOMES.includes(outcome), outcome);
    }
  }
});

test("an empty index is exported and imported too", async () => {
  const folder = await newFolder();
  await change(folder, {});
  const other = await newFolder("other");

  await importFile(memorySource(await exported(folder)), other, { chunks: loadReader });

  assert.equal((await folderParts(other)).catalogue.chunkCount, 0);
});

test("an imported file is another index than the one that was exported", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const other = await newFolder("other");

  await importFile(memorySource(await exported(folder)), other, { chunks: loadReader });

  assert.notEqual((await folderParts(other)).manifest.uuid, (await folderParts(folder)).manifest.uuid);
});

test("a damaged index can be replaced, one that follows a server cannot", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const file = await exported(folder);
  const manifest = readManifest((await folder.readManifest()) ?? new Uint8Array());
  await folder.writeManifest(new TextEncoder().encode("no manifest"));

  await importFile(memorySource(file), folder, { chunks: loadReader, replaces: true });

  assert.equal((await folderParts(folder)).catalogue.sourceCount, 3);
  await folder.writeManifest(writeManifest({ ...manifest, origin: { url: "http://server" } }));
  await assert.rejects(importFile(memorySource(file), folder, { chunks: loadReader, replaces: true }), { reason: "WrongState" });
});

test("a listener that throws, also after all is written, does no harm", async () => {
  const folder = await newFolder();
  const onProgress = (): void => {
    throw new Error("not ready");
  };
  const tools = { folder, embedder: EMBEDDER, ...TOOLS, onProgress };
  await applyChange(null, { adds: TEXTS }, tools);
  const other = await newFolder("other");

  await importFile(memorySource(await exported(folder)), other, { chunks: loadReader, onProgress });

  for (const one of [folder, other]) {
    const parts = await folderParts(one);
    assert.equal((await parts.texts.read(parts.catalogue.document(0).segment, 0, 4)).length, 4);
  }
});

test("texts that say they are more than their bytes can hold are not unpacked", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const file = await asOld(await exported(folder), blownUp(400));
  const other = await newFolder("other");

  const imported = importFile(memorySource(file), other, { chunks: loadReader });

  await assert.rejects(imported, { reason: "Damaged", message: /more than a file of \d+ can hold/ });
  assert.deepEqual(await other.files(), []);
});

test("an import lets others run, and ends when it is cancelled", async (context) => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const file = await asOld(await exported(folder), blownUp(16)); // within the limit
  const other = await newFolder("other");
  let now = 0;
  context.mock.method(performance, "now", () => (now += 1000)); // each step takes long
  const stop = new AbortController();
  setTimeout(() => stop.abort()); // as a message that comes meanwhile

  const imported = importFile(memorySource(file), other, { chunks: loadReader, signal: stop.signal });

  await assert.rejects(imported, { reason: "Cancelled" });
  assert.deepEqual(await other.files(), []);
});

test("parts that do not belong together are refused, though each is whole", async () => {
  const folder = await newFolder();
  await change(folder, { adds: [...TEXTS, { id: "dog", text: "Our dog barks at the moon." }] });
  await change(folder, { removes: ["tea"] });
  const file = await exported(folder);
  const { catalogue } = await fileParts(file);
  const { bytes } = travelCatalogue(CHUNKS, catalogue, [0, 1, 2], (root) => root).origin;
  const offsets = [0, 1, 2].map((row) => catalogue.textPlaces.offsets[row]!);
  const withTexts = async (size: number, rows: number[], begins: number[]) => {
    const draft = CHUNKS.draft();
    draft.addText(new Uint8Array(size));
    draft.addRows(bytes, rows, begins);
    const made = await openContainer(memorySource(joinBytes(draft.finish())));
    return Object.fromEntries(await made.sections(SEGMENT_KINDS)) as Record<number, Uint8Array>;
  };
  const cases: [Record<number, Uint8Array | null>, RegExp][] = [
    [await withTexts(500, [0, 1], offsets), /vectors do not belong/],
    [{ [SECTIONS.ids]: Uint8Array.of(0, 3, 14) }, /other ids/],
    [{ [SECTIONS.ids]: Uint8Array.of(9, 1, 1) }, /than its ids need/],
    [{ [SECTIONS.deleted]: new Uint8Array(8).fill(1, 0, 1) }, /2 vectors do not belong/],
    [{ [SECTIONS.codes]: null }, /no bytes for them/],
    [await withTexts(500, [0, 1, 2], [0, 1, 300]), /share texts/],
    [await withTexts(20, [0, 1, 2], offsets), /beyond the texts/],
  ];
  for (const [sections, message] of cases) {
    const other = await newFolder("other");

    const imported = importFile(memorySource(await rewritten(file, sections)), other, { chunks: loadReader });

    await assert.rejects(imported, { reason: "Damaged", message });
    assert.deepEqual(await other.files(), []);
  }
});

/** The same sources as a file of version 1, with other texts. */
async function asOld(file: Uint8Array, texts: Uint8Array): Promise<Uint8Array> {
  const { catalogue, manifest } = await fileParts(file);
  const rows = [...catalogue.paths.keys()];
  const { bytes } = travelCatalogue(CHUNKS, catalogue, rows, (root) => root).origin;
  const old = new TextDecoder().decode(writeSingleManifest(manifest)).replaceAll(/("version"|"single"):2/g, "$1:1");
  return rewritten(file, {
    ...Object.fromEntries(SEGMENT_KINDS.map((kind) => [kind, null])),
    [SECTIONS.manifest]: new TextEncoder().encode(old),
    [SECTIONS.oldCatalogue]: bytes,
    [SECTIONS.oldTexts]: texts,
  });
}

/** Texts of version 1 whose blocks are one letter, a million times. */
function blownUp(blocks: number): Uint8Array {
  const size = 1 << 20;
  const start = rawZstdFrame(new Uint8Array(0)).slice(0, 13);
  new DataView(start.buffer).setBigUint64(5, BigInt(size), true);
  const rle = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => {
    const header = (n === 7 ? 1 : 0) + (1 << 1) + ((size / 8) << 3);
    return [header & 255, (header >> 8) & 255, header >> 16, 97];
  });
  const frame = Uint8Array.of(...start, ...rle);
  const head = new Uint8Array(24);
  head.set(new TextEncoder().encode("GSMTEXTS"));
  new DataView(head.buffer).setUint32(8, 1, true);
  new DataView(head.buffer).setUint32(12, size, true);
  const tail = new DataView(new ArrayBuffer(8 * blocks + 16));
  for (let n = 0; n < blocks; n += 1) {
    tail.setUint32(8 * n, frame.length, true);
    tail.setUint32(8 * n + 4, crc32(frame), true);
  }
  tail.setBigUint64(8 * blocks, BigInt(size * blocks), true);
  tail.setUint32(8 * blocks + 8, blocks, true);
  const table = new Uint8Array(tail.buffer);
  tail.setUint32(8 * blocks + 12, crc32(table.subarray(0, -4), crc32(head)), true);
  return Uint8Array.of(...head, ...Array.from({ length: blocks }, () => [...frame]).flat(), ...table);
}
