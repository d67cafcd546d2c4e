import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import { keepModel } from "../src/query/models.ts";
import { makeServices } from "../src/query/services.ts";
import { WebIndex } from "../src/query/web_index.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { askChunks } from "../src/server/chunks.ts";
import { askVectors } from "../src/server/vectors.ts";

const wasm = {
  fetch: async (name: string) => readFileSync(new URL(`../wasm/built/${name}`, import.meta.url)),
};
const model = readFileSync(new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url));
const file = readFileSync(new URL("data/query/index.gossamer", import.meta.url));

type Answer = (path: string, body: { ids: number[]; index?: string }) => Uint8Array | string | number;

/** A server that answers posts; a number is a status without a body. */
async function withServer(answer: Answer, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const given = answer(request.url ?? "", JSON.parse(Buffer.concat(parts).toString()));
      response.statusCode = typeof given === "number" ? given : 200;
      response.end(typeof given === "number" ? "" : given);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

/** Half-precision 1 in the first place of each vector. */
function unitRows(count: number, dim: number): Uint8Array {
  const bytes = new Uint8Array(count + 2 * dim * count).fill(1, 0, count);
  for (let i = 0; i < count; i += 1) new DataView(bytes.buffer).setUint16(count + 2 * dim * i, 0x3c00, true);
  return bytes;
}

async function openWith(url: string): Promise<WebIndex> {
  const storage = memoryStorage();
  const services = makeServices(wasm, storage);
  const { fingerprint } = (await services.text()).model(model);
  await keepModel(storage, fingerprint, model);
  return WebIndex.open(new Blob([file]), { vectors: "server", server: { url } }, services);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof GossamerError && error.reason === "Unreachable";
}

test("vectors of the server are asked for once and then remembered", async () => {
  let asked = 0;
  const answer: Answer = (_, { ids }) => {
    asked += ids.length;
    return unitRows(ids.length, 256);
  };
  await withServer(answer, async (url) => {
    const index = await openWith(url);

    const first = await index.search("codebook", { mode: "semantic", k: 3 });
    const second = await index.search("codebook", { mode: "semantic", k: 3 });

    assert.equal(first.explanation.chunksAsked, asked);
    assert.ok(asked > 0);
    assert.equal(second.explanation.chunksCached, asked);
    assert.equal(second.explanation.chunksAsked, 0);
  });
});

test("while the server is away chunks are ranked by their codes, and a note says so", async () => {
  await withServer(() => 503, async (url) => {
    const index = await openWith(url);

    const found = await index.search("whales that live in the sea", { k: 3 });

    assert.equal(found.hits[0]?.source, "whales");
    assert.ok(found.notes.some((note) => note.includes("by their codes alone")), found.notes.join());
    assert.ok(found.notes.some((note) => note.includes("did not answer")), found.notes.join());
  });
});

test("an answer of another length is no answer", async () => {
  await withServer(() => new Uint8Array(7), async (url) => {
    await assert.rejects(askVectors({ url }, [1, 2], 256), isUnreachable);
  });
});

test("an answer that never ends is not taken into memory", async () => {
  await withServer(() => new Uint8Array(1 << 22), async (url) => {
    await assert.rejects(askVectors({ url }, [1], 4), isUnreachable);
  });
});

test("texts of other chunks than were asked for are refused", async () => {
  const chunk = { id: 2, title: "", body: "b", embedded: "b", first: 1, last: 1 };
  await withServer(() => JSON.stringify({ chunks: [chunk] }), async (url) => {
    await assert.rejects(askChunks({ url }, [1]), isUnreachable);
    assert.deepEqual(await askChunks({ url }, [2]), [chunk]);
  });
});

test("a server that has another index now says so", async () => {
  await withServer(() => 409, async (url) => {
    const asked = askVectors({ url, index: "abc" }, [1], 4);

    await assert.rejects(asked, (error) => error instanceof GossamerError && error.reason === "WrongState");
  });
});
