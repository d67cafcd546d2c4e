import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { joinBytes } from "../src/bytes/join.ts";
import { memorySource } from "../src/bytes/memory.ts";
import type { ByteSource } from "../src/bytes/source.ts";
import { GossamerError } from "../src/errors.ts";
import { openContainer, SECTIONS, writeContainer } from "../src/format/container.ts";
import { crc32, crc32c, digestOf } from "../src/bytes/hashes.ts";
import {
  readManifest,
  readSingleManifest,
  writeManifest,
  writeSingleManifest,
} from "../src/format/manifest.ts";
import type { OpenSegment } from "../src/format/parts.ts";
import { openOldTexts, openTexts, type Texts } from "../src/format/texts.ts";
import { CHUNKS, readCatalogue, segmentIn } from "./cores.ts";
import { dataFile, expected, readDamaged, readHostile } from "./format_parts.ts";

const CHECK = new TextEncoder().encode("123456789");

test("checksums are those of their standards, in one go or in pieces", () => {
  assert.equal(crc32(CHECK), 0xcbf43926);
  assert.equal(crc32c(CHECK), 0xe3069283);
  const long = Uint8Array.from({ length: 1000 }, (_, i) => i * 31);
  for (const cut of [0, 1, 7, 8, 500, 999]) {
    assert.equal(crc32c(long.subarray(cut), crc32c(long.subarray(0, cut))), crc32c(long));
  }
});

test("every section of the engine's files has its checksum", async () => {
  for (const name of ["all-full", "hot", "slim-source", "deletions", "none"]) {
    const container = await openContainer(memorySource(engineFile(name)));

    const sections = await container.sections(container.kinds);

    assert.equal(sections.size, container.kinds.length);
    assert.equal(container.kinds[0], SECTIONS.meta);
  }
});

test("a file that is written anew from its sections has the same bytes", async () => {
  for (const bytes of [engineFile("slim-source"), dataFile("single.gossamer")]) {
    const container = await openContainer(memorySource(bytes));
    const sections = await container.sections(container.kinds);

    const again = writeContainer([...sections].map(([kind, part]) => ({ kind, bytes: part })));

    assert.deepEqual(again, bytes);
  }
});

test("what is wrong with a file is said by its reason", async () => {
  const whole = engineFile("none");
  const changed = (at: number, byte: number) => whole.map((old, i) => (i === at ? byte : old));
  const cases: [Uint8Array, string][] = [
    [changed(0, 65), "NotGossamer"],
    [changed(8, 2), "UnknownVersion"],
    [whole.slice(0, 30), "Truncated"],
    [whole.slice(0, -1), "Truncated"],
    [Uint8Array.from([...whole, 0]), "Damaged"],
    [changed(26, 1), "Damaged"],
    [changed(70, 1), "Damaged"],
    [writeContainer([{ kind: 11, bytes: CHECK }]), "UnknownVersion"],
    [writeContainer([1, 1].map((kind) => ({ kind, bytes: CHECK }))), "Damaged"],
  ];
  for (const [bytes, reason] of cases) {
    await assert.rejects(openContainer(memorySource(bytes)), { reason });
  }
  assert.deepEqual((await openContainer(memorySource(writeContainer([])))).kinds, []);
});

test("opening a file reads its start once, and nothing twice that was in it", async () => {
  const { source, reads } = counted(dataFile("single.gossamer"));

  const container = await openContainer(source);
  await container.sections([SECTIONS.manifest, SECTIONS.oldCatalogue]);
  await container.slice(SECTIONS.words).read(0, 8);

  assert.deepEqual(reads, [[0, source.size]]);
});

test("a section too large for memory is refused before anything of it is read", async () => {
  const size = 3 * 2 ** 30;
  const head = writeContainer([{ kind: SECTIONS.blocks, bytes: CHECK }]).slice(0, 96);
  const view = new DataView(head.buffer);
  view.setBigUint64(16, BigInt(size), true); // the file
  view.setBigUint64(80, BigInt(size - 128), true); // its section
  view.setUint32(24, crc32c(head.subarray(64)), true);
  view.setUint32(28, crc32c(head.subarray(0, 28)), true);
  const asked: number[] = [];
  const source: ByteSource = {
    size,
    read: async (at, length) => {
      asked.push(length);
      const bytes = new Uint8Array(length);
      if (at === 0) bytes.set(head);
      return bytes;
    },
    close: () => {},
  };

  const container = await openContainer(source);

  await assert.rejects(container.section(SECTIONS.blocks), { reason: "TooLarge" });
  await assert.rejects(container.sections([SECTIONS.blocks]), { reason: "TooLarge" });
  assert.deepEqual(asked, [1 << 16]);
});

test("a part of a section beyond its end is refused", async () => {
  const container = await openContainer(memorySource(dataFile("single.gossamer")));
  const words = container.slice(SECTIONS.words);

  await assert.rejects(words.read(words.size - 4, 5), { reason: "Truncated" });
  await assert.rejects(words.read(-1, 5), { reason: "Truncated" });
  assert.throws(() => words.readNow?.(words.size - 4, new Uint8Array(5)), { reason: "Truncated" });
});

