import assert from "node:assert/strict";
import test from "node:test";

import { openEngineParts, partsOfFolder, type IndexParts } from "../src/format/parts.ts";
import type { Progress } from "../src/records.ts";
import { makeDisk, memoryStorage, type MemoryDisk } from "../src/storage/memory.ts";
import { Passages } from "../src/query/passages.ts";
import type { Folder } from "../src/storage/storage.ts";
import {
  applyChange,
  type Change,
  type ChangeReport,
  type ChangeTools,
  type Input,
} from "../src/update/change.ts";
import { codeOf, codesIn, fakeEmbedder, fakeEngine, type FakeEmbedder } from "./update_fakes.ts";
import { snapshotOf } from "./snapshots.ts";
import { CHUNKS, folderParts, READERS } from "./cores.ts";

const TOOLS = { builder: async () => fakeEngine(), chunks: async () => CHUNKS, pack: new Uint8Array() };

interface Bench {
  readonly disk: MemoryDisk;
  readonly folder: Folder;
  readonly embedder: FakeEmbedder;
  change(change: Change, rest?: Partial<ChangeTools>): Promise<ChangeReport>;
}

async function bench(): Promise<Bench> {
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("notes");
  const embedder = fakeEmbedder();
  const tools = { folder, embedder, ...TOOLS };
  const change: Bench["change"] = (wanted, rest) => applyChange(null, wanted, { ...tools, ...rest });
  return { disk, folder, embedder, change };
}

/** What can be found: the text of each chunk as it was embedded, by id; codes must fit the texts. */
async function contentOf(folder: Folder): Promise<Map<number, string>> {
  const parts = await folderParts(folder);
  const ids = [...parts.catalogue.chunkIds];
  const codes = await codesOf(parts);
  assert.deepEqual([...codes.keys()].sort((a, b) => a - b), ids);
  const snapshot = await snapshotOf(parts);
  const passages = await Passages.open(snapshot, ids);
  const found = new Map(ids.map((id) => [id, passages.get(id).embedded]));
  passages.close();
  for (const [id, text] of found) assert.deepEqual(codes.get(id), codeOf(text));
  await snapshot.close();
  return found;
}

async function codesOf(parts: IndexParts): Promise<Map<number, number[]>> {
  if (!parts.engine) return new Map();
  return codesIn(await openEngineParts(parts.engine, { withVectors: true }));
}

function file(path: string, text: string | Uint8Array, mtime = 0): Input {
  return { path, bytes: typeof text === "string" ? new TextEncoder().encode(text) : text, mtime };
}

function copyOf(disk: MemoryDisk): [string, Uint8Array][] {
  return [...(disk.folders.get("notes") ?? [])].filter(([name]) => /^(vec|cat|tex|man)/.test(name)).sort();
}

test("texts that are added can be read again", async () => {
  const { folder, change } = await bench();

  const texts = [{ id: "a", text: "hello there" }, { id: "b", text: "good bye", title: "End" }];

  const report = await change({ adds: texts });

  assert.deepEqual([...(await contentOf(folder)).values()], ["hello there", "End\ngood bye"]);
  assert.deepEqual(report, {
    added: 2,
    replaced: 0,
    unchanged: 0,
    removed: 0,
    failed: [],
    chunks: 2,
    embedded: 2,
    generation: 1,
  });
});

test("a text that is added again keeps its ids, and nothing is embedded or written", async () => {
  const { folder, disk, embedder, change } = await bench();
  await change({ adds: [{ id: "a", text: "hello", metadata: { year: 2024 } }] });
  const before = copyOf(disk);

  const report = await change({ adds: [{ id: "a", text: "hello", metadata: { year: 2024 } }] });

  assert.equal(report.unchanged, 1);
  assert.equal(report.generation, 1);
  assert.deepEqual(copyOf(disk), before);
  assert.deepEqual(embedder.texts, ["hello"]);
  assert.deepEqual([...(await contentOf(folder)).keys()], [1]);
});

test("a text with the same id takes the place of the old one, under new ids", async () => {
  const { folder, change } = await bench();
  await change({ adds: [{ id: "a", text: "old" }] });

  const report = await change({ adds: [{ id: "a", text: "new" }] });

  assert.equal(report.replaced, 1);
  assert.deepEqual([...(await contentOf(folder))], [[2, "new"]]);
});

