import assert from "node:assert/strict";
import { test } from "node:test";

import { whileLocked } from "../src/storage/locks.ts";
import { makeDisk, memoryStorage } from "../src/storage/memory.ts";
import { folderNameOf, nameOfFolder } from "../src/storage/names.ts";
import { openStorage } from "../src/storage/open.ts";
import { decodeSlot, encodeSlot } from "../src/storage/slots.ts";
import type { Folder } from "../src/storage/storage.ts";
import { removeUnnamed } from "../src/update/files.ts";
import { someBytes } from "./bytes_host.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes);

async function write(folder: Folder, file: string, bytes: Uint8Array): Promise<void> {
  const sink = await folder.create(file);
  await sink.write(bytes);
  await sink.close();
}

async function read(folder: Folder, file: string): Promise<Uint8Array> {
  const source = await folder.open(file);
  return source.read(0, source.size);
}

const NAMES = ["notes", "Notes", "../../etc/passwd", "a/b\\c", "日本語", "📚", ".", "..", "nul\0", " "];

test("any name becomes a folder of safe letters, another for each, and back", () => {
  const folders = NAMES.map(folderNameOf);

  for (const folder of folders) assert.match(folder, /^[a-z0-9_=-]+$/);
  assert.equal(new Set(folders.map((folder) => folder.toLowerCase())).size, NAMES.length);
  assert.deepEqual(folders.map(nameOfFolder), NAMES);
});

test("long names are cut, another for each", () => {
  const one = folderNameOf("語".repeat(200));
  const other = folderNameOf(`${"語".repeat(199)}話`);

  assert.ok(one.length < 120);
  assert.notEqual(one, other);
  assert.equal(nameOfFolder(one), null);
});

for (const name of ["", "a".repeat(201), "\ud800"]) {
  test(`the name ${JSON.stringify(name.slice(0, 8))} of ${name.length} letters is refused`, () => {
    assert.throws(() => folderNameOf(name), { reason: "InvalidArgument" });
  });
}

for (const file of ["", "../x", "a/b", ".hidden", "manifest", "manifest-slot-0", "a..b", "a".repeat(101)]) {
  test(`no file is called "${file.slice(0, 20)}"`, async () => {
    const folder = await memoryStorage().folder("a");

    await assert.rejects(folder.create(file), { reason: "InvalidArgument" });
    await assert.rejects(folder.open(file), { reason: "InvalidArgument" });
  });
}

test("files are written, listed, read and removed", async () => {
  const storage = memoryStorage();
  const folder = await storage.folder("an index");
  const bytes = someBytes(1000);

  await write(folder, "vectors-1.gsm", bytes);
  await folder.writeManifest(bytesOf("one"));

  assert.deepEqual(await folder.files(), [{ name: "vectors-1.gsm", size: 1000 }]);
  assert.deepEqual(await read(folder, "vectors-1.gsm"), bytes);
  assert.deepEqual(await storage.names(), ["an index"]);
  await folder.removeFile("vectors-1.gsm");
  await assert.rejects(folder.open("vectors-1.gsm"), { reason: "NoIndex" });
  await storage.remove("an index");
  assert.deepEqual(await storage.names(), []);
});

test("a folder without a manifest gives none", async () => {
  assert.equal(await (await memoryStorage().folder("a")).readManifest(), null);
});

test("an abandoned file leaves nothing, and the one before it stays", async () => {
  const folder = await memoryStorage().folder("a");
  await write(folder, "a.gsm", bytesOf("before"));

  const sink = await folder.create("a.gsm");
  await sink.write(bytesOf("after"));
  await sink.abandon();

  assert.deepEqual(await folder.files(), [{ name: "a.gsm", size: 6 }]);
  assert.equal(textOf(await read(folder, "a.gsm")), "before");
});

