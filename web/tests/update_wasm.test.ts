// Changes with the real engine, tokenizer and model.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { loadBuilder, loadText } from "../src/core/load.ts";
import { staticEmbedder } from "../src/embed/static.ts";
import { travelCatalogue } from "../src/format/changes.ts";
import { SECTIONS } from "../src/format/container.ts";
import type { ChangeParts } from "../src/format/edit.ts";
import { openEngineParts } from "../src/format/parts.ts";
import { makeDisk, memoryStorage } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { applyChange, type Change, type ChangeReport } from "../src/update/change.ts";
import { exportFile } from "../src/update/export.ts";
import { askWords, snapshotOf } from "./snapshots.ts";
import { CHUNKS, fileParts, folderParts, loadReader } from "./cores.ts";

const MODELS = new URL("../../python/gossamer/models/data/", import.meta.url);
const BUILT = new URL("../wasm/built/", import.meta.url);
const FILES = { fetch: async (name: string) => new Uint8Array(readFileSync(new URL(name, BUILT))) };
const TEXT = await loadText(FILES);
const PACK = new Uint8Array(readFileSync(new URL("pocket.gossamer", MODELS)));
const EMBEDDER = staticEmbedder(TEXT.model(PACK));
const TEXTS = [
  { id: "tea", text: "Green tea is brewed with water that is not quite boiling.", title: "Tea" },
  { id: "rail", text: "The night train to Vienna leaves at nine from platform four." },
  { id: "cat", text: "Our cat sleeps in the sun all day long.", metadata: { year: 2024 } },
];

const EXPORT = { chunks: loadReader, builder: () => loadBuilder(FILES), pack: async () => PACK };

async function newFolder(name = "notes"): Promise<Folder> {
  return memoryStorage(makeDisk()).folder(name);
}

function change(folder: Folder, wanted: Change): Promise<ChangeReport> {
  const tools = { builder: () => loadBuilder(FILES), chunks: async () => CHUNKS, pack: PACK };
  return applyChange(null, wanted, { folder, embedder: EMBEDDER, ...tools });
}

/** The source of the chunk whose code is nearest to a question. */
async function nearest(parts: ChangeParts, question: string): Promise<string> {
  assert.ok(parts.engine);
  const engine = await loadBuilder(FILES);
  const index = engine.open(await openEngineParts(parts.engine, { withVectors: true }), { pack: PACK });
  index.verify();
  const vector = await EMBEDDER.embedQuestion(question);
  const request = { k: 1, recall: 0.9, strategy: "scan", effort: { rerank: 1, margin: 0 } } as const;
  const [id = 0] = index.search(vector, request).wanted();
  const [document = 0] = parts.catalogue.documentRows([id]);
  return parts.catalogue.paths[parts.catalogue.sourceRows[document] ?? 0] ?? "";
}

async function exported(folder: Folder): Promise<Uint8Array> {
  const parts = await folderParts(folder);
  const blob = await exportFile(parts, EXPORT);
  parts.close();
  return new Uint8Array(await blob.arrayBuffer());
}

test("what is added is found by its meaning, and what is removed is not", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  const before = await nearest(await folderParts(folder), "a hot drink");

  const report = await change(folder, { removes: ["tea"], adds: [{ id: "rail", text: "A boat to Crete." }] });

  assert.equal(before, "tea");
  assert.deepEqual([report.removed, report.replaced, report.chunks], [1, 1, 2]);
  assert.equal(await nearest(await folderParts(folder), "sailing to an island"), "rail");
});

test("chunks of a changed file keep their codes", async () => {
  const folder = await newFolder();
  const section = (word: string) => `# ${word}\n\n${`All about ${word}. `.repeat(90)}\n\n`;
  const sections = ["Tea", "Trains", "Cats"].map(section);
  const file = (text: string) => ({ path: "docs/x.md", bytes: new TextEncoder().encode(text) });
  const first = await change(folder, { adds: [file(sections.join(""))] });

  const second = await change(folder, { adds: [file(`${sections.join("")}# Boats\n\nAll about boats.\n`)] });

  assert.ok(second.embedded < first.embedded);
  assert.equal(await nearest(await folderParts(folder), "boats"), "docs/x.md");
});

