import assert from "node:assert/strict";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import { start } from "../src/index.ts";
import type { Progress } from "../src/records.ts";
import { connect } from "../src/worker/client.ts";
import type { Client, WorkerLike } from "../src/worker/client.ts";
import type { Handlers } from "../src/worker/handlers.ts";
import type { Job } from "../src/worker/job.ts";
import type { Calls, Port } from "../src/worker/messages.ts";
import { serve } from "../src/worker/serve.ts";

// The worker is a fake in this very thread, whose death no lock can tell; newer Nodes have locks.
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });

const PLACES = { wasm: null, files: {} };

/** A worker whose end is in this process. */
function fakeWorker(): { worker: WorkerLike & { die(type: string): void }; port: Port } {
  const target = new EventTarget();
  const hostTarget = new EventTarget();
  const pass = (to: EventTarget) => (data: unknown) => {
    const copy = structuredClone(data);
    queueMicrotask(() => to.dispatchEvent(new MessageEvent("message", { data: copy })));
  };
  const worker = {
    postMessage: pass(hostTarget),
    addEventListener: target.addEventListener.bind(target),
    terminate: () => undefined,
    die: (type: string) => void target.dispatchEvent(new Event(type)),
  };
  const listen = (type: string, listener: (event: MessageEvent) => void) =>
    hostTarget.addEventListener(type, listener as (event: Event) => void);
  return { worker, port: { postMessage: pass(target), addEventListener: listen } };
}

function connected(calls: Record<string, unknown>): Client {
  const { worker, port } = fakeWorker();
  serve<Calls>(port, () => calls as unknown as Handlers);
  return connect(worker, PLACES, "worker.js");
}

function failsWith(reason: string, part: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GossamerError);
    assert.equal(error.reason, reason);
    assert.ok(error.message.includes(part), error.message);
    return true;
  };
}

test("a call comes back with its value", async () => {
  const client = connected({ names: async () => ["notes"] });

  assert.deepEqual(await client.call("names", []), ["notes"]);
});

test("a page that is no secure context, as by http in a local network, starts too", async (context) => {
  context.mock.method(crypto, "randomUUID", () => assert.fail("there is none in such pages"));
  const client = connected({ names: async () => ["notes"] });

  assert.deepEqual(await client.call("names", []), ["notes"]);
});

test("an error travels with its reason and its words", async () => {
  const fail = async () => {
    throw new GossamerError("NoIndex", "there is no index named notes");
  };
  const client = connected({ open: fail });

  await assert.rejects(client.call("open", ["notes", {}]), failsWith("NoIndex", "named notes"));
});

test("an error that nobody foresaw is no silence", async () => {
  const fail = async () => {
    throw new TypeError("x is undefined");
  };
  const client = connected({ names: fail });

  await assert.rejects(client.call("names", []), failsWith("WrongState", "x is undefined"));
});

test("an abort reaches the worker and rejects at once", async () => {
  let told: AbortSignal | null = null;
  const wait = (job: Job) => {
    told = job.signal;
    return new Promise<never>(() => undefined);
  };
  const client = connected({ search: wait });
  const abort = new AbortController();
  const call = client.call("search", [1, "whale", {}], { signal: abort.signal });
  await new Promise((resolve) => setImmediate(resolve));

  abort.abort();

  await assert.rejects(call, failsWith("Cancelled", "cancelled"));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal((told as AbortSignal | null)?.aborted, true);
});

test("a call with a signal that was aborted before is never sent", async () => {
  const client = connected({ names: () => assert.fail("was called") });

  await assert.rejects(client.call("names", [], { signal: AbortSignal.abort() }), failsWith("Cancelled", ""));
});

test("progress is told while a call runs", async () => {
  const work = async (job: Job) => {
    job.progress({ phase: "embed", done: 2, total: 2 });
    return null;
  };
  const seen: Progress[] = [];
  const client = connected({ close: work });

  await client.call("close", [1], { onProgress: (progress) => seen.push(progress) });

  assert.deepEqual(seen, [{ phase: "embed", done: 2, total: 2 }]);
});