for (const canRename of [true, false]) {
  test(`a page that dies at any byte of a commit leaves a whole manifest (rename ${canRename})`, async () => {
    const length = 40;
    for (let cut = 0; cut <= length + 1; ++cut) {
      const disk = { ...makeDisk(), canRename };
      const folder = await memoryStorage(disk).folder("a");
      for (const text of ["first", "second", "third"]) await folder.writeManifest(bytesOf(text));
      disk.bytesUntilCut = cut;
      const writing = folder.writeManifest(bytesOf("fourth".padEnd(length - 24)));
      const isDone = await writing.then(() => true).catch(() => false);
      disk.bytesUntilCut = Infinity;

      const found = textOf(await (await memoryStorage(disk).folder("a")).readManifest())?.trim();

      assert.ok(found === "fourth" || (found === "third" && !isDone), `${cut}: ${found}`);
      await folder.writeManifest(bytesOf("fifth"));
      assert.equal(textOf(await folder.readManifest()), "fifth");
    }
  });
}

test("a slot with any byte changed, or cut, holds nothing", () => {
  const slot = encodeSlot(7, bytesOf("manifest"));

  assert.equal(textOf(decodeSlot(slot)?.manifest ?? null), "manifest");
  for (let at = 0; at < slot.length; ++at) {
    const changed = slot.slice();
    changed[at] = (changed[at] as number) ^ 4;
    assert.equal(decodeSlot(changed), null);
    assert.equal(decodeSlot(slot.subarray(0, at)), null);
  }
});

test("full storage is Unwritable, says how much there is, and loses nothing", async () => {
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("a");
  await write(folder, "a.gsm", bytesOf("before"));
  await folder.writeManifest(bytesOf("one"));
  disk.capacity = 60;

  const expected = { reason: "Unwritable", message: /100 bytes were to be written, .* 27 free/ };
  await assert.rejects(write(folder, "a.gsm", someBytes(100)), expected);
  await assert.rejects(folder.writeManifest(someBytes(100)), { reason: "Unwritable" });

  assert.equal(textOf(await read(folder, "a.gsm")), "before");
  assert.equal(textOf(await folder.readManifest()), "one");
  assert.deepEqual(await folder.files(), [{ name: "a.gsm", size: 6 }]);
});

test("storage that was cleared is NoIndex", async () => {
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("a");
  const sink = await folder.create("a.gsm");
  disk.folders.clear();

  await assert.rejects(sink.write(bytesOf("x")), { reason: "NoIndex" });
  await assert.rejects(folder.open("b.gsm"), { reason: "NoIndex" });
  assert.equal(await folder.readManifest(), null);
});

test("what a killed tab left is removed by the next writer", async () => {
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("a");
  await write(folder, "vectors-1.gsm", bytesOf("named"));
  await write(folder, "vectors-2.gsm", bytesOf("not named"));
  await folder.create("texts-3.gst");
  await folder.writeManifest(bytesOf("one"));

  const named = [{ name: "vectors-1.gsm", size: 0, digest: "" }];
  await folder.whileWriting(() => removeUnnamed(folder, named));

  assert.deepEqual((await folder.files()).map((file) => file.name), ["vectors-1.gsm"]);
  assert.equal(textOf(await folder.readManifest()), "one");
});

test("a second writer is Locked, or waits until the first is done", async () => {
  const folder = await memoryStorage().folder("a");
  const order: string[] = [];
  let release = () => {};
  const first = folder.whileWriting(async () => {
    await new Promise<void>((go) => {
      release = go;
    });
    order.push("first");
  });

  await assert.rejects(folder.whileWriting(async () => {}), { reason: "Locked" });
  const second = folder.whileWriting(async () => void order.push("second"), true);
  release();
  await Promise.all([first, second]);

  assert.deepEqual(order, ["first", "second"]);
});

test("a writer that fails lets the next one in", async () => {
  const failing = whileLocked("a lock", "a", false, () => Promise.reject(new Error("broken")));

  await assert.rejects(failing, /broken/);
  assert.equal(await whileLocked("a lock", "a", false, async () => 3), 3);
});

test("without storage of a browser there is memory; what is asked for by name is Unavailable", async () => {
  assert.equal((await openStorage()).kind, "memory");
  await assert.rejects(openStorage("opfs"), { reason: "Unavailable" });
  await assert.rejects(openStorage("indexeddb"), { reason: "Unavailable" });
});
