import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { type CacheOptions, openCached } from "../src/storage/cached.ts";
import type { RemoteOptions } from "../src/bytes/remote.ts";
import { makeDisk, memoryStorage } from "../src/storage/memory.ts";
import type { Folder } from "../src/storage/storage.ts";
import { type Host, serve, someBytes } from "./bytes_host.ts";

const CONTENT = someBytes(300_001);
const hosts: Host[] = [];
const options: RemoteOptions & CacheOptions = { delay: async () => {}, flushBytes: 1e9, blockBytes: 4096 };

async function start(): Promise<Host> {
  const host = await serve(CONTENT);
  hosts.push(host);
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

const newFolder = () => memoryStorage().folder("kept");

/** Reads some of the file once and keeps it. */
async function touch(host: Host, folder: Folder): Promise<void> {
  const source = await openCached(host.url, folder, options);
  await source.read(100_000, 50);
  await source.read(299_000, 1001);
  await source.flush();
  source.close();
}

test("what was touched is read from storage the next time", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);

  const source = await openCached(host.url, folder, options);

  assert.deepEqual(await source.read(100_010, 20), CONTENT.slice(100_010, 100_030));
  assert.deepEqual(await source.read(299_500, 501), CONTENT.slice(299_500));
  assert.equal(source.bytesFetched, 2);
  assert.equal(source.requests, 1);
  assert.ok(source.bytesFromStorage > 0);
});

for (const modified of ["", "Thu, 19 Nov 2026 12:00:00 GMT"]) {
  test(`a host without ranges gives a file once, then says that it is the same (${modified || "ETag"})`, async (context) => {
    context.mock.method(console, "warn", () => undefined);
    const host = await start();
    Object.assign(host, { ranges: false, modified, etag: modified ? "" : null });
    const folder = await newFolder();
    await keepWhole(host, folder);

    const source = await openCached(host.url, folder, options);

    assert.deepEqual(await source.read(0, CONTENT.length), CONTENT);
    assert.equal(source.bytesFetched, 0);
    assert.deepEqual(host.statuses, [200, 304]);
    assert.deepEqual(source.notes, []);
  });
}

test("another file on a host without ranges is fetched, and takes the place of the one before", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const host = await start();
  host.ranges = false;
  const folder = await newFolder();
  await keepWhole(host, folder);
  host.content = someBytes(300_001, 2);

  await keepWhole(host, folder);
  const source = await openCached(host.url, folder, options);

  assert.deepEqual(await source.read(0, 300_001), host.content);
  assert.deepEqual(host.statuses, [200, 200, 200, 304]);
  assert.equal((await folder.files()).length, 1);
});

test("what storage has lost of a file that was kept whole is fetched again", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const host = await start();
  host.ranges = false;
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("kept");
  await keepWhole(host, folder);
  const source = await openCached(host.url, folder, options);
  disk.folders.clear();

  assert.deepEqual(await source.read(100_000, 50), CONTENT.slice(100_000, 100_050));
});

/** Opens a file of a host without ranges, and waits until it is kept. */
async function keepWhole(host: Host, folder: Folder): Promise<void> {
  const source = await openCached(host.url, folder, options);
  await source.flush();
  for (let tries = 0; tries < 50 && (await folder.files()).length === 0; tries++) await source.flush();
  source.close();
  await source.flush();
}

test("ranges across kept, new and fetched blocks come out right", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);
  const source = await openCached(host.url, folder, options);
  await source.read(110_000, 10);

  const ranges = [{ at: 90_000, length: 30_000 }, { at: 0, length: 5 }, { at: 298_000, length: 2001 }];
  const found = (await source.readMany?.(ranges)) ?? [];

  for (const [i, { at, length }] of ranges.entries()) {
    assert.deepEqual(found[i], CONTENT.slice(at, at + length));
  }
});

test("without a network what is kept is used, and what is not is Unreachable", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);
  await host.close();

  const source = await openCached(host.url, folder, options);

  assert.deepEqual(await source.read(100_010, 20), CONTENT.slice(100_010, 100_030));
  await assert.rejects(source.read(200_000, 5), { reason: "Unreachable" });
  assert.match(source.notes.join(), /does not answer/);
});

test("a server that comes back is used again", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);
  host.status = 500;
  const source = await openCached(host.url, folder, options);
  host.status = 0;

  assert.deepEqual(await source.read(200_000, 5), CONTENT.slice(200_000, 200_005));
});