test("texts are taken from the page as the worker asks for them", async () => {
  const given: string[] = [];
  const add = async (job: Job) => {
    for await (const text of job.texts()) given.push(text.id);
    return { added: given.length };
  };
  const texts = (function* () {
    for (let i = 0; i < 600; i += 1) yield { id: `t${i}`, text: "some words" };
  })();
  const client = connected({ add });

  const report = await client.call("add", [1], { texts });

  assert.equal(report.added, 600);
  assert.equal(given.at(-1), "t599");
});

test("what the page's own texts throw comes back as it was thrown", async () => {
  const add = async (job: Job) => {
    for await (const text of job.texts()) assert.ok(text);
    return null;
  };
  const texts = (async function* () {
    yield { id: "a", text: "one" };
    throw new TypeError("the page failed");
  })();
  const client = connected({ add });

  await assert.rejects(client.call("add", [1], { texts }), /the page failed/);
});

test("a worker that cannot start rejects what waits and what comes after", async () => {
  const { worker } = fakeWorker();
  const client = connect(worker, PLACES, "https://example.org/worker.js");
  const call = client.call("names", []);

  worker.die("error");

  await assert.rejects(call, failsWith("Unreachable", "https://example.org/worker.js did not start"));
  await assert.rejects(client.call("names", []), failsWith("Unreachable", "did not start"));
});

test("a worker that dies later rejects what waits", async () => {
  const { worker, port } = fakeWorker();
  serve(port, () => ({ names: () => new Promise(() => undefined) }) as unknown as Handlers);
  const client = connect(worker, PLACES, "worker.js");
  const call = client.call("names", []);
  await new Promise((resolve) => setImmediate(resolve));

  worker.die("error");

  await assert.rejects(call, failsWith("WrongState", "open the index again"));
});

test("closing rejects what waits", async () => {
  const client = connected({ names: () => new Promise(() => undefined) });
  const call = client.call("names", []);

  client.close();

  await assert.rejects(call, failsWith("WrongState", "was closed"));
});

test("what cannot be sent is said to be so", async () => {
  const client = connected({});
  const search = client.call("search", [1, (() => 0) as unknown as string, {}]);

  await assert.rejects(search, failsWith("InvalidArgument", "cannot be sent"));
});

test("texts that are none are refused before anything is sent, and while it is", async () => {
  const add = async (job: Job) => {
    for await (const text of job.texts()) assert.ok(text);
    return null;
  };
  const client = connected({ add });
  for (const texts of [5, null, undefined, "a text"] as unknown as Iterable<never>[]) {
    await assert.rejects(client.call("add", [1], { texts }), failsWith("InvalidArgument", "iterable"));
  }

  const holed = client.call("add", [1], { texts: [null] as unknown as Iterable<never> });

  await assert.rejects(holed, failsWith("InvalidArgument", "got null"));
});

test("what is opened must be an address, a file or a name", async () => {
  const { worker } = fakeWorker();
  const gossamer = start({ worker: worker as unknown as Worker });

  for (const target of [null, 5, {}, ""] as unknown as string[]) {
    await assert.rejects(gossamer.open(target), failsWith("InvalidArgument", "was expected"));
  }
});

test("a name that looks like an address stays a name when it is given as one", async () => {
  const { worker, port } = fakeWorker();
  const open = async (_: unknown, target: unknown) => ({ handle: 1, name: JSON.stringify(target) });
  serve(port, () => ({ open }) as unknown as Handlers);
  const gossamer = start({ worker: worker as unknown as Worker });

  const { name } = await gossamer.open({ name: "http://host/x" });

  assert.equal(name, '{"name":"http://host/x"}');
});

test("no address is no server to follow", async () => {
  const gossamer = start({ worker: fakeWorker().worker as unknown as Worker });

  await assert.rejects(gossamer.follow("notes", ""), failsWith("InvalidArgument", "address of a server"));
});
