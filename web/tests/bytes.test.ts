import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { blobSource } from "../src/bytes/blob.ts";
import { memorySource } from "../src/bytes/memory.ts";
import { mergeRanges } from "../src/bytes/ranges.ts";
import { openRemote, type RemoteOptions } from "../src/bytes/remote.ts";
import { type Host, serve, someBytes } from "./bytes_host.ts";

const CONTENT = someBytes(300_000);
const HEAD = 65_536;
const hosts: Host[] = [];
const options: RemoteOptions = { delay: async () => {} };

async function start(content = CONTENT): Promise<Host> {
  const host = await serve(content);
  hosts.push(host);
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

test("bytes in memory are read by promises and at once, and no further than they go", async () => {
  const source = memorySource(CONTENT);
  const into = new Uint8Array(5);

  source.readNow?.(7, into);

  assert.deepEqual(into, CONTENT.slice(7, 12));
  assert.deepEqual(await source.read(100, 4), CONTENT.slice(100, 104));
  await assert.rejects(source.read(CONTENT.length - 1, 2), { reason: "Truncated" });
  await assert.rejects(source.read(-1, 2), { reason: "InvalidArgument" });
});

test("a blob gives ranges in the order they are asked for", async () => {
  const source = blobSource(new Blob([CONTENT as Uint8Array<ArrayBuffer>]));

  const [late, early] = await (source.readMany?.([{ at: 200_000, length: 3 }, { at: 5, length: 2 }]) ?? []);

  assert.deepEqual(late, CONTENT.slice(200_000, 200_003));
  assert.deepEqual(early, CONTENT.slice(5, 7));
  await assert.rejects(source.read(0, CONTENT.length + 1), { reason: "Truncated" });
});

test("ranges close together are one, those far apart or too long together are not", () => {
  const ranges = [
    { at: 100, length: 10 },
    { at: 0, length: 10 },
    { at: 15, length: 5 },
    { at: 0, length: 40 },
  ];

  assert.deepEqual(mergeRanges(ranges, 5), [
    { at: 0, length: 40, members: [1, 3, 2] },
    { at: 100, length: 10, members: [0] },
  ]);
  assert.equal(mergeRanges(ranges, 1000).length, 1);
  assert.equal(mergeRanges(ranges, 1000, 50).length, 2);
});

test("one request opens a remote file and gives its head", async () => {
  const host = await start();

  const source = await openRemote(host.url, options);

  assert.equal(source.size, CONTENT.length);
  assert.match(source.etag, /^"[0-9a-f]{16}"$/);
  assert.deepEqual(await source.read(10, 1000), CONTENT.slice(10, 1010));
  assert.deepEqual(host.asked, [`bytes=0-${HEAD - 1}`]);
  assert.equal(source.requests, 1);
  assert.equal(source.bytesFetched, HEAD);
});

test("later requests name the version, and ranges close together are fetched as one", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);

  const found = await source.readMany?.([
    { at: 200_000, length: 10 },
    { at: 100_000, length: 10 },
    { at: 100_500, length: 10 },
    { at: 5, length: 0 },
  ]);

  assert.deepEqual(found?.map((bytes) => bytes.slice()), [
    CONTENT.slice(200_000, 200_010),
    CONTENT.slice(100_000, 100_010),
    CONTENT.slice(100_500, 100_510),
    new Uint8Array(0),
  ]);
  assert.deepEqual(host.asked.slice(1).sort(), ["bytes=100000-100509", "bytes=200000-200009"]);
  assert.deepEqual(host.ifRange, ["", source.etag, source.etag]);
  assert.equal(source.bytesFetched, HEAD + 510 + 10);
});

test("no more than six requests are under way at once", async () => {
  const host = await start();
  let underWay = 0;
  let most = 0;
  const counting: typeof fetch = async (address, init) => {
    underWay += 1;
    most = Math.max(most, underWay);
    return fetch(address, init).finally(() => {
      underWay -= 1;
    });
  };
  const source = await openRemote(host.url, { ...options, fetch: counting, gapBytes: 0 });
  const ranges = Array.from({ length: 40 }, (_, i) => ({ at: 70_000 + 5000 * i, length: 7 }));

  const found = await source.readMany?.(ranges);

  assert.equal(found?.length, 40);
  assert.deepEqual(found?.[39]?.slice(), CONTENT.slice(265_000, 265_007));
  assert.equal(most, 6);
});