test("chunks of a changed file that say the same are not embedded again", async () => {
  const { folder, embedder, change } = await bench();
  const sections = [..."abcdef"].map((mark) => `# ${mark}\n\n${`${mark} words here. `.repeat(12)}\n\n`);
  await change({ adds: [file("docs/x.md", sections.join(""))] });
  const before = embedder.texts.length;

  const longer = `${sections.join("")}# g\n\nmore ${"words ".repeat(50)}`;

  const report = await change({ adds: [file("docs/x.md", longer)] });

  assert.equal(report.replaced, 1);
  assert.ok(embedder.texts.length - before < before);
  await contentOf(folder);
});

test("what is removed is gone: texts by id, files by path, folders with all below", async () => {
  const { folder, change } = await bench();
  const files = [file("d/x.txt", "two"), file("d/e/y.txt", "three"), file("z.txt", "four")];
  await change({ adds: [{ id: "a", text: "one" }, ...files] });

  const report = await change({ removes: ["a", "d/e", "z.txt", "nothing"] });

  assert.equal(report.removed, 3);
  assert.deepEqual([...(await contentOf(folder)).values()], ["x.txt\ntwo"]);
});

test("an index of which all was removed is empty, and ids go on", async () => {
  const { folder, change } = await bench();
  await change({ adds: [{ id: "a", text: "one" }] });
  await change({ removes: ["a"] });
  const emptied = await contentOf(folder);

  await change({ adds: [{ id: "a", text: "one" }] });

  assert.equal(emptied.size, 0);
  assert.deepEqual([...(await contentOf(folder)).keys()], [2]);
});

test("no input at all makes an empty index", async () => {
  const { folder, change } = await bench();

  const report = await change({});

  assert.equal(report.generation, 1);
  assert.equal((await contentOf(folder)).size, 0);
});

test("one bad input is listed with its reason, and the others are in", async () => {
  const { folder, change } = await bench();
  const bad = { id: "c", text: "x", metadata: { when: null } } as unknown as Input;

  const report = await change({
    adds: [
      file("a/photo.png", new Uint8Array([1, 2, 3])),
      file("a/paper.pdf", "%PDF-1.7"),
      file("a/data", new Uint8Array(4000).map((_, i) => (i * 7) % 32)),
      file("a/empty.txt", ""),
      bad,
      file("a/good.txt", "fine"),
    ],
  });

  assert.deepEqual(report.failed.map(({ source, reason }) => [source, reason]), [
    ["a/photo.png", "LeftOut"],
    ["a/paper.pdf", "Unreadable"],
    ["a/data", "LeftOut"],
    ["a/empty.txt", "LeftOut"],
    ["c", "InvalidArgument"],
  ]);
  assert.deepEqual([...(await contentOf(folder)).values()], ["good.txt\nfine"]);
});

test("whatever is given for an input, the others are in", async () => {
  const { folder, change } = await bench();
  const bad: unknown[] = [
    null,
    undefined,
    7,
    {},
    { id: 1, text: "x" },
    { id: "m", text: "x", metadata: null },
    { id: "n", text: "x", metadata: { big: 1n } },
    { id: "o", text: "x", markup: 5 },
    { id: "p", text: "x", markup: null },
    { path: 5, bytes: new Uint8Array(3) },
    { path: "a/x.txt", bytes: "text" },
  ];
  for (const path of ["/home/ada/x.txt", "C:\\Users\\ada\\x.txt", "a/../../x.txt", "..", ""]) {
    bad.push(file(path, "words"));
  }

  const report = await change({ adds: [...(bad as Input[]), { id: "good", text: "fine" }] });

  assert.deepEqual(report.failed.map(({ reason }) => reason), bad.map(() => "InvalidArgument"));
  assert.deepEqual([...(await contentOf(folder)).values()], ["fine"]);
});

test("a file without a folder does not take the place of the text of that name", async () => {
  const { folder, change } = await bench();

  const report = await change({ adds: [{ id: "a.txt", text: "a text" }, file("a.txt", "a file")] });

  assert.equal(report.added, 2);
  assert.deepEqual([...(await contentOf(folder)).values()], ["a text", "a.txt\na file"]);
});