test("damage to a file is found in its header, its table or its sections", async () => {
  const whole = engineFile("none");
  const read = async (bytes: Uint8Array) => {
    const container = await openContainer(memorySource(bytes));
    return container.sections(container.kinds);
  };

  await readDamaged(whole, read, 37);
  await readHostile(writeContainer([{ kind: 1, bytes: CHECK }]), read, 300);
});

test("a manifest says what Python wrote, and is written so that it comes back", () => {
  const bytes = dataFile("MANIFEST.gossamer");

  const manifest = readManifest(bytes);

  assert.deepEqual(manifest.model.probe, [0.25, -1e-7]);
  assert.deepEqual(manifest.settings.walk, { effort: { beam: 9 }, é: null });
  const names = ["catalogue-3.gsc", "texts-2.gst", "vectors-3.gsm"];
  assert.deepEqual(manifest.files.map(({ name }) => name), names);
  assert.deepEqual(readManifest(writeManifest(manifest)), manifest);
  assert.deepEqual(readSingleManifest(writeSingleManifest(manifest)), { ...manifest, files: [] });
});

test("damaged manifests are refused", async () => {
  await readDamaged(dataFile("MANIFEST.gossamer"), readManifest);
  const single = writeSingleManifest(readManifest(dataFile("MANIFEST.gossamer")));
  await readHostile(single, readSingleManifest, 500);
  const other = new TextEncoder().encode('{"format":"gossamer index","version":3}\n');
  const signed = new TextEncoder().encode(`${digestOf(other)}\n`);
  assert.throws(() => readManifest(Uint8Array.from([...other, ...signed])), { reason: "UnknownVersion" });
  assert.throws(() => readManifest(CHECK), { reason: "NotGossamer" });
});

test("texts of version 1 are those that Python wrote, across blocks and in one read", async () => {
  const { source, reads } = counted(dataFile("texts-1.gst"));
  const segment = await openOldTexts(source, CHUNKS);
  const before = reads.length;

  const texts = await segment.readMany(expected.texts.map(({ offset, length }) => [offset, offset + length]));
  await segment.readMany([[100, 9000]]);

  assert.deepEqual(texts.map(digestOf), expected.texts.map(({ digest }) => digest));
  assert.equal(reads.length - before, Math.ceil(segment.length / 8192));
});

test("texts that are written come back, however many", async () => {
  for (const lengths of [[1], [5, 0, 8187, 1], [20_000, 3, 8192, 30_000]]) {
    const texts = lengths.map((length) => Uint8Array.from({ length }, (_, i) => i % 251));
    const draft = CHUNKS.draft();

    const offsets = texts.map((text) => draft.addText(text));

    const segment = await textsIn(await segmentIn(joinBytes(draft.finish())));
    const spans = texts.map((text, i) => [offsets[i]!, offsets[i]! + text.length] as const);
    assert.deepEqual(await segment.readMany(spans), texts);
    await assert.rejects(segment.readMany([[0, segment.length + 1]]), { reason: "Damaged" });
  }
});

test("damaged texts are refused", async () => {
  const readOld = async (bytes: Uint8Array) => {
    const texts = await openOldTexts(memorySource(bytes), CHUNKS);
    return (await texts.readMany([[0, texts.length]])).map(digestOf);
  };
  const read = async (bytes: Uint8Array) => {
    const texts = await textsIn(await segmentIn(bytes));
    return (await texts.readMany([[0, texts.length]])).map(digestOf);
  };
  const draft = CHUNKS.draft();
  draft.addText(new Uint8Array(90));

  await readDamaged(dataFile("texts-1.gst"), readOld, 23);
  await readHostile(joinBytes(draft.finish()), read, 200);
});

async function textsIn(segment: OpenSegment): Promise<Texts> {
  return openTexts(segment.container.slice(SECTIONS.blocks), CHUNKS.blocksOf(segment));
}

test("words are counted to the end though another job fails", () => {
  const bytes = CHUNKS.edit({ bytes: dataFile("many.gsc") }, (list) => list.pack());
  const counter = CHUNKS.countWords(bytes);
  const catalogue = readCatalogue(bytes);

  assert.throws(() => CHUNKS.readSources(new Uint8Array(9)), { reason: "NotGossamer" });

  const text = new Uint8Array(catalogue.textLengths[0]!).fill(32);
  text.set(new TextEncoder().encode("tea"), catalogue.spans(catalogue.chunkIds).starts[0]);
  counter.add(catalogue.chunkIds[0]!, text);
  assert.ok(counter.finish().length > 40);
  counter.free();
});

function engineFile(name: string): Uint8Array {
  const url = new URL(`../../tests/data/format/v1/${name}.gossamer`, import.meta.url);
  return new Uint8Array(readFileSync(url));
}

/** A source that notes what is read of it. */
function counted(bytes: Uint8Array): { source: ByteSource; reads: [number, number][] } {
  const reads: [number, number][] = [];
  const source = {
    size: bytes.length,
    read: async (at: number, length: number) => {
      reads.push([at, length]);
      if (at + length > bytes.length) throw new GossamerError("Truncated", "the source ends before");
      return bytes.slice(at, at + length);
    },
    close: () => undefined,
  };
  return { source, reads };
}