test("a server without ranges gives the whole file once, and the console says so", async (context) => {
  const warn = context.mock.method(console, "warn", () => undefined);
  const host = await start();
  host.ranges = false;

  const source = await openRemote(host.url, options);

  assert.deepEqual(await source.read(250_000, 9), CONTENT.slice(250_000, 250_009));
  assert.equal(source.hasRanges, false);
  assert.equal(source.requests, 1);
  assert.deepEqual(source.notes, []); // its visitors can do nothing about it
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /no byte ranges: all 300000 bytes/);
});

test("a large file of a server without ranges is refused before it fills the memory", async () => {
  const host = await start();
  host.ranges = false;

  await assert.rejects(openRemote(host.url, { ...options, mostWholeBytes: 1000 }), { reason: "TooLarge" });
});

for (const [status, reason] of [
  [404, "NoIndex"],
  [401, "WrongState"],
  [403, "WrongState"],
  [500, "Unreachable"],
  [418, "Unreachable"],
] as const) {
  test(`status ${status} is ${reason}`, async () => {
    const host = await start();
    host.status = status;

    await assert.rejects(openRemote(host.url, options), { name: "GossamerError", reason });
  });
}

test("a server that fails twice is asked three times, after growing delays", async () => {
  const host = await start();
  const delays: number[] = [];
  const source = await openRemote(host.url, { delay: async (ms) => void delays.push(ms) });
  Object.assign(host, { status: 503, faults: 2 });

  assert.deepEqual(await source.read(90_000, 5), CONTENT.slice(90_000, 90_005));
  assert.deepEqual(delays, [200, 800]);
  assert.equal(source.requests, 4);
});

test("a file that the server is making is waited for, however often it says so, but not for ever", async () => {
  const host = await start();
  host.status = 202;
  host.faults = 7;
  const waits: number[] = [];
  const delay = async (ms: number) => void waits.push(ms);

  const remote = await openRemote(host.url, { delay });
  host.faults = Infinity;

  assert.equal(remote.size, CONTENT.length);
  assert.deepEqual(waits, Array(7).fill(1000));
  await assert.rejects(openRemote(host.url, { delay }), { reason: "Unreachable", message: /being made/ });
});

test("who reads a file is told that another one is being made, and does not wait for it", async () => {
  const host = await start();
  const source = await openRemote(host.url, { delay: () => assert.fail("nobody waits") });
  host.status = 202;

  await assert.rejects(source.read(100_000, 10), { reason: "Damaged", message: /another file now/ });
});

test("a connection cut in the middle of an answer is tried again", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  Object.assign(host, { cutAfter: 100, faults: 1 });

  assert.deepEqual(await source.read(90_000, 5000), CONTENT.slice(90_000, 95_000));
});

test("a server that is gone is Unreachable", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  await host.close();
  hosts.length = 0;

  await assert.rejects(source.read(90_000, 5), { reason: "Unreachable" });
});

test("a server that gives no more than so many bytes at a time is asked for the rest", async () => {
  const host = await start();
  host.most = 30_000;
  const source = await openRemote(host.url, options);

  const found = await source.read(20_000, 100_000);

  assert.deepEqual(found, CONTENT.subarray(20_000, 120_000));
  assert.equal(source.requests, 5);
});

test("a server that gives a byte at a time is not asked for ever", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  host.most = 1;

  await assert.rejects(source.read(90_000, 100_000), { reason: "Truncated" });
  assert.ok(host.asked.length < 200);
});

test("what an address says behind its path is in no message", async () => {
  const host = await start();
  host.status = 404;

  const opening = openRemote(`${host.url}?token=secret#part`, options);

  await assert.rejects(opening, (error: Error) => {
    assert.ok(error.message.includes(host.url) && !error.message.includes("secret"), error.message);
    return true;
  });
});

test("a server that always sends less than it was asked for is Truncated", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  host.sendsLess = 1;

  await assert.rejects(source.read(90_000, 5), { reason: "Truncated" });
});