test("a file that became unreadable is no longer found", async () => {
  const { folder, change } = await bench();
  await change({ adds: [file("a/x.txt", "words")] });

  const report = await change({ adds: [file("a/x.txt", new Uint8Array(3000).fill(1))] });

  assert.equal(report.failed.length, 1);
  assert.equal((await contentOf(folder)).size, 0);
});

test("of ids given twice in one call the last counts", async () => {
  const { folder, change } = await bench();

  const report = await change({
    adds: [
      { id: "a", text: "first" },
      { id: "b", text: "other" },
      { id: "a", text: "second" },
      { id: "a", text: "second" },
      { id: "b", text: "last" },
    ],
  });

  assert.deepEqual([...(await contentOf(folder)).values()].sort(), ["last", "second"]);
  assert.equal(report.added, 2);
  assert.equal(report.chunks, 2);
});

test("a huge line is cut and all of it is found", async () => {
  const { folder, change } = await bench();
  const line = "word ".repeat(60_000);

  await change({ adds: [file("a/line.txt", line)] });

  const bodies = [...(await contentOf(folder)).values()].map((text) => text.replace("line.txt\n", ""));
  assert.equal(bodies.join("").replaceAll(" ", ""), line.replaceAll(" ", ""));
});

test("five thousand small texts go in, streaming", async () => {
  const { folder, change } = await bench();
  async function* texts(): AsyncGenerator<Input> {
    for (let n = 0; n < 5000; n += 1) yield { id: `text ${n}`, text: `number ${n} of many` };
  }

  const report = await change({ adds: texts() });

  assert.equal(report.added, 5000);
  assert.equal((await contentOf(folder)).size, 5000);
});

test("within a large text it is said how many of its chunks are embedded", async () => {
  const { change } = await bench();
  const told: Progress[] = [];
  const adds = [{ id: "a", text: "Whales eat krill. ".repeat(20_000) }];
  const report = await change({ adds, total: 1 }, { onProgress: (progress) => void told.push(progress) });
  const embedding = told.filter(({ phase }) => phase === "embedding");

  assert.deepEqual(told[0], { phase: "reading", done: 0, total: 1 });
  assert.ok(embedding.length > 1);
  assert.ok(embedding.every(({ total }) => total === report.chunks));
});

for (const phase of ["reading", "embedding", "writing"]) {
  test(`a change that is cancelled while ${phase} leaves the old snapshot`, async () => {
    const { folder, disk, change } = await bench();
    await change({ adds: [{ id: "old", text: "stays" }] });
    const before = copyOf(disk);
    const stop = new AbortController();
    const many = Array.from({ length: 200 }, (_, n) => ({ id: `new ${n}`, text: `number ${n}` }));
    const onProgress = (progress: { phase: string }): void => {
      if (progress.phase === phase) stop.abort();
    };

    const changed = change({ adds: many, removes: ["old"] }, { signal: stop.signal, onProgress });

    await assert.rejects(changed, { reason: "Cancelled" });
    assert.deepEqual(copyOf(disk), before);
    assert.deepEqual([...(await contentOf(folder)).values()], ["stays"]);
  });
}

test("wherever storage gets full, the old snapshot stays and can be changed later", async () => {
  const probe = await bench();
  await probe.change({ adds: [{ id: "old", text: "stays" }] });
  const used = (disk: MemoryDisk): number => copyOf(disk).reduce((sum, [, bytes]) => sum + bytes.length, 0);
  const least = used(probe.disk);
  const filler = "x".repeat(100);
  const adds = Array.from({ length: 30 }, (_, n) => ({ id: `new ${n}`, text: `number ${n} ${filler}` }));
  let failures = 0;
  for (let room = 0; room < 40_000; room += 197) {
    const { folder, disk, change } = await bench();
    await change({ adds: [{ id: "old", text: "stays" }] });
    disk.capacity = least + room;

    const outcome = await change({ adds }).catch((error: { reason: string }) => error.reason);

    if (typeof outcome !== "string") break;
    failures += 1;
    assert.equal(outcome, "Unwritable");
    assert.deepEqual([...(await contentOf(folder)).values()], ["stays"]);
    disk.capacity = Infinity;
    await change({ adds });
    assert.equal((await contentOf(folder)).size, 31);
  }
  assert.ok(failures > 10);
});

