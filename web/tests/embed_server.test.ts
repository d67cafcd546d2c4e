import assert from "node:assert/strict";
import { test } from "node:test";

import { serverEmbedder } from "../src/embed/server.ts";
import { GossamerError } from "../src/errors.ts";

const MODEL = { name: "minilm", fingerprint: "f".repeat(64), dim: 4, index: "some-uuid" };

test("a question goes to the server with its token and comes back as a row", async () => {
  const asked: { url: string; init: RequestInit }[] = [];
  const send: typeof fetch = async (url, init) => {
    asked.push({ url: String(url), init: init ?? {} });
    return halves(0x3800, 0xb800, 0x3800, 0x3800); // 0.5, -0.5, 0.5, 0.5
  };

  const embedder = serverEmbedder("https://host/base/", "secret", MODEL, { fetch: send });
  const row = await embedder.embedQuestion("why?");

  assert.deepEqual([...row], [0.5, -0.5, 0.5, 0.5]);
  assert.equal(asked[0]?.url, "https://host/base/v1/sync/question");
  assert.equal((asked[0]?.init.headers as Record<string, string>)["authorization"], "Bearer secret");
  assert.deepEqual(JSON.parse(String(asked[0]?.init.body)), { question: "why?", index: "some-uuid" });
});

test("small and large 16-bit floats are read as they are", async () => {
  const row = await answered(() => halves(0x0001, 0x8400, 0x7bff, 0x3c01));

  assert.deepEqual([...row], [2 ** -24, -(2 ** -14), 65504, 1 + 2 ** -10]);
});

for (const [what, answer, reason] of [
  ["too few bytes", () => halves(0x3c00), "Unreachable"],
  ["too many bytes", () => halves(1, 2, 3, 4, 5), "Unreachable"],
  ["a vector of zeros", () => halves(0, 0, 0, 0), "NotFinite"],
  ["an infinite number", () => halves(0x7c00, 0, 0, 0), "NotFinite"],
  ["a refused token", () => new Response("", { status: 401 }), "WrongState"],
  ["another index", () => new Response("", { status: 409 }), "WrongState"],
  ["a question that is too long", () => new Response("", { status: 413 }), "InvalidArgument"],
  ["a failure", () => new Response("oh", { status: 500 }), "Unreachable"],
] as const) {
  test(`${what} is said to be ${reason}`, async () => {
    await assert.rejects(answered(answer), isReason(reason));
  });
}

test("a server that is not there is unreachable, and a cancelled question is cancelled", async () => {
  const stop = new AbortController();
  const send: typeof fetch = () => Promise.reject(new TypeError("no route"));
  const embedder = serverEmbedder("https://host", "", MODEL, { fetch: send });

  await assert.rejects(embedder.embedQuestion("why?"), isReason("Unreachable"));
  stop.abort();
  await assert.rejects(embedder.embedQuestion("why?", stop.signal), isReason("Cancelled"));
});

test("texts are not embedded by a server", async () => {
  const embedder = serverEmbedder("https://host", "", MODEL);

  await assert.rejects(embedder.embed(["text"]), isReason("Unavailable"));
});

function answered(answer: () => Response): Promise<Float32Array> {
  return serverEmbedder("https://host", "", MODEL, { fetch: async () => answer() }).embedQuestion("why?");
}

function halves(...bits: number[]): Response {
  return new Response(new Uint8Array(Uint16Array.from(bits).buffer));
}

function isReason(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof GossamerError && error.reason === reason;
}