test("a file that changed under its reader is Damaged, also if it is as long as before", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  host.content = someBytes(CONTENT.length, 2);

  await assert.rejects(source.read(90_000, 5), { reason: "Damaged" });

  const again = await openRemote(host.url, options);
  assert.deepEqual(await again.read(90_000, 5), host.content.slice(90_000, 90_005));
});

test("a file that shrank without a version is Damaged", async () => {
  const host = await start();
  host.etag = "";
  const source = await openRemote(host.url, options);
  host.content = CONTENT.slice(0, 80_000);

  await assert.rejects(source.read(90_000, 5), { reason: "Damaged" });
});

test("an empty file has no bytes", async () => {
  const host = await start(new Uint8Array(0));

  const source = await openRemote(host.url, options);

  assert.equal(source.size, 0);
  await assert.rejects(source.read(0, 1), { reason: "Truncated" });
});

test("what is compressed on the way is taken whole", async (context) => {
  const warn = context.mock.method(console, "warn", () => undefined);
  const gzipped = new Response(new Blob([CONTENT as Uint8Array<ArrayBuffer>]), {
    headers: { "content-encoding": "gzip", "content-length": "100" },
  });

  const source = await openRemote("http://host/a", { ...options, fetch: async () => gzipped });

  assert.equal(source.size, CONTENT.length);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /compresses/);
});

test("parts of compressed bytes are of no use: the whole file is asked for", async () => {
  const asked: (string | null)[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    asked.push(new Headers(init?.headers).get("range"));
    const isPart = asked.length === 1;
    const headers = { "content-encoding": "gzip", "content-range": "bytes 0-9/100" };
    return isPart ? new Response("0123456789", { status: 206, headers }) : new Response("the file");
  };

  const source = await openRemote("http://host/a", { ...options, fetch });

  assert.deepEqual(asked, ["bytes=0-65535", null]);
  assert.equal(source.size, 8);
});

test("a server of another origin that hides where a part lies is asked for the size", async () => {
  const fetch = async (_: unknown, init?: RequestInit) =>
    init?.method === "HEAD"
      ? new Response(null, { headers: { "content-length": "100000" } })
      : new Response("x".repeat(65_536), { status: 206 });

  const source = await openRemote("http://host/a", { ...options, fetch });

  assert.equal(source.size, 100_000);
});

for (const said of ["bytes 5-9/100", "bytes 0-99999/100", "bytes 0-9/99999999999999999999", "nonsense"]) {
  test(`a part that says it lies at "${said}" is refused`, async () => {
    const headers = { "content-range": said };
    const fetch = async () => new Response("0123456789", { status: 206, headers });

    await assert.rejects(openRemote("http://host/a", { ...options, fetch }), { reason: "Unreachable" });
  });
}

test("more bytes than announced are refused", async () => {
  const headers = { "content-range": "bytes 0-4/5" };
  const fetch = async () => new Response("far more than five", { status: 206, headers });

  await assert.rejects(openRemote("http://host/a", { ...options, fetch }), { reason: "Unreachable" });
});

test("a server that says nothing at all is Unreachable, not waited for", async () => {
  const fetch = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });

  const opening = openRemote("http://host/a", { ...options, fetch, silenceMs: 1 });

  await assert.rejects(opening, { reason: "Unreachable", message: /nothing came/ });
});

test("a read that is aborted is Cancelled, and the next one works", async () => {
  const host = await start();
  const source = await openRemote(host.url, options);
  const abort = new AbortController();
  const reading = source.read(90_000, 5, abort.signal);
  abort.abort();

  await assert.rejects(reading, { reason: "Cancelled" });
  assert.deepEqual(await source.read(90_000, 5), CONTENT.slice(90_000, 90_005));
});

test("an aborted read does not wait for the next try", async () => {
  const host = await start();
  const abort = new AbortController();
  const delay = () => {
    abort.abort();
    return new Promise<void>(() => {});
  };
  const source = await openRemote(host.url, { delay });
  host.status = 500;

  await assert.rejects(source.read(90_000, 5, abort.signal), { reason: "Cancelled" });
});

test("what is no address of HTTP is InvalidArgument", async () => {
  await assert.rejects(openRemote("file:///etc/passwd", options), { reason: "InvalidArgument" });
  await assert.rejects(openRemote("nonsense", options), { reason: "InvalidArgument" });
});