test("a page that is killed at any byte leaves the old snapshot or the new one, whole", async () => {
  const adds = Array.from({ length: 20 }, (_, n) => ({ id: `new ${n}`, text: `number ${n}` }));
  const seen = new Set<number>();
  for (let bytes = 0; bytes < 12_000; bytes += 211) {
    const { folder, disk, change } = await bench();
    await change({ adds: [{ id: "old", text: "stays" }] });
    disk.bytesUntilCut = bytes;
    await change({ adds }).catch(() => {});
    disk.bytesUntilCut = Infinity;

    seen.add((await contentOf(folder)).size);

    await change({ adds });
    assert.equal((await contentOf(folder)).size, 21);
  }
  assert.deepEqual([...seen].sort(), [1, 21]);
});

test("files that a killed page left are removed by the next change", async () => {
  const { folder, change } = await bench();
  await change({ adds: [{ id: "a", text: "one" }] });
  const left = await folder.create("texts-90.gst");
  await left.write(new Uint8Array(10));
  await left.close();
  const other = await folder.create("follow.json");
  await other.close();

  await change({ adds: [{ id: "b", text: "two" }] });

  const names = (await folder.files()).map(({ name }) => name);
  assert.ok(!names.includes("texts-90.gst"));
  assert.ok(names.includes("follow.json"));
});

test("many small changes do not leave many segments", async () => {
  const { folder, change } = await bench();

  for (let n = 0; n < 20; n += 1) await change({ adds: [{ id: `text ${n}`, text: `number ${n}` }] });

  const segments = (await folder.files()).filter(({ name }) => name.startsWith("segment-"));
  assert.ok(segments.length <= 12);
  assert.equal((await contentOf(folder)).size, 20);
});

test("an index that was closed holds no file open, whatever was under way", async () => {
  const { folder, change } = await bench();
  await change({ adds: [{ id: "a", text: "one" }] });
  const open = new Set<string>();
  const counted: Folder = {
    ...folder,
    open: async (name) => {
      const source = await folder.open(name);
      open.add(name);
      return { ...source, close: () => void open.delete(name) };
    },
  };
  const parts = await folderParts(counted);
  const { segment } = parts.catalogue.document(0);
  const whileOpen = [...open].map((name) => name.split("-")[0]);

  const reading = parts.texts.read(segment, 0, 3);
  parts.close();

  await reading.catch(() => undefined); // it may have been quick enough
  assert.deepEqual(whileOpen.sort(), ["segment", "vectors"]);
  assert.deepEqual([...open], []);
});

test("a second change at the same time is refused", async () => {
  const { change } = await bench();
  const first = change({ adds: [{ id: "a", text: "one" }] });

  await assert.rejects(change({ adds: [{ id: "b", text: "two" }] }), { reason: "Locked" });

  await first;
});

test("another model is refused", async () => {
  const { change } = await bench();
  await change({ adds: [{ id: "a", text: "one" }] });

  const changed = change({ adds: [{ id: "b", text: "two" }] }, { embedder: fakeEmbedder("other") });

  await assert.rejects(changed, { reason: "ModelMismatch" });
});

test("an open index whose storage was cleared is not made anew", async () => {
  const { folder, disk, embedder, change } = await bench();
  await change({ adds: [{ id: "a", text: "one" }] });
  const snapshot = await partsOfFolder(folder, READERS);
  disk.folders.get("notes")?.clear();

  const tools = { folder, embedder, ...TOOLS };
  const changed = applyChange(snapshot, {}, tools);

  await assert.rejects(changed, { reason: "NoIndex" });
});

test("a file with another time and the same content is touched, not embedded", async () => {
  const { folder, embedder, change } = await bench();
  await change({ adds: [file("a/x.txt", "words", 1000)] });

  const report = await change({ adds: [file("a/x.txt", "words", 2000)] });

  const parts = await folderParts(folder);
  assert.equal(report.unchanged, 1);
  assert.equal(embedder.texts.length, 1);
  assert.equal(parts.catalogue.source(0).mtimeNs, 2_000_000_000n);
});