test("an exported file opens with its words, and is the same each time", async () => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });

  const file = await exported(folder);

  const parts = await fileParts(file);
  assert.ok(parts.words);
  const snapshot = await snapshotOf(parts);
  assert.deepEqual((await askWords(snapshot, "vienna")).hits.map(({ source }) => source), ["rail"]);
  assert.deepEqual((await askWords(snapshot, "tea")).explanation.lexicalTerms, { tea: 1 });
  assert.equal(await nearest(parts, "a hot drink"), "tea");
  assert.deepEqual(await exported(folder), file);
});

test("of a file given twice in one change the last counts, and what both share is there", async () => {
  const folder = await newFolder();
  const section = (word: string) => `# ${word}\n\n${`All about ${word}. `.repeat(90)}\n\n`;
  const file = (words: string[]) => ({
    path: "docs/x.md",
    bytes: new TextEncoder().encode(words.map(section).join("")),
  });
  const text = { id: "a", text: "Nothing but the same words." };

  const report = await change(folder, {
    adds: [file(["Tea", "Trains"]), { ...text, metadata: { year: 1 } }, file(["Tea", "Trains", "Boats"])],
  });
  const again = await change(folder, {
    adds: [{ ...text, metadata: { year: 2 } }, { ...text, metadata: { year: 3 } }],
  });

  const parts = await folderParts(folder);
  assert.deepEqual([report.added, again.replaced, again.embedded], [2, 1, 0]);
  assert.equal(await nearest(parts, "boats"), "docs/x.md");
  assert.deepEqual(parts.catalogue.document(0).metadata, { year: 3 });
});

test("nothing of what was removed is in an exported file", async () => {
  const folder = await newFolder();
  const adds = Array.from({ length: 20 }, (_, n) => ({ id: `text ${n}`, text: `Number ${n} of many.` }));
  await change(folder, { adds });
  await change(folder, { removes: adds.slice(1).map(({ id }) => id) });

  const parts = await fileParts(await exported(folder));

  assert.ok(parts.engine);
  assert.equal(parts.engine.sectionAt(SECTIONS.deleted), null);
  assert.equal(parts.engine.sectionAt(SECTIONS.codes)?.length, 24);
  assert.equal(await nearest(parts, "number"), "text 0");
});

test("no folder of a machine is in an exported file", async () => {
  const folder = await newFolder();
  await change(folder, { adds: ["x", "y"].map((name) => file(`docs/${name}.md`, `Words of ${name}.`)) });
  const parts = await folderParts(folder);
  const { catalogue } = parts;
  const elsewhere = travelCatalogue(CHUNKS, catalogue, [0, 1], (root) => (root === "docs" ? "/home/ada/work/docs" : root));
  const model = { ...parts.manifest.model, name: "C:\\Users\\ada\\model" };
  const followed = {
    ...parts,
    manifest: { ...parts.manifest, model, roots: ["/home/ada/work/docs"] },
    origin: elsewhere.origin,
  };

  const whole = new Uint8Array(await (await exportFile(followed, EXPORT)).arrayBuffer());

  const found = await fileParts(whole);
  assert.deepEqual(found.catalogue.paths, ["docs/x.md", "docs/y.md"]);
  assert.deepEqual([found.manifest.model.name, found.manifest.roots], ["model", []]);
  assert.ok(!Buffer.from(whole).includes("ada"));
});

test("an export lets others run, and ends when it is cancelled", async (context) => {
  const folder = await newFolder();
  await change(folder, { adds: TEXTS });
  let now = 0;
  context.mock.method(performance, "now", () => (now += 1000)); // each step takes long
  const parts = await folderParts(folder);
  const stop = new AbortController();
  setTimeout(() => stop.abort()); // as a message that comes meanwhile

  await assert.rejects(exportFile(parts, { ...EXPORT, signal: stop.signal }), { reason: "Cancelled" });
});

function file(path: string, text: string): { path: string; bytes: Uint8Array } {
  return { path, bytes: new TextEncoder().encode(text) };
}