test("a server that comes back with another file is Damaged: nothing is mixed", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);
  host.status = 500;
  const source = await openCached(host.url, folder, options);
  Object.assign(host, { status: 0, content: someBytes(300_001, 2) });

  await assert.rejects(source.read(200_000, 5), { reason: "Damaged" });
});

test("another version of the file starts anew and the old one goes", async () => {
  const host = await start();
  const folder = await newFolder();
  await touch(host, folder);
  host.content = someBytes(300_001, 2);

  const source = await openCached(host.url, folder, options);
  const bytes = await source.read(100_000, 50);
  await source.flush();

  assert.deepEqual(bytes, host.content.slice(100_000, 100_050));
  assert.equal((await folder.files()).length, 1);
  const again = await openCached(host.url, folder, options);
  assert.deepEqual(await again.read(100_000, 50), bytes);
  assert.equal(again.bytesFetched, 2);
});

test("storage that was cleared while the file is open is fetched again", async () => {
  const host = await start();
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("kept");
  await touch(host, folder);
  disk.folders.clear();

  const source = await openCached(host.url, folder, options);
  const bytes = await source.read(100_010, 20);
  await source.flush();

  assert.deepEqual(bytes, CONTENT.slice(100_010, 100_030));
  assert.match(source.notes.join(), /nothing more is kept/);
});

test("full storage does not fail a read: the notes say that nothing more is kept", async () => {
  const host = await start();
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("kept");
  await touch(host, folder);
  disk.capacity = 20_000;

  const source = await openCached(host.url, folder, options);
  await source.read(200_000, 5000);
  await source.flush();

  assert.deepEqual(await source.read(200_000, 9), CONTENT.slice(200_000, 200_009));
  assert.deepEqual(await source.read(100_010, 20), CONTENT.slice(100_010, 100_030));
  assert.match(source.notes.join(), /storage is full/);
});

test("a block that is damaged in storage is noticed and fetched again", async () => {
  const host = await start();
  const disk = makeDisk();
  const folder = await memoryStorage(disk).folder("kept");
  await touch(host, folder);
  const file = disk.folders.get("kept")?.get("kept-1.gsb") as Uint8Array;
  file[file.length - 500] = (file[file.length - 500] as number) ^ 1;

  const source = await openCached(host.url, folder, options);

  assert.deepEqual(await source.read(299_000, 1001), CONTENT.slice(299_000));
  assert.equal(source.bytesFetched, 2 + (300_001 % 4096)); // the last block
});

test("a file of blocks that was cut anywhere is never believed", async () => {
  const host = await start();
  const disk = makeDisk();
  disk.canRename = false;
  const folder = await memoryStorage(disk).folder("kept");
  await touch(host, folder);
  const files = disk.folders.get("kept") as Map<string, Uint8Array>;
  const whole = files.get("kept-1.gsb") as Uint8Array;

  for (const length of [0, 7, 35, 36, 60, 100, whole.length - 4096, whole.length - 1]) {
    files.set("kept-1.gsb", whole.slice(0, length));
    const source = await openCached(host.url, folder, options);
    assert.deepEqual(await source.read(100_000, 50), CONTENT.slice(100_000, 100_050));
    assert.equal(source.bytesFromStorage, 0);
    await source.flush();
    assert.equal((await folder.files()).length, 1, "the torn file goes");
  }
});

test("many small flushes leave few files", async () => {
  const host = await start();
  const folder = await newFolder();
  const source = await openCached(host.url, folder, options);

  for (let at = 70_000; at < 290_000; at += 4096) {
    await source.read(at, 10);
    await source.flush();
  }

  assert.ok((await folder.files()).length <= 6, `${(await folder.files()).length}`);
  source.close();
  const again = await openCached(host.url, folder, options);
  assert.deepEqual(await again.read(70_000, 200_000), CONTENT.slice(70_000, 270_000));
  assert.equal(again.bytesFetched, 2);
});

test("while another tab writes nothing is written, and what was fetched is kept later", async () => {
  const host = await start();
  const folder = await newFolder();
  const source = await openCached(host.url, folder, options);
  await source.read(100_000, 50);

  await folder.whileWriting(() => source.flush());
  assert.deepEqual(await folder.files(), []);
  await source.flush();

  assert.equal((await folder.files()).length, 1);
  assert.deepEqual(source.notes, []);
});

test("a file without a version is not kept, and the notes say so", async () => {
  const host = await start();
  host.etag = "";
  const folder = await newFolder();
  await touch(host, folder);

  const source = await openCached(host.url, folder, options);

  assert.deepEqual(await folder.files(), []);
  assert.match(source.notes.join(), /nothing is kept/);
});
